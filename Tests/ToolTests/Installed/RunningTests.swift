// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// `started` with a home of its own, which runs until it is told to end.
private final class Running: Sendable {
    static let ways: [Started.Way] = [.linked, .preloaded, .plugIn, .staticRuntime]
    /// The number that tests change, and one that they leave alone.
    static let (third, kept) = ("Start/Slots/Slot 3", "Start/Slots/Slot 20")

    let home: TemporaryDirectory
    private let way: Started.Way
    private let program: String
    var overridesPath: String { home("config/tweaks/started/overrides.json") }
    var folder: String { home("config/tweaks/started") }

    /// Makes the files of a program with a few overrides, and does not start it.
    init(_ way: Started.Way) throws {
        self.way = way
        home = try TemporaryDirectory()
        try #require(mkdir(home("runtime"), 0o700) == 0)
        program = try Started.path(way)
        try write(Self.overrides(third: nil))
    }

    func start(_ scenario: String) throws -> RunningCommand {
        let settings =
            way == .preloaded
            ? ["LD_PRELOAD": try Installation.path("lib/libtweaks.so.0")]
            : ["STARTED_PLUGIN": try Started.path(way, "plugin.so")]
        return try TestSupport.start(
            program, ["few", scenario, Installation.path("bin/tweak")], home: home, environment: settings)
    }

    /// Starts a program that follows its files, and waits until it does.
    func follow() throws -> RunningCommand {
        let process = try start("follows")
        let socket = socket(of: process)
        #expect(waitUntil { access(socket, F_OK) == 0 || !process.isRunning })
        return process
    }

    func socket(of process: RunningCommand) -> String { home("runtime/tweaks/\(process.processID).sock") }

    func tweak(_ command: String, _ arguments: String...) throws -> CommandResult {
        try run(Installation.path("bin/tweak"), [command] + arguments, home: home)
    }

    /// The overrides with which the state `few` begins, and perhaps one more.
    static func overrides(third: Int?) -> String {
        let more = third.map { ", \"Slot 3\": \($0)" } ?? ""
        return #"{"Start": {"Slots": {"Slot 20": 1020\#(more)}, "Values": {"Flag": true}}}"#
    }

    func write(_ text: String) throws { try home.write("config/tweaks/started/overrides.json", text) }

    func slots() throws -> [String: Int] {
        let data = try Data(contentsOf: URL(fileURLWithPath: overridesPath))
        let all = try #require(
            JSONSerialization.jsonObject(with: data) as? [String: [String: [String: Any]]])
        #expect(all["Start"]?["Values"]?["Flag"] as? Bool == true)
        return try #require(all["Start"]?["Slots"] as? [String: Int])
    }

    /// Ends a program by a tweak, and expects that it has said nothing besides.
    func end(_ process: RunningCommand, _ location: SourceLocation = #_sourceLocation) throws {
        // It may end before it answers.
        let set = try tweak("set", "\(process.processID)", "Start/Values/Text", "end")
        #expect(waitUntil { !process.isRunning }, "\(set.error)", sourceLocation: location)
        if process.isRunning { process.kill() }
        let result = process.wait()
        #expect(result.status == 0 && result.error.isEmpty, "\(result)", sourceLocation: location)
    }
}

