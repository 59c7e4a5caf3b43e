// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// Which values a client that is told of changes knows, by slot.
private typealias Values = [String: Int]

@Suite struct `A program with a hundred clients` {
    private static let slots = 8
    /// Of the next requests, which go together.
    private static let requests = 100

    private let program: SetterProgram
    private let process: RunningCommand

    init() throws {
        program = try SetterProgram()
        try program.makeRuntimeDirectory()
        process = try start(SetterProgram.path, ["follow"], home: program.home)
    }

    private func connect() throws -> ControlClient {
        try ControlClient(program.socketPath(of: process.processID))
    }

    private func subscribed() throws -> ControlClient {
        let client = try connect()
        _ = try client.request("subscribe")
        return client
    }

    /// What no file backs, in KB.
    private var memory: Int {
        get throws {
            let path = "/proc/\(process.processID)/smaps_rollup"
            let text = try String(contentsOfFile: path, encoding: .utf8)
            let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("Anonymous:") })
            return try #require(line.split(separator: " ").compactMap { Int($0) }.first)
        }
    }

    /// Sets the slots in turn to the numbers after a number.
    private func set(_ client: ControlClient, after number: Int) throws {
        let lines = (number + 1...number + Self.requests).map { value in
            #"{"jsonrpc":"2.0","id":\#(value),"method":"set","#
                + #""params":{"tweak":"Setter/Slots/Slot \#(value % Self.slots)","value":\#(value)}}"#
        }
        try client.send(line: lines.joined(separator: "\n"))
        try client.skip(lines.count)
    }

    @Test func `No last value is lost, the file is written periodically, and memory does not grow`() throws {
        defer { process.kill() }
        // Of the clients, 20 read nothing until the end.
        let silent = try (0..<20).map { _ in try subscribed() }
        let watchers = try (0..<79).map { _ in try subscribed() }
        let count = isLong ? 600_000 : 10_000
        let last = Values(
            uniqueKeysWithValues: (count - Self.slots + 1...count).map {
                ("Setter/Slots/Slot \($0 % Self.slots)", $0)
            })
        let reading = DispatchGroup()
        for watcher in watchers {
            reading.enter()
            // Used by this thread alone from now on.
            nonisolated(unsafe) let watcher = watcher
            Thread.detachNewThread {
                #expect(throws: Never.self) { try watcher.readChanges(to: last) }
                reading.leave()
            }
        }

        let setter = try connect()
        var (memoryAfterWarming, files) = (0, Set<Data>())
        let start = ContinuousClock.now
        for number in stride(from: 0, to: count, by: Self.requests) {
            try set(setter, after: number)
            if let file = FileManager.default.contents(atPath: program.overridesPath) { files.insert(file) }
            if number == count / 10 { memoryAfterWarming = try memory }
            // At most 10,000 a second.
            let ahead = start + .milliseconds(number / 10) - .now
            if ahead > .zero { usleep(useconds_t(ahead / .microseconds(1))) }
        }
        let seconds = (ContinuousClock.now - start) / .seconds(1)

        #expect(Double(files.count) <= seconds * 20 + 2)
        if isLong { #expect(try memory < memoryAfterWarming + 1024) }
        #expect(reading.wait(timeout: .now() + 300) == .success)
        for client in silent { try client.readChanges(to: last) }
        for (tweak, value) in last {
            #expect(try setter.request("get", ["tweak": tweak]).result["value"] as? Int == value)
        }
        let names = last.map { ($0.key.replacing("Setter/Slots/", with: ""), $0.value) }
        let slots = Values(uniqueKeysWithValues: names)
        #expect(try waitUntil { try program.overrides()["Setter"]?["Slots"] == slots })
    }
}
