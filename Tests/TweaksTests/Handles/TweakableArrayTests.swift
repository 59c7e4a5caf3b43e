// SPDX-License-Identifier: BSD-3-Clause
import Testing

@testable import Tweaks

@Suite struct `Tweaks that are arrays` {
    private struct Server: TweakGroup {
        var ports = [80]
        static let fields: [TweakField<Server>] = [TweakField("Ports", \.ports)]
    }
    private let store = TweakStore()

    /// Makes a tweak, sets it and reads it as a program does.
    private func expect<Element: TweakableElement>(_ first: [Element], _ others: [Element]...) throws {
        let tweak = try store.make("A", "B", "\(Element.self)", default: first)
        #expect(tweak.value == first)
        for value in others + [first] {
            #expect(try tweak.set(value) == value)
            #expect(tweak.value == value)
            let cell = try #require(UnsafeRawPointer(bitPattern: tweak.cell))
            #expect([Element].__load(cell, default: []) == value)
        }
        #expect(try store.tweak("A", "B", "\(Element.self)", as: [Element].self).defaultValue == first)
    }

    @Test func `have the elements that were set`() throws {
        try expect([80, 443], [], [.min, .max])
        try expect([0.5, 0.1], [1e300, -0.0, .leastNonzeroMagnitude])
        try expect(["a", ""], [], ["\"\\/\n\u{7}é😀, ]"])
    }

    @Test func `take texts that are JSON, and no others`() throws {
        let ports = try store.make("Server", "Net", "Ports", default: [80], in: 1...65535)
        try store.set("[443,8443]", for: ports.key)
        #expect(ports.value == [443, 8443])
        #expect(try store.value(of: ports.key) == "[443, 8443]")
        #expect(ports.declaration?.allowed == "a JSON array, each element an integer from 1 to 65535")
        for refused: TweakValue in ["[0]", "443", 443, "[\"443\"]"] {
            #expect(throws: TweakError.self) { try store.set(refused, for: ports.key) }
        }
        #expect(throws: TweakError.self) { try ports.set([0]) }
        #expect(ports.value == [443, 8443])
    }

    @Test func `refuse a default and limits that they cannot have`() throws {
        #expect(throws: TweakError.self) { try store.make("A", "B", "C", default: [5], in: 6...) }
        #expect(throws: TweakError.self) { try store.make("A", "B", "C", default: [Double.infinity]) }
        let shares = try store.make(TweakKey("A", "B", "C"), default: [0.5], in: ...1, description: "parts")
        #expect(shares.declaration?.description == "parts")
        #expect(throws: TweakError.self) { try shares.set([1.5]) }
    }

    @Test func `are in groups, in features, and in values of a task`() throws {
        let server = try store.make(group: Server(), "Server", "Net", "Public")
        try server.ports.set([81, 82])
        #expect(server.value.ports == [81, 82])
        server.ports.withValue([83]) { #expect(server.value.ports == [83]) }
        @FeatureVariable("search", "engines", store: store) var engines = ["a", "b"]
        engines = ["c"]
        #expect(engines == ["c"])
    }

    @Test func `are observed`() throws {
        let ports = try store.make("Server", "Net", "Ports", default: [80])
        let seen = Guarded<[[Int]]>([])
        let observation = ports.observe { change in
            seen.withLock { $0 += [change.oldValue, change.newValue] }
        }
        try ports.set([81, 82])
        withExtendedLifetime(observation) { #expect(seen.withLock { $0 } == [[80], [81, 82]]) }
    }

    @Test func `have their default where the text is none`() throws {
        let text = try store.make("A", "B", "C", default: "[1]")
        let array = try store.tweak("A", "B", "C", as: [Int].self)
        try text.set("one")
        #expect(array.value == [1])
    }
}