@Suite(.enabled(if: sanitizer == nil)) struct `Running programs with the installed library` {
    @Test(arguments: Running.ways) func `A program killed while writing leaves complete overrides`(
        way: Started.Way
    ) throws {
        let program = try Running(way)
        for kill in 0..<(isLong ? 1000 : 15) {
            let process = try program.start("counts")
            // Most die while they start or at their first write, some at a later one.
            usleep(.random(in: 0...(kill % 5 == 0 ? 400_000 : 40_000)))
            process.kill()
            let result = process.wait()
            #expect(result.error.isEmpty && result.status == 128 + SIGKILL, "\(result)")
            let slots = try program.slots()
            #expect(slots["Slot 20"] == 1020 && Set(slots.keys).isSubset(of: ["Slot 3", "Slot 20"]))
        }
        let process = try program.follow()
        try program.end(process)
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: program.folder).sorted()
                == ["overrides.json", "overrides.json.lock"])
    }

    @Test(arguments: Running.ways) func `A running program follows its file, whatever happens to it`(
        way: Started.Way
    )
        throws
    {
        let program = try Running(way)
        let process = try program.follow()
        let client = try ControlClient(program.socket(of: process))
        func expect(third: Int, kept: Int = 1020, _ location: SourceLocation = #_sourceLocation) throws {
            func value(_ tweak: String) throws -> Int? {
                try client.request("get", ["tweak": tweak]).result["value"] as? Int
            }
            #expect(try waitUntil { try value(Running.third) == third }, sourceLocation: location)
            #expect(try value(Running.kept) == kept, sourceLocation: location)
        }
        try expect(third: 3)
        let new = try program.home.write("new.json", Running.overrides(third: 33))
        #expect(rename(new, program.overridesPath) == 0)
        try expect(third: 33)
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: program.overridesPath))
        try file.truncate(atOffset: 0)
        try file.write(contentsOf: Data(Running.overrides(third: 34).utf8))
        try file.close()
        try expect(third: 34)
        #expect(unlink(program.overridesPath) == 0)
        try expect(third: 3, kept: 20)
        try program.write(Running.overrides(third: 35))
        try expect(third: 35)
        #expect(try program.tweak("reset", "\(process.processID)", Running.third).succeeded)
        try expect(third: 3)
        try program.end(process)
    }

    /// Which values a client that is told of changes knows, by slot.
    private typealias Values = [String: Int]

    @Test(arguments: Running.ways) func `A program with many clients loses no last value`(
        way: Started.Way
    ) throws {
        let program = try Running(way)
        let process = try program.follow()
        defer { process.kill() }
        let watchers = try (0..<40).map { _ in
            let client = try ControlClient(program.socket(of: process))
            _ = try client.request("subscribe")
            return client
        }
        let count = isLong ? 600_000 : 2000
        let last = Values(
            uniqueKeysWithValues: (count - 7...count).map { ("Start/Slots/Slot \(10 + $0 % 8)", $0) })
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
        let setter = try ControlClient(program.socket(of: process))
        for first in stride(from: 1, through: count, by: 100) {
            let requests = (first..<first + 100).map { value in
                ("set", ["tweak": "Start/Slots/Slot \(10 + value % 8)", "value": value] as [String: Any])
            }
            _ = try setter.answer(to: setter.post(requests))
        }
        #expect(reading.wait(timeout: .now() + 300) == .success)
        let expected = last.map { ($0.key.replacing("Start/Slots/", with: ""), $0.value) }
        #expect(
            try waitUntil {
                try program.slots().filter { $0.key != "Slot 20" || last[Running.kept] != nil }
                    == Values(uniqueKeysWithValues: expected)
            })
        #expect(process.isRunning && process.written.error.isEmpty)
    }

    @Test(arguments: Running.ways) func `A program with hostile clients serves the next one`(
        way: Started.Way
    )
        throws
    {
        let program = try Running(way)
        let process = try program.follow()
        let requests = [
            #"{"jsonrpc":"2.0","id":1,"method":"list","params":{"category":"Start"}}"#,
            #"{"jsonrpc":"2.0","id":2,"method":"set","params":{"tweak":"Start/Slots/Slot 3","value":7}}"#,
            #"{"jsonrpc":"2.0","id":3,"method":"set","params":{"tweak":"Start/Values/Mode","text":"fast"}}"#,
            #"{"jsonrpc":"2.0","id":4,"method":"setMany","params":{"values":{"Start":{"Slots":{"Slot 5":1e3}}}}}"#,
            #"{"jsonrpc":"2.0","id":5,"method":"subscribe","params":{"tweaks":["Start/Slots/Slot 3"]}}"#,
            #"{"jsonrpc":"2.0","id":"x","method":"explain","params":{"tweak":"Start/Values/Ratio"}}"#,
        ].map { Array($0.utf8) }
        let pieces = ["\"", "{", "[[[[[[[[", "1e999", "\\ud800", "\u{0}", "null", "\n", "%2", "\u{FEFF}"].map
        {
            Array($0.utf8)
        }
        for _ in 0..<(isLong ? 5000 : 50) {
            let client = try ControlClient(program.socket(of: process))
            for _ in 0..<20 {
                var bytes = requests.randomElement() ?? []
                for _ in 0..<Int.random(in: 0...4) {
                    let place = Int.random(in: 0..<bytes.count)
                    if Bool.random() {
                        bytes[place] = .random(in: 0...255)
                    } else {
                        bytes.insert(contentsOf: pieces.randomElement() ?? [], at: place)
                    }
                }
                // A client that is cut off by the program has been answered.
                try? client.send(bytes + [10])
            }
        }
        // While it has not seen enough of them end, another one is told that it is busy.
        let socket = program.socket(of: process)
        #expect(
            waitUntil {
                let answer = try? ControlClient(socket).request("get", ["tweak": Running.kept])
                return answer?.result["value"] as? Int == 1020
            })
        try program.end(process)
    }
}
