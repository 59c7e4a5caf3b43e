// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakRecords

@testable import Tweaks

@Suite struct `Clients that read slowly or not at all` {
    private let controlled: ControlledTweaks
    private var store: TweakStore { controlled.store }
    private let names = (0..<8).map { "Slot \($0)" }

    init() throws {
        controlled = try ControlledTweaks(
            SyntheticTweaks(
                .integer("Slot 0", 0), .integer("Slot 1", 0), .integer("Slot 2", 0), .integer("Slot 3", 0),
                .integer("Slot 4", 0), .integer("Slot 5", 0), .integer("Slot 6", 0), .integer("Slot 7", 0)))
    }

    /// Reads until each tweak has the last value, and sees that values fit together.
    private static func readToEnd(_ client: ControlClient, last: Int, _ names: [String]) throws {
        var values: [String: Int] = [:]
        while !names.allSatisfy({ values["Test/Values/\($0)"] == last }) {
            for change in try client.nextChanges() {
                let tweak = try #require(change["tweak"] as? String)
                #expect(change["oldValue"] as? Int == values[tweak] ?? 0)
                values[tweak] = change["newValue"] as? Int
            }
        }
    }

    @Test func `A hundred clients, twenty of which do not read, all have the last values in the end`() throws
    {
        let last = isLong ? 20_000 : 1000
        let (names, controlled) = (names, controlled)
        let silent = try (0..<20).map { _ in try controlled.connect() }
        for client in silent { _ = try client.request("subscribe") }
        let ready = Locked(0)
        let readers = DispatchGroup()
        for _ in 0..<80 {
            readers.enter()
            Thread.detachNewThread {
                defer { readers.leave() }
                #expect(throws: Never.self) {
                    let client = try controlled.connect()
                    _ = try client.request("subscribe")
                    ready.withLock { $0 += 1 }
                    try Self.readToEnd(client, last: last, names)
                }
            }
        }
        #expect(waitUntil { ready.withLock { $0 } == 80 })
        for value in 1...last {
            for name in names { try store.set(.integer(Int128(value)), for: .test(name)) }
        }
        #expect(readers.wait(timeout: .now() + 300) == .success)
        for client in silent { try Self.readToEnd(client, last: last, names) }
    }
}
