// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `tweak watch` {
    private let setter: RunningSetter

    init() throws { setter = try RunningSetter() }

    /// Starts it and changes a tweak until it shows that.
    private func watch(_ arguments: String...) throws -> RunningCommand {
        let watch = try start(
            Locations.product("tweak"), ["watch", "\(setter.pid)"] + arguments, home: setter.home)
        try setter.changeSlot { watch.written.output.contains("\n") }
        return watch
    }

    @Test func `shows a line for each change as it happens, and ends with the program`() throws {
        let watch = try watch()
        #expect(try setter.tweak("set", "Text", "bye").succeeded)
        #expect(waitUntil { watch.written.output.contains("Text") })
        #expect(try setter.tweak("reset", "Text").succeeded)
        #expect(waitUntil { watch.written.output.contains("(default)") })
        setter.process.kill()
        let result = watch.wait()
        #expect(result.status == 0)
        #expect(result.error.isEmpty)
        let lines = result.lines.filter { $0.contains("Text") }.map { String($0) }
        try #require(lines.count == 2)
        let time = #/\d\d:\d\d:\d\d\.\d\d\d  /#
        #expect(lines[0].replacing(time, with: "") == "Setter/Values/Text: \"hello\" → \"bye\" (override)")
        #expect(lines[1].replacing(time, with: "") == "Setter/Values/Text: \"bye\" → \"hello\" (default)")
    }

    @Test func `shows the new value in bold on a terminal`() throws {
        let watch = try start(
            Locations.program("script"),
            ["-qec", "'\(Locations.product("tweak"))' watch \(setter.pid) 'slot 7'", "/dev/null"],
            home: setter.home, environment: ["TERM": "xterm", "NO_COLOR": ""])
        try setter.changeSlot { watch.written.output.contains("\n") }
        setter.process.kill()
        let line = try #require(watch.wait().output.split(whereSeparator: \.isNewline).first)
        #expect(line.contains(#/ \d+ → \u{1B}\[1m\d+\u{1B}\[m \(override\)$/#), "\(line.debugDescription)")
    }

    @Test func `shows the tweaks that are named and no others`() throws {
        let watch = try watch("Text", "slot 7")
        #expect(try setter.tweak("set", "Count", "6").succeeded)
        #expect(try setter.tweak("set", "Text", "bye").succeeded)
        #expect(waitUntil { watch.written.output.contains("Text") })
        #expect(!watch.written.output.contains("Count"))
        watch.kill()
        _ = watch.wait()
    }

    @Test func `has a JSON form, one object a line`() throws {
        let watch = try watch("--format", "json")
        watch.kill()
        let line = try #require(watch.wait().lines.first)
        let json = try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
        #expect(json["pid"] as? Int32 == setter.pid)
        #expect(json["tweak"] as? String == "Setter/Slots/Slot 7")
        #expect(json["oldValue"] is Int)
        #expect(json["newValue"] is Int)
        #expect(json["source"] as? String == "override")
        #expect(try #require(json["time"] as? Double) > 1_700_000_000)
    }

    @Test func `ends at Ctrl-C`() throws {
        let watch = try watch()
        kill(watch.processID, SIGINT)
        #expect(watch.wait().status == 128 + SIGINT)
    }

    @Test func `65 is for an unknown tweak, and 69 for a program that does not run`() throws {
        #expect(try setter.tweak("watch", "Txt").status == 65)
        setter.process.kill()
        _ = setter.process.wait()
        #expect(try setter.program.tweak("watch").status == 69)
    }
}
