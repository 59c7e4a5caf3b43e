// SPDX-License-Identifier: BSD-3-Clause
import CTweakSystem
import TestSupport
import Testing
import TweakRecords

@testable import Tweaks

@Suite struct `Leases in a store` {
    private let tweaks = SyntheticTweaks(
        .integer("A", 1), .integer("B", 2), .double("C", 3, 0...100),
        .double("Later", 1).with("needs-restart"))
    private var store: TweakStore { tweaks.store }

    private func lease(
        _ value: TweakValue, _ key: TweakKey = .test("A"), until end: ContinuousClock.Instant? = nil,
        of client: ClientIdentity? = nil
    ) throws {
        if let client { store.state.withLock { $0.layers.openLeases(of: client) } }
        try store.set(
            [(key, value)], by: client.map { .client($0) } ?? .program,
            on: SetTerms(lease: Lease.Terms(end: end, connection: client)))
    }

    private func close(_ client: ClientIdentity) {
        store.endLeases(of: client, worker: SerialQueue(patience: 1))
    }

    private func status(_ key: TweakKey = .test("A")) throws -> (TweakValue, TweakSource) {
        let status = try store.status(of: key)
        return (status.value, status.source)
    }

    @Test func `A lease stands above an override and below the session, and ends with its connection`() throws
    {
        let client = ClientIdentity.test()
        try store.set(5, for: .test("A"))
        try lease(7, of: client)
        #expect(try status() == (7, .lease))
        #expect(tweaks.cell(0, as: Int32.self) == 7)
        try store.set(9, for: .test("A"), in: .session)
        #expect(try status() == (9, .session))
        try store.set(nil, for: .test("A"), in: .session)
        #expect(try status() == (7, .lease))
        close(client)
        #expect(try status() == (5, .overrides))
        #expect(tweaks.cell(0, as: Int32.self) == 5)
    }

    @Test func `The newest lease counts, and the one before counts again when it ends`() throws {
        let (first, second) = (ClientIdentity.test(), ClientIdentity.test())
        try lease(7, of: first)
        try lease(8, of: second)
        #expect(try status().0 == 8)
        close(second)
        #expect(try status().0 == 7)
        try lease(9, of: second)
        // The client is gone.
        close(first)
        #expect(try status().0 == 9)
        close(second)
        #expect(try status() == (1, .binary))
    }

    @Test func `A client that has gone gets no lease`() throws {
        let client = ClientIdentity.test()
        try lease(7, of: client)
        close(client)
        try store.set(
            [(.test("A"), 8)], by: .client(client), on: SetTerms(lease: Lease.Terms(connection: client)))
        #expect(try status() == (1, .binary))
    }

    private var changes: [ChangeHistory.Change] { store.state.withLock { $0.history.changes(after: 0) } }

