// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `tweak log, undo, mark and revert` {
    private let setter: RunningSetter

    init() throws { setter = try RunningSetter() }

    private func lines(_ command: String, _ arguments: String...) throws -> [String] {
        let result = try setter.program.command([command, "\(setter.pid)"] + arguments)
        #expect(result.status == 0, "\(result.error)")
        return result.lines.map { String($0) }
    }

    @Test func `log shows each change with who made it`() throws {
        #expect(try lines("log") == ["no changes"])
        _ = try lines("set", "Count", "6")
        _ = try lines("mark", "before the text")
        _ = try lines("set", "Text=bye", "Ratio=0.75")
        let log = try lines("log")
        let user = String(cString: getpwuid(geteuid()).pointee.pw_name)
        let time = #/\d\d:\d\d:\d\d\.\d\d\d/#, client = Regex<Substring>(verbatim: " \(user)")
        try #require(log.count == 5)
        #expect(log.allSatisfy { $0.hasPrefix("NUMBER") || $0.contains(time) && $0.contains(client) })
        let words = log.dropFirst().map {
            $0.replacing(time, with: "").split(separator: " ").prefix(4).joined(separator: " ")
        }
        // Those of a set are in the order in which they were typed.
        #expect(
            words == [
                "1 Setter/Values/Count 5 6", "mark before the text", "2 Setter/Values/Text \"hello\" \"bye\"",
                "2 Setter/Values/Ratio 0.5 0.75",
            ])
        #expect(log[1].contains("tweak \(setter.pid)") == false && log[1].contains("  tweak "))
    }

    @Test func `log has a JSON form and comma-separated values`() throws {
        _ = try lines("set", "Text", "a,b")
        let json = try lines("log", "--format", "json").joined(separator: "\n")
        let object = try #require(try JSONSerialization.jsonObject(with: Data(json.utf8)) as? [String: Any])
        let change = try #require((object["changes"] as? [[String: Any]])?.first)
        #expect(change["newValue"] as? String == "a,b" && change["number"] as? Int == 1)
        #expect(object["last"] as? Int == 1)
        let csv = try lines("log", "--format", "csv")
        #expect(csv[0] == "number,time,tweak,oldValue,newValue,source,by,undoes,person")
        #expect(csv[1].contains(#",Setter/Values/Text,hello,"a,b",override,"tweak "#))
        #expect(try lines("log", "--format", "csv", "--since", "1").count == 1)
    }

    @Test func `log shows the last changes, and the marks after the one before them`() throws {
        _ = try lines("set", "Count", "6")
        _ = try lines("mark", "early")
        _ = try lines("set", "Count", "7")
        _ = try lines("mark", "late")
        _ = try lines("set", "Text=bye", "Ratio=0.75")
        func words(_ count: Int) throws -> [String] {
            try lines("log", "--last", "\(count)").dropFirst().map {
                $0.split(separator: " ").filter { !$0.contains(":") }.prefix(2).joined(separator: " ")
            }
        }
        let last = ["mark late", "3 Setter/Values/Text", "3 Setter/Values/Ratio"]
        #expect(try words(1) == last)
        #expect(try words(2) == ["mark early", "2 Setter/Values/Count"] + last)
        #expect(try words(3) == ["1 Setter/Values/Count", "mark early", "2 Setter/Values/Count"] + last)
        #expect(try words(9) == words(3))
        #expect(try lines("log", "--last", "0") == ["no changes"])
        #expect(try lines("log", "--last", "1", "--format", "csv").count == 3)
        #expect(try setter.tweak("log", "--last=-1").status == 64)
    }

    @Test func `log shows the date of changes and marks of another day`() throws {
        let program = try SetterProgram()
        func change(_ number: Int, _ time: Double) -> String {
            #"{"number":\#(number),"time":\#(time),"tweak":"A/B/C","oldValue":1,"newValue":2,"source":"override","#
                + #""by":"tweak 1 ada","monotonicTime":1}"#
        }
        let now = Date().timeIntervalSince1970
        let endpoint = try FakeEndpoint(
            program,
            results: [
                "list": #"{"tweaks":[]}"#,
                "describe":
                    #"{"application":"x","executable":"/x","pid":1,"protocol":1,"version":"1","tweaks":1}"#,
                "history": """
                {"changes":[\(change(1, 1_000_000_000.25)),\(change(2, now))],"first":1,"last":2,
                "marks":[{"name":"old","number":1,"by":"tweak 1 ada","time":1000000001}]}
                """.replacing("\n", with: ""),
            ])
        defer { endpoint.stop() }
        let result = try program.command(["log", "\(getpid())"], environment: ["TZ": "UTC"])
        #expect(result.lines.count == 4, "\(result)")
        #expect(result.output.contains("\n1       2001-09-09 01:46:40.250  A/B/C     1    2  "), "\(result)")
        #expect(result.output.contains("\n        2001-09-09 01:46:41.000  mark old  "), "\(result)")
        // Unless the day ended meanwhile.
        func day(_ time: Double) -> Double { (time / 86400).rounded(.down) }
        if day(Date().timeIntervalSince1970) == day(now) {
            #expect(result.output.contains(#/\n2 +\d\d:\d\d:\d\d\.\d\d\d /#), "\(result)")
        }
    }

    @Test func `log follows until the program ends`() throws {
        let log = try start(
            Locations.product("tweak"), ["log", "\(setter.pid)", "--follow", "--format", "json"],
            home: setter.home)
        try setter.changeSlot { log.written.output.contains("Slot 7") }
        _ = try lines("set", "Text", "bye")
        #expect(waitUntil { log.written.output.contains(#""newValue":"bye""#) })
        setter.process.kill()
        #expect(log.wait().status == 0)
    }

    @Test func `log prints a header again for rows with other columns`() throws {
        let log = try start(
            Locations.product("tweak"), ["log", "\(setter.pid)", "--follow"], home: setter.home)
        try setter.changeSlot { log.written.output.contains("Slot") }
        _ = try lines("set", "Count", "6")
        #expect(waitUntil { log.written.output.contains("Count") })
        _ = try lines("undo")
        #expect(waitUntil { log.written.output.contains("undoes") })
        setter.process.kill()
        let written = log.wait().output.split(separator: "\n")
        let headers = written.filter { $0.hasPrefix("NUMBER") }
        #expect(written.first == headers.first, "\(written)")
        #expect(
            headers.last?.hasSuffix("NOTE") == true && headers.first?.contains("NOTE") == false, "\(written)")
        #expect(headers.allSatisfy { $0.contains("OLD") && $0.contains("NEW") && $0.contains("BY") })
    }

    @Test func `undo gives back the old value, and redoes an undo by its number`() throws {
        _ = try lines("set", "Count", "6")
        #expect(try lines("undo") == ["Setter/Values/Count: 6 → 5"])
        #expect(try setter.tweak("get", "Count").output == "5\n")
        #expect(try setter.tweak("list", "--format", "json").output.contains("\"override\"") == false)
        #expect(try lines("undo", "2") == ["Setter/Values/Count: 5 → 6"])
        let result = try setter.tweak("undo", "--format", "json")
        #expect(result.output.contains(#""first" : 1"#), "\(result.output)")
        let nothing = try setter.tweak("undo")
        #expect(nothing.status == 65 && nothing.error == "tweak: nothing to undo\n")
    }

    @Test func `undo names who has changed the value since`() throws {
        _ = try lines("set", "Count", "6")
        _ = try lines("set", "Count", "7")
        let result = try setter.tweak("undo", "1")
        #expect(result.status == 65)
        #expect(
            result.error.contains(
                #/^tweak: Setter\/Values\/Count: it was changed to 7 since, by tweak \d+ \w+ in change 2; undo that first\n$/#
            ),
            "\(result.error)")
        let unknown = try setter.tweak("undo", "9")
        #expect(
            unknown.status == 65 && unknown.error == "tweak: no change 9; the history has 1 to 2\n")
        #expect(try setter.tweak("undo", "0").status == 64)
    }

    @Test func `revert to the start keeps an override that is the default`() throws {
        let program = try SetterProgram()
        let kept = ["Setter": ["Values": ["Count": 5]]]
        try program.writeOverrides(JSONSerialization.data(withJSONObject: kept))
        let setter = try RunningSetter(program)
        #expect(try setter.tweak("set", "Count", "6").succeeded)
        #expect(try setter.tweak("revert").output == "Setter/Values/Count: 6 → 5\n")
        #expect(waitUntil { (try? program.overrides()) == kept })
        #expect(try setter.tweak("undo", "2").output == "Setter/Values/Count: 5 → 6\n")
        #expect(waitUntil { (try? program.overrides()) == ["Setter": ["Values": ["Count": 6]]] })
        #expect(setter.process.isRunning)
    }

    @Test func `revert goes back to a mark and to the start`() throws {
        _ = try lines("set", "Count", "6")
        #expect(try lines("mark", "here") == ["here: after change 1"])
        _ = try lines("set", "Count=7", "Text=bye")
        #expect(
            try lines("revert", "here") == [
                "Setter/Values/Count: 7 → 6", "Setter/Values/Text: \"bye\" → \"hello\"",
            ])
        #expect(try lines("revert") == ["Setter/Values/Count: 6 → 5"])
        #expect(try lines("revert") == ["nothing to revert"])
        let unknown = try setter.tweak("revert", "there")
        #expect(
            unknown.status == 65 && unknown.error == "tweak: no mark \"there\"; known: here\n")
    }

    @Test func `A program that does not run has no history`() throws {
        for command in ["log", "undo", "revert"] {
            let result = try setter.program.command([command, SetterProgram.path + "-none"])
            #expect(result.status == 66, "\(result.error)")
        }
        setter.process.kill()
        _ = setter.process.wait()
        let result = try setter.program.command(["undo", SetterProgram.path])
        #expect(result.status == 69 && result.error.contains("it is not running"), "\(result.error)")
    }

    @Test func `A program can be started without a history`() throws {
        let setter = try RunningSetter(SetterProgram(), environment: ["TWEAKS_HISTORY": "0"])
        let result = try setter.tweak("log")
        #expect(result.status == 65)
        #expect(
            result.error
                == "tweak: the program's history is turned off, as by TWEAKS_HISTORY=0 in its environment\n"
        )
    }
}