    @Test func `Undo passes over leases, and takes back what is below them`() throws {
        let (client, other) = (ClientIdentity.test(), ClientIdentity.test())
        try store.change([(.test("A"), 5)], by: .client(other))
        try lease(7, of: client)
        #expect(changes.map(\.newSource) == [.overrides, .lease])
        let error = #expect(throws: HistoryError.self) { try store.undo(2, by: .client(other)) }
        #expect(
            error.map { "\($0)" }
                == "change 2 is a lease, which ends by itself; `tweak reset --leases` ends it now")
        #expect(try store.undo(nil, by: .client(other)).numbers == 1...1)
        #expect(try status() == (7, .lease))
        close(client)
        #expect(try status() == (1, .binary))
        #expect(changes.map(\.oldValue) == [1, 5, 5, 7])
        #expect(changes.map(\.newValue) == [5, 7, 1, 1])
        #expect(throws: HistoryError.self) { try store.undo(nil, by: .client(other)) }
    }

    @Test func `What is kept below a lease is in the history, also the leased value itself`() throws {
        let (client, other) = (ClientIdentity.test(), ClientIdentity.test())
        try lease(7, of: client)
        try store.change([(.test("A"), 6)], by: .client(other))
        try store.change([(.test("A"), 7)], by: .client(client))
        #expect(try status() == (7, .overrides))
        #expect(changes.map(\.oldValue) == [1, 1, 6])
        #expect(changes.map(\.newValue) == [7, 6, 7])
        #expect(try store.undo(nil, by: .client(client)).tweaks.map(\.newValue) == [6])
        #expect(try status() == (6, .overrides))
        #expect(try store.revert(to: nil, by: .client(client)).map(\.newValue) == [1])
    }

    @Test func `The history tells whether a kept value ends the client's lease`() throws {
        let (client, other) = (ClientIdentity.test(), ClientIdentity.test())
        try lease(7, of: client)
        try lease(9, .test("B"), of: client)
        try store.change([(.test("A"), 6)], by: .client(other))
        try store.change([(.test("A"), 8), (.test("B"), nil)], by: .client(client))
        #expect(changes.map(\.newValue) == [7, 9, 6, 8, 2])
        #expect(changes.map(\.endsLease) == [false, false, false, true, false])
        // Nothing below the lease of B changed, so that its end is a change of its own, which nobody undoes.
        #expect(changes.map(\.isOfLease) == [true, true, false, false, true])
        #expect(changes.map(\.number) == [1, 2, 3, 4, 5])
        #expect(try store.undo(nil, by: .client(client)).tweaks.map(\.newValue) == [6])
    }

    @Test func `A preset and a snapshot have the value below a lease`() throws {
        let client = ClientIdentity.test()
        try store.set(5, for: .test("A"))
        try lease(7, of: client)
        try lease(7, .test("B"), of: client)
        #expect(store.preset(named: "P").values.keys.sorted() == [.test("A")])
        #expect(
            try store.preset(named: "P").values.admission(for: store.declaration(of: .test("A")))?.value == 5)
        let snapshot = store.snapshot()
        #expect(snapshot[.test("A")] == 5 && snapshot[.test("B")] == 2)
        close(client)
        store.restore(snapshot)
        #expect(try status() == (5, .overrides))
        #expect(try status(.test("B")) == (2, .binary))
    }

    @Test func `A value that a client keeps ends its own lease of the tweak, not another's`() throws {
        let (own, other) = (ClientIdentity.test(), ClientIdentity.test())
        try lease(7, of: own)
        try store.change([(.test("A"), 6)], by: .client(own))
        #expect(try status() == (6, .overrides))
        try lease(8, of: other)
        try store.change([(.test("A"), 5)], by: .client(own))
        #expect(try status() == (8, .lease))
        close(other)
        #expect(try status() == (5, .overrides))
    }

    @Test func `The order of providers leaves leases where they are`() throws {
        let client = ClientIdentity.test()
        try lease(7, of: client)
        #expect(store.sources == [.session, .environment, .overrides])
        try store.setOrder([.overrides, .session, .environment])
        #expect(try status() == (7, .lease))
        try store.set(9, for: .test("A"))
        #expect(try status() == (9, .overrides))
        close(client)
        #expect(store.sources == [.overrides, .session, .environment])
    }

    @Test func `A lease that ends is one change, with all its tweaks`() throws {
        let client = ClientIdentity.test()
        let changes = Locked<[[TweakChange]]>([])
        let observation = store.addObserver(of: [.test("A"), .test("B")]) { _ in
            .together { new in changes.withLock { $0.append(new) } }
        }
        defer { withExtendedLifetime(observation) {} }
        try lease(7, of: client)
        try lease(8, .test("B"), of: client)
        close(client)
        #expect(waitUntil { changes.withLock { $0.count } == 3 })
        let last = changes.withLock { $0.last ?? [] }
        #expect(last.map(\.key) == [.test("A"), .test("B")])
        #expect(last.map(\.newValue) == [1, 2])
    }

    @Test func `Leases with times end in time`() throws {
        try lease(7, until: .now + .milliseconds(30))
        try lease(8, until: .now + .milliseconds(10))
        #expect(store.keepTime())
        #expect(waitUntil { tweaks.cell(0, as: Int32.self) == 1 })
        #expect(waitUntil { !store.state.withLock { $0.hasTimer } })
        #expect(store.state.withLock { $0.layers.leases.isEmpty && $0.layers.index(of: .lease) == nil })
    }

    @Test func `Leases that would never count again are dropped`() throws {
        for step in 1...1000 { try lease(.integer(Int128(step)), until: .now + .seconds(100 + step)) }
        #expect(store.state.withLock { $0.layers.leases.count } == 1)
    }

    private struct Held {
        let value: Int128
        let client: Int?
        let end: Int?
    }

    @Test func `A store agrees with a small model whatever happens`() throws {
        var random = SeededGenerator(seed: 17)
        var clients = (0..<3).map { _ in ClientIdentity.test() }
        var leases: [[Held]] = [[], []]
        var kept: [Int128?] = [nil, nil]
        let start = ContinuousClock.now
        var now = 0
        func time(_ number: Int) -> ContinuousClock.Instant { start + .seconds(1000 + number) }
        for step in 1...(isLong ? 100_000 : 5000) {
            let tweak = Int.random(in: 0...1, using: &random)
            let key = TweakKey.test(["A", "B"][tweak])
            let value = Int128.random(in: 10...1000, using: &random)
            let number = Int.random(in: 0...2, using: &random)
            switch Int.random(in: 0...6, using: &random) {
            case 0, 1:
                let isBound = Bool.random(using: &random)
                let end =
                    isBound && Bool.random(using: &random)
                    ? nil : now + Int.random(in: 1...20, using: &random)
                try lease(.integer(value), key, until: end.map(time), of: isBound ? clients[number] : nil)
                leases[tweak].append(Held(value: value, client: isBound ? number : nil, end: end))
            case 2:
                close(clients[number])
                clients[number] = ClientIdentity.test()
                for index in leases.indices { leases[index].removeAll { $0.client == number } }
            case 3:
                now += Int.random(in: 1...5, using: &random)
                store.apply { state in
                    state.update(
                        ending: state.layers.leases.ending { $0.isOver(at: time(now)) }, by: .program)
                }
                for index in leases.indices { leases[index].removeAll { $0.end.map { $0 <= now } ?? false } }
            case 4:
                try store.change([(key, .integer(value))], by: .client(clients[number]))
                kept[tweak] = value
                leases[tweak].removeAll { $0.client == number }
            case 5:
                try store.change([(key, nil)], by: .client(clients[number]))
                kept[tweak] = nil
                leases[tweak].removeAll { $0.client == number }
            default:
                try store.set(.integer(value), for: key)
                kept[tweak] = value
            }
            for index in 0...1 {
                let expected = leases[index].last?.value ?? kept[index] ?? [1, 2][index]
                try #require(
                    try store.value(of: .test(["A", "B"][index])) == .integer(expected), "step \(step)")
                #expect(Int128(tweaks.cell(index, as: Int32.self)) == expected)
            }
        }
        for client in clients { close(client) }
    }
}

extension ClientIdentity {
    /// A client that never connected.
    static func test() -> ClientIdentity { ClientIdentity(fbtweak__peer(process: 0, user: 0)) }
}
