// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// How pages show and change programs.
@Suite struct `A page` {
    private static let count = "Setter/Values/Count"
    private static let ratio = "Setter/Values/Ratio"

    /// A running program, its page, and an event stream.
    private struct Followed {
        let setter: RunningSetter
        let page: ServedPage
        let events: PageEvents
        let id: String
        let stream: String

        init(_ setter: RunningSetter) throws {
            self.setter = setter
            page = try ServedPage(home: setter.home)
            events = try page.events()
            id = try page.id(ofProcess: setter.pid)
            stream = try events.stream()
            #expect(try page.api("tweaks", ["program": id, "stream": stream]).status == 200)
        }

        init() throws { try self.init(RunningSetter()) }

        func ask(_ name: String, _ body: [String: Any] = [:]) throws -> [String: Any] {
            let answer = try page.api(name, ["program": id, "stream": stream].merging(body) { $1 })
            #expect(answer.status == 200, "\(answer.body)")
            return try answer.json
        }

        func set(_ values: [[String: Any]], _ options: [String: Any] = [:]) throws -> [String: Any] {
            try ask("set", ["values": values].merging(options) { $1 })
        }
    }

    @Test func `shows a program with its tweaks`() throws {
        let followed = try Followed()
        let answer = try followed.ask("tweaks")
        let program = try #require(answer["program"] as? [String: Any])
        #expect(program["state"] as? String == "running")
        #expect(program["pid"] as? Int32 == followed.setter.pid)
        #expect(program["name"] as? String == "tweak-setter")
        #expect(program["overrides"] as? String == followed.setter.program.overridesPath)
        let tweaks = try #require(answer["tweaks"] as? [[String: Any]])
        #expect(tweaks.count == 18)
        // The values in the program itself.
        let listed = try followed.setter.tweak("list", "--format", "json").json["tweaks"] as? [[String: Any]]
        #expect(tweaks as NSArray == (listed ?? []) as NSArray)
    }

    @Test func `sets values, and all pages receive the change`() throws {
        let followed = try Followed()
        let other = try followed.page.events()
        _ = try followed.page.api("tweaks", ["program": followed.id, "stream": try other.stream()])
        let answer = try followed.set([
            ["tweak": Self.count, "value": 6], ["tweak": Self.ratio, "text": "0.25"],
        ])
        #expect(answer["applied"] as? [String] == [Self.count, Self.ratio])
        followed.setter.expect("false 6 0.25 hello")
        for events in [followed.events, other] {
            let change = try events.change(of: Self.count, to: 6)
            #expect(change["oldValue"] as? Int == 5)
            #expect(change["source"] as? String == "override")
            #expect(change["stream"] as? String == followed.stream)
        }
    }

    @Test func `sends one request for each frame of a slider`() throws {
        let program = try SetterProgram()
        let tweak =
            #"{"tweak":"A/B/C","category":"A","collection":"B","name":"C","type":"int32","default":1,"value":0}"#
        let requests = Locked<[String]>([])
        let endpoint = try FakeEndpoint(program) { request in
            let message = try? JSONSerialization.jsonObject(with: Data(request.utf8)) as? [String: Any]
            let method = message?["method"] as? String ?? ""
            requests.withLock { $0.append(method) }
            let result =
                switch method {
                case "describe":
                    #"{"application":"x","executable":"/x","pid":1,"protocol":1,"version":"0","tweaks":1}"#
                case "list": #"{"tweaks":[\#(tweak)]}"#
                case "subscribe": #"{"subscription":1}"#
                default:
                    #"{"changes":[{"tweak":"A/B/C","oldValue":0,"newValue":7,"givenValue":7,"source":"override"}],"#
                        + #""refused":[]}"#
                }
            return .line(#"{"jsonrpc":"2.0","id":\#(message?["id"] as? Int ?? 0),"result":\#(result)}"#)
        }
        defer { endpoint.stop() }
        let page = try ServedPage(home: program.home)
        let stream = try page.events().stream()
        let id = try page.id(ofProcess: getpid())
        #expect(try page.api("tweaks", ["program": id, "stream": stream]).status == 200)
        let before = requests.withLock { $0.count }
        let frames = 50
        let start = ContinuousClock.now
        for _ in 0..<frames {
            let values = [["tweak": "A/B/C", "value": 7]]
            let answer = try page.api("set", ["program": id, "stream": stream, "values": values]).json
            let tweaks = try #require(answer["tweaks"] as? [[String: Any]])
            #expect(tweaks.map { $0["value"] as? Int } == [7] && tweaks[0]["source"] as? String == "override")
        }
        let sent = requests.withLock { Array($0.dropFirst(before)) }
        #expect(sent.count { $0 == "change" } == frames)
        // The page asks other things now and then.
        let others = 10 + 2 * Int((ContinuousClock.now - start).components.seconds)
        #expect(sent.count <= frames + others, "\(sent)")
    }

    @Test func `applies the last of several values for a tweak`() throws {
        let followed = try Followed()
        let answer = try followed.set([
            ["tweak": Self.count, "value": 6], ["tweak": Self.count, "value": 7],
        ])
        #expect(answer["applied"] as? [String] == [Self.count])
        followed.setter.expect("false 7 0.5 hello")
    }

    @Test func `reports clamped, refused and unknown values, and the current ones`() throws {
        let followed = try Followed()
        let answer = try followed.set([
            ["tweak": Self.count, "value": 2_000_000], ["tweak": Self.ratio, "value": "x"],
            ["tweak": "Setter/Values/Nothing", "value": 1], ["tweak": "Setter/Values/Flag", "value": 1],
        ])
        #expect(answer["applied"] as? [String] == [Self.count])
        #expect(answer["clamped"] as? [String] == [Self.count])
        #expect(answer["unknown"] as? [String] == ["Setter/Values/Nothing"])
        let refused = try #require(answer["refused"] as? [[String: Any]])
        #expect(Set(refused.compactMap { $0["tweak"] as? String }) == [Self.ratio, "Setter/Values/Flag"])
        let tweaks = try #require(answer["tweaks"] as? [[String: Any]])
        #expect(tweaks.first { $0["tweak"] as? String == Self.count }?["value"] as? Int == 1_000_000)
        #expect(tweaks.first { $0["tweak"] as? String == Self.ratio }?["value"] as? Double == 0.5)
    }

    @Test func `sets all values or none on request`() throws {
        let followed = try Followed()
        let answer = try followed.set(
            [["tweak": Self.count, "value": 6], ["tweak": Self.ratio, "value": "x"]], ["allOrNothing": true])
        #expect(answer["applied"] as? [String] == [])
        followed.setter.expect("false 5 0.5 hello")
    }

    @Test func `receives changes made in a shell`() throws {
        let followed = try Followed()
        #expect(try followed.setter.tweak("set", "Count", "9").succeeded)
        let change = try followed.events.change(of: Self.count, to: 9)
        #expect(change["stream"] == nil)
        #expect(change["source"] as? String == "override")
    }

    @Test func `receives the source of a value that was set to the default`() throws {
        let followed = try Followed()
        #expect(try followed.setter.tweak("set", "Count", "5").succeeded)
        let change = try followed.events.change(of: Self.count, to: 5)
        #expect(change["oldValue"] as? Int == 5)
        #expect(change["source"] as? String == "override")
    }

    @Test func `resets a tweak, a collection and everything`() throws {
        let followed = try Followed()
        let values: [[String: Any]] = [
            ["tweak": Self.count, "value": 6], ["tweak": Self.ratio, "value": 0.25],
        ]
        _ = try followed.set(values)
        #expect(try followed.ask("reset", ["tweaks": [Self.count]])["reset"] as? Int == 1)
        followed.setter.expect("false 5 0.25 hello")
        #expect(try followed.events.change(of: Self.count, to: 5)["stream"] as? String == followed.stream)
        #expect(
            try followed.ask("reset", ["category": "Setter", "collection": "Values"])["reset"] as? Int == 1)
        _ = try followed.set(values)
        #expect(try followed.ask("reset", ["all": true])["reset"] as? Int == 2)
        _ = try followed.set(values)
        // As undo does, together with other changes.
        let answer = try followed.set([
            ["tweak": Self.count, "reset": true], ["tweak": Self.ratio, "value": 0.75],
        ])
        #expect(answer["applied"] as? [String] == [Self.count, Self.ratio])
        followed.setter.expect("false 5 0.75 hello")
        #expect(try followed.page.api("reset", ["program": followed.id]).status == 400)
    }

    @Test func `tries values until its event stream ends`() throws {
        let followed = try Followed()
        do {
            let other = try followed.page.events()
            let stream = try other.stream()
            let answer = try followed.set(
                [["tweak": Self.count, "value": 6]], ["stream": stream, "try": true])
            #expect(answer["applied"] as? [String] == [Self.count])
            followed.setter.expect("false 6 0.5 hello")
            #expect(try followed.events.change(of: Self.count, to: 6)["source"] as? String == "lease")
            let trials =
                try followed.events.first("trials") { ($0["trials"] as? [Any])?.isEmpty == false }["trials"]
                as? [[String: Any]]
            #expect(trials?.first?["stream"] as? String == stream)
            #expect(trials?.first?["tweaks"] as? [String] == [Self.count])
            let opinions = try followed.ask("explain", ["tweak": Self.count])["opinions"] as? [[String: Any]]
            let lease = opinions?.first?["lease"] as? [String: Any]
            #expect((lease?["by"] as? String)?.contains("tweak-ui") == true)
        }
        followed.setter.expect("false 5 0.5 hello")
        _ = try followed.events.first("trials") { ($0["trials"] as? [Any])?.isEmpty == true }
        #expect(!FileManager.default.fileExists(atPath: followed.setter.program.overridesPath))
    }

    @Test func `tries nothing without an event stream`() throws {
        let followed = try Followed()
        let answer = try followed.page.api(
            "set", ["program": followed.id, "try": true, "values": [["tweak": Self.count, "value": 6]]])
        #expect(answer.status == 409, "\(answer.body)")
        #expect(answer.body.contains("only a page with an event stream can try values"))
        followed.setter.expect("false 5 0.5 hello")
    }

    @Test func `keeps tried values as one change, or discards them`() throws {
        let followed = try Followed()
        let values: [[String: Any]] = [
            ["tweak": Self.count, "value": 6], ["tweak": Self.ratio, "value": 0.25],
        ]
        _ = try followed.set(values, ["try": true])
        #expect(try followed.ask("try/discard")["reset"] as? Int == 2)
        followed.setter.expect("false 5 0.5 hello")
        _ = try followed.set(values, ["try": true])
        // A reset gives back a tried value.
        _ = try followed.set([["tweak": Self.ratio, "reset": true]], ["try": true])
        followed.setter.expect("false 6 0.5 hello")
        #expect(try followed.ask("try/keep")["applied"] as? [String] == [Self.count])
        #expect(
            waitUntil {
                (try? followed.setter.program.overrides())?["Setter"]?["Values"] == ["Count": 6]
            })
        followed.setter.expect("false 6 0.5 hello")
        #expect(try followed.ask("try/keep")["applied"] as? [String] == [])
        #expect(try followed.ask("try/discard")["reset"] as? Int == 0)
    }

    @Test func `changes numbers gradually`() throws {
        let followed = try Followed()
        _ = try followed.set([["tweak": Self.count, "value": 1005]], ["ramp": 0.3])
        _ = try followed.events.change(of: Self.count, to: 1005)
        let seen = followed.events.all.flatMap { $0.data["changes"] as? [[String: Any]] ?? [] }
            .compactMap { $0["newValue"] as? Int }
        #expect(seen.contains { 5 < $0 && $0 < 1005 }, "\(seen)")
        let wrong = try followed.page.api(
            "set", ["program": followed.id, "ramp": -1, "values": [["tweak": Self.count, "value": 6]]])
        #expect(wrong.status != 200)
    }

    @Test func `shows the program's history, undoes, marks and reverts`() throws {
        let followed = try Followed()
        #expect(try followed.setter.tweak("set", "Count", "9").succeeded)
        _ = try followed.set([["tweak": Self.ratio, "value": 0.25]])
        func changes() throws -> [[String: Any]] {
            try #require(try followed.ask("history")["changes"] as? [[String: Any]])
        }
        let made = try changes()
        #expect(made.map { $0["tweak"] as? String } == [Self.count, Self.ratio])
        #expect(made[0]["oldValue"] as? Int == 5 && made[0]["newValue"] as? Int == 9)
        #expect((made[0]["by"] as? String)?.hasPrefix("tweak ") == true)
        #expect((made[1]["by"] as? String)?.hasPrefix("tweak-ui ") == true)
        #expect(made[1]["person"] == nil)
        _ = try followed.ask("mark", ["name": "good"])
        _ = try followed.set([["tweak": Self.ratio, "value": 0.75]])
        _ = try followed.ask("undo", ["number": made[0]["number"] ?? 0])
        followed.setter.expect("false 5 0.75 hello")
        _ = try followed.ask("revert", ["name": "good"])
        followed.setter.expect("false 9 0.25 hello")
        _ = try followed.ask("revert")
        followed.setter.expect("false 5 0.5 hello")
        let marks = try followed.ask("history")["marks"] as? [[String: Any]]
        #expect(marks?.map { $0["name"] as? String } == ["good"])
        #expect(try followed.page.api("mark", ["program": followed.id]).status == 400)
        #expect(
            try followed.page.api(
                "mark", ["program": followed.id, "name": "hers"], ["Tweaks-Person: Ann%1B%5B31m%20M"]
            ).status == 200)
        #expect(
            try followed.page.api(
                "set", ["program": followed.id, "values": [["tweak": Self.count, "value": 7]]],
                ["Tweaks-Person: J%C3%B6rg"]
            ).status == 200)
        #expect(try changes().last?["person"] as? String == "J\u{f6}rg")
        let log = try followed.setter.tweak("log").output
        #expect(
            log.contains("Jörg (tweak-ui ") && log.contains("M (tweak-ui ") && !log.contains("\u{1b}"),
            "\(log)")
        for wrong in ["%", "", String(repeating: "a", count: 161)] {
            let answer = try followed.page.api("programs", [:], ["Tweaks-Person: \(wrong)"])
            #expect(answer.status == 400, "\(answer.body)")
        }
        #expect(try followed.page.api("revert", ["program": followed.id, "name": "none"]).status != 200)
    }

    @Test func `evaluates arithmetic without setting anything`() throws {
        let followed = try Followed()
        func answer(_ tweak: String, _ text: String, current: String) throws -> [String: Any] {
            try followed.ask("calculate", ["tweak": tweak, "text": text, "current": current])
        }
        let plain = try answer(Self.count, "+=10%", current: "50")
        #expect(plain["value"] as? Int == 55 && plain["wasClamped"] as? Bool == false)
        let clamped = try answer(Self.ratio, "max*4", current: "0.5")
        #expect(clamped["value"] as? Double == 1 && clamped["wasClamped"] as? Bool == true)
        for (text, reason) in [("1/0", "it divides by 0"), ("1.5", "1.5 is not a whole number")] {
            let answer = try followed.page.api(
                "calculate", ["program": followed.id, "tweak": Self.count, "text": text])
            #expect(answer.status == 422 && answer.body.contains(reason), "\(answer.body)")
        }
        let unknown = try followed.page.api(
            "calculate", ["program": followed.id, "tweak": "A/B/C", "text": "1"])
        #expect(unknown.status == 404)
        followed.setter.expect("false 5 0.5 hello")
    }

    @Test func `lists the providers of a value`() throws {
        let followed = try Followed()
        _ = try followed.set([["tweak": Self.count, "value": 6]])
        let answer = try followed.ask("explain", ["tweak": Self.count])
        let opinions = try #require(answer["opinions"] as? [[String: Any]])
        #expect(opinions.compactMap { $0["source"] as? String } == ["override", "default"])
        #expect(opinions.first?["location"] as? String == followed.setter.program.overridesPath)
        #expect(try followed.page.api("explain", ["program": followed.id, "tweak": "A/B/C"]).status == 404)
    }

    @Test func `says who set a value of the fleet, when and why`() throws {
        let program = try SetterProgram()
        // Without watching, a program reads it at its start only.
        try program.home.write(
            "state/tweaks/tweak-setter/fleet.json",
            """
            { "values": {}, "kills": { "Setter": { "Values": { "Flag": false } } },
              "killReasons": { "Setter/Values/Flag": "killed by bob at 2026-11-25T18:00:00Z: it is broken" } }
            """)
        let followed = try Followed(RunningSetter(program))
        let answer = try followed.ask("explain", ["tweak": "Setter/Values/Flag"])
        let provided = (answer["provided"] as? [[String: Any]])?.first
        #expect(provided?["source"] as? String == "kill")
        #expect(provided?["reason"] as? String == "killed by bob at 2026-11-25T18:00:00Z: it is broken")
    }

    @Test func `saves presets, and shows their differences`() throws {
        let followed = try Followed()
        _ = try followed.set([["tweak": Self.count, "value": 6]])
        #expect(try followed.ask("preset/save", ["name": "a/b"])["tweaks"] as? Int == 1)
        _ = try followed.events.first("preset")
        let presets = try #require(try followed.ask("presets")["presets"] as? [[String: Any]])
        #expect(presets.map { $0["name"] as? String } == ["a/b"])
        _ = try followed.set([["tweak": Self.count, "value": 7], ["tweak": Self.ratio, "value": 0.25]])
        let differences = try #require(
            try followed.ask("preset/diff", ["name": "a/b"])["differences"] as? [[String: Any]])
        #expect(differences.map { $0["tweak"] as? String } == [Self.count, Self.ratio])
        #expect(differences[0]["newValue"] as? Int == 6)
        #expect(differences[0]["oldValue"] as? Int == 7)
        #expect(differences[1]["newValue"] == nil)
        let values = try followed.ask("preset/get", ["name": "a/b"])["values"] as? [String: Int]
        #expect(values == [Self.count: 6])
        // The command lists it too.
        #expect(try followed.setter.tweak("preset", "list").status == 64)
        _ = try followed.ask("preset/delete", ["name": "a/b"])
        #expect(try followed.page.api("preset/diff", ["program": followed.id, "name": "a/b"]).status == 404)
    }

    @Test func `saves values as a preset that the program does not have`() throws {
        let followed = try Followed()
        _ = try followed.set([["tweak": Self.count, "value": 6]])
        let values: [[String: Any]] = [
            ["tweak": Self.ratio, "text": "1/8"], ["tweak": "Setter/Values/Flag", "value": false],
        ]
        #expect(
            try followed.ask("preset/save", ["name": "run", "values": values])["tweaks"] as? Int == 2)
        let kept = try followed.ask("preset/get", ["name": "run"])["values"] as? [String: Any]
        #expect(kept?.count == 2)
        #expect(kept?[Self.ratio] as? Double == 0.125)
        #expect(kept?["Setter/Values/Flag"] as? Bool == false)
        let tweaks = try #require(try followed.ask("tweaks")["tweaks"] as? [[String: Any]])
        #expect(tweaks.first { $0["tweak"] as? String == Self.ratio }?["value"] as? Double == 0.5)
        for (wrong, message) in [
            (["tweak": "No/Such/Tweak", "value": 1], "No/Such/Tweak: no such tweak"),
            (["tweak": Self.count, "value": "many"], Self.count),
        ] as [([String: Any], String)] {
            let answer = try followed.page.api(
                "preset/save", ["program": followed.id, "name": "other", "values": [wrong]])
            #expect(answer.status == 409 && answer.body.contains(message), "\(answer.body)")
        }
        let presets = try followed.ask("presets")["presets"] as? [[String: Any]]
        #expect(presets?.map { $0["name"] as? String } == ["run"])
    }

    @Test func `replaces a preset with other values only on request`() throws {
        let followed = try Followed()
        _ = try followed.set([["tweak": Self.count, "value": 6], ["tweak": Self.ratio, "value": 0.25]])
        _ = try followed.ask("preset/save", ["name": "mine"])
        _ = try followed.ask("reset", ["tweaks": [Self.ratio]])
        let answer = try followed.page.api("preset/save", ["program": followed.id, "name": "mine"])
        #expect(answer.status != 200 && answer.body.contains("a value that would be lost"), "\(answer.body)")
        let kept = try followed.ask("preset/get", ["name": "mine"])["values"] as? [String: Double]
        #expect(kept == [Self.count: 6, Self.ratio: 0.25])
        #expect(try followed.ask("preset/save", ["name": "mine", "replace": true])["tweaks"] as? Int == 1)
    }

    @Test func `passes on that a broken overrides file was replaced`() throws {
        let followed = try Followed()
        _ = try followed.set([["tweak": Self.count, "value": 6]])
        try followed.setter.program.writeOverrides(Data("{".utf8))
        // The answer that follows the next write tells, and the later ones do not.
        var warnings: [[String: Any]] = []
        var value = 0.25
        func set() throws {
            let answer = try followed.set([["tweak": Self.ratio, "value": value]])
            warnings += answer["warnings"] as? [[String: Any]] ?? []
            value = 1 - value
        }
        #expect(
            try waitUntil {
                try set()
                return !warnings.isEmpty
            })
        try set()
        #expect(warnings.map { $0["kind"] as? String } == ["brokenOverrides"])
        #expect((warnings.first?["message"] as? String)?.contains("it is now ") == true)
    }

    @Test func `imports what it exported`() throws {
        let followed = try Followed()
        _ = try followed.set([["tweak": Self.count, "value": 6]])
        let file = try followed.ask("export")
        #expect(file["file"] as? String == "tweak-setter.json")
        _ = try followed.ask("reset", ["all": true])
        let answer = try followed.ask("import", ["text": file["text"] ?? ""])
        let differences = try #require(answer["differences"] as? [[String: Any]])
        #expect(differences.count == 1)
        #expect(differences.first?["newValue"] as? Int == 6)
    }

    @Test func `imports files of older systems`() throws {
        let followed = try Followed()
        let text = #"{"FBTweak:Setter-Values-Count":8,"FBTweak:Other-Values-Count":1,"FBTweak:x":1}"#
        let answer = try followed.ask("import", ["text": text])
        let differences = try #require(answer["differences"] as? [[String: Any]])
        #expect(differences.first { $0["tweak"] as? String == Self.count }?["newValue"] as? Int == 8)
        #expect((answer["leftOut"] as? [[String: Any]])?.first?["entry"] as? String == "FBTweak:x")
        // As a file that is not text is sent.
        let base64 = Data(text.utf8).base64EncodedString()
        #expect(
            try followed.ask("import", ["base64": base64])["differences"] as? NSArray == differences
                as NSArray)
        #expect(try followed.page.api("import", ["program": followed.id, "text": "nothing"]).status == 409)
    }

    @Test func `receives samples at the requested rate`() throws {
        let followed = try Followed()
        let answer = try followed.ask("watch", ["tweaks": [Self.count, "Setter/Values/Text"], "rate": 200])
        #expect(answer["tweaks"] as? [String] == [Self.count])
        _ = try followed.set([["tweak": Self.count, "value": 6]])
        let samples = try followed.events.first("samples") { data in
            (data["values"] as? [[Double]])?.first?.last == 6
        }
        #expect(samples["tweaks"] as? [String] == [Self.count])
        #expect((samples["times"] as? [Double])?.count == (samples["values"] as? [[Double]])?.first?.count)
        _ = try followed.ask("watch", ["tweaks": []])
        #expect(
            try followed.page.api(
                "watch", ["program": followed.id, "stream": followed.stream, "tweaks": [], "rate": 0]
            ).status == 400)
    }

    @Test func `gives one page fewer samples than another`() throws {
        let followed = try Followed()
        let other = try followed.page.events()
        let body = ["program": followed.id, "tweaks": [Self.count]] as [String: Any]
        for (stream, rate) in [(followed.stream, 1000), (try other.stream(), 30)] {
            let answer = try followed.page.api(
                "watch", body.merging(["stream": stream, "rate": rate]) { $1 })
            #expect(answer.status == 200, "\(answer.body)")
        }
        var times: [Double] = []
        #expect(
            waitUntil {
                times = other.all.filter { $0.name == "samples" }
                    .flatMap { $0.data["times"] as? [Double] ?? [] }
                return times.count > 60
            })
        let rate = Double(times.count - 1) / (times.last! - times.first!)
        #expect(rate < 31.5, "\(times)")
    }

    @Test func `sees the tweaks that others edit`() throws {
        let followed = try Followed()
        let other = try followed.page.events()
        _ = try followed.ask("presence", ["name": "Ada", "tweak": Self.count])
        let viewers =
            try other.first("viewers") { data in
                (data["viewers"] as? [[String: Any]])?.contains { $0["tweak"] as? String == Self.count }
                    == true
            }["viewers"] as? [[String: Any]]
        #expect(viewers?.count == 2)
        #expect(viewers?.first { $0["tweak"] != nil }?["name"] as? String == "Ada")
        #expect(try followed.page.api("presence", ["stream": "99"]).status == 410)
    }

    @Test func `shows a restarted program under the same name`() throws {
        let followed = try Followed()
        _ = try followed.set([["tweak": Self.count, "value": 6]])
        followed.setter.process.kill()
        let ended =
            try followed.events.first("program") { data in
                (data["program"] as? [String: Any])?["state"] as? String == "offline"
            }["program"] as? [String: Any]
        #expect(ended?["id"] as? String == followed.id)
        #expect(ended?["ended"] is Double)
        // From now on the values for the next start change.
        #expect(
            try followed.set([["tweak": Self.count, "value": 8]])["applied"] as? [String] == [Self.count])
        let again = try RunningSetter(followed.setter.program)
        again.expect("false 8 0.5 hello")
        #expect(try followed.page.id(ofProcess: again.pid) == followed.id)
        _ = try followed.ask("tweaks")
        _ = try followed.set([["tweak": Self.count, "value": 9]])
        again.expect("false 9 0.5 hello")
    }

    @Test func `never shows a program that has just started as one that is not running`() throws {
        let program = try SetterProgram()
        let page = try ServedPage(home: program.home)
        let events = try page.events()
        for setter in try (0..<8).map({ _ in try RunningSetter(program) }) {
            _ = try events.first("program") { data in
                (data["program"] as? [String: Any])?["pid"] as? Int32 == setter.pid
            }
        }
        let states = events.all.compactMap { ($0.data["program"] as? [String: Any])?["state"] as? String }
        #expect(states.count >= 8 && !states.contains("offline"), "\(states)")
    }

    @Test func `removes ended programs without kept values, unless they are in use`() throws {
        for isSet in [false, true] {
            let followed = try Followed()
            if isSet {
                _ = try followed.set([["tweak": Self.count, "value": 6]])
                _ = try followed.ask("presence", ["tweak": Self.count])
            } else {
                _ = try followed.ask("presence")
            }
            followed.setter.process.kill()
            let ended =
                try followed.events.first("program") { data in
                    (data["program"] as? [String: Any])?["state"] as? String == "offline"
                }["program"] as? [String: Any]
            #expect(ended?["lastPid"] as? Int32 == followed.setter.pid)
            #expect(ended?["pid"] == nil)
            // It is in use, and then no longer.
            #expect(try followed.page.api("tweaks", ["program": followed.id]).status == 200)
            _ = try followed.ask("presence", ["program": "another"])
            if isSet {
                #expect(try followed.page.api("tweaks", ["program": followed.id]).status == 200)
            } else {
                #expect(try followed.events.first("gone")["program"] as? String == followed.id)
                #expect(try followed.page.api("tweaks", ["program": followed.id]).status == 404)
            }
        }
    }

    @Test func `removes a stopped program from the list on request`() throws {
        let followed = try Followed()
        _ = try followed.set([["tweak": Self.count, "value": 6]])
        #expect(try followed.page.api("forget", ["program": followed.id]).status == 409)
        #expect(try followed.page.api("forget", ["program": "nothing"]).status == 404)
        followed.setter.process.kill()
        _ = try followed.events.first("program") { data in
            (data["program"] as? [String: Any])?["state"] as? String == "offline"
        }
        #expect(try followed.page.api("forget", ["program": followed.id]).status == 200)
        _ = try followed.events.first("gone")
        #expect(try followed.page.api("tweaks", ["program": followed.id]).status == 404)
        // Its values are kept.
        #expect(try followed.setter.program.overrides()["Setter"]?["Values"]?["Count"] == 6)
    }

    @Test func `reports an unresponsive program, and serves the others`() throws {
        let followed = try Followed()
        followed.setter.process.pause()
        let state =
            try followed.events.first("program") { data in
                (data["program"] as? [String: Any])?["state"] as? String == "silent"
            }["program"] as? [String: Any]
        #expect(state?["problem"] as? String == "it does not answer; it may be stopped or hung")
        let answer = try followed.page.api(
            "set", ["program": followed.id, "values": [["tweak": Self.count, "value": 6]]])
        #expect(answer.status == 504)
        // The last known values are shown.
        #expect(try followed.ask("tweaks")["tweaks"] as? [Any] != nil)
        followed.setter.process.resume()
        #expect(
            try waitUntil {
                try followed.page.api(
                    "set", ["program": followed.id, "values": [["tweak": Self.count, "value": 7]]]
                ).status == 200
            })
        followed.setter.expect("false 7 0.5 hello")
    }

    @Test func `edits the overrides file of a stopped program, and follows it`() throws {
        let program = try SetterProgram()
        let page = try ServedPage([SetterProgram.path], home: program.home)
        let events = try page.events()
        let id = try #require(try events.first("hello")["first"] as? String)
        let stream = try events.stream()
        #expect(page.address.hasSuffix("&program=tweak-setter"))
        let tweaks = try page.api("tweaks", ["program": id, "stream": stream]).json
        #expect((tweaks["program"] as? [String: Any])?["state"] as? String == "offline")
        let answer = try page.api(
            "set", ["program": id, "stream": stream, "values": [["tweak": Self.count, "value": 2_000_000]]]
        ).json
        #expect(answer["clamped"] as? [String] == [Self.count])
        #expect(try program.overrides()["Setter"]?["Values"]?["Count"] == 1_000_000)
        #expect(try events.change(of: Self.count, to: 1_000_000)["stream"] as? String == stream)
        #expect(try program.tweak("set", "Count", "6").succeeded)
        #expect(try events.change(of: Self.count, to: 6)["stream"] == nil)
        #expect(try page.api("run", ["program": id, "tweak": Self.count]).status == 409)
    }

    @Test func `shows every program with kept values`() throws {
        let home = try TemporaryDirectory()
        for name in ["first", "second", "<b>"] {
            try home.write("config/tweaks/\(name)/overrides.json", #"{"A":{"B":{"\#(name)":1}}}"#)
        }
        let page = try ServedPage(home: home)
        let programs = try page.api("programs").json["programs"] as? [[String: Any]] ?? []
        let kept = programs.filter { $0["state"] as? String == "offline" }
        #expect(kept.compactMap { $0["id"] as? String } == ["<b>", "first", "second"])
        let tweaks = try page.api("tweaks", ["program": "second"]).json["tweaks"] as? [[String: Any]]
        #expect(tweaks?.compactMap { $0["tweak"] as? String } == ["A/B/second"])
    }

    @Test func `changes a process without the library in its memory`() throws {
        let program = try BareProgram()
        let process = try program.start()
        let page = try ServedPage(home: program.home)
        let events = try page.events()
        let id = try page.id(ofProcess: process.processID)
        let stream = try events.stream()
        let tweaks = try page.api("tweaks", ["program": id, "stream": stream]).json
        #expect((tweaks["program"] as? [String: Any])?["state"] as? String == "memory")
        let answer = try page.api(
            "set", ["program": id, "stream": stream, "values": [["tweak": "Bare/Values/Count", "value": 7]]])
        #expect(answer.status == 200, "\(answer.body)")
        #expect(waitUntil { process.written.output.contains("7 0.5 0 slow hello 1 1 80 7\n") })
        _ = try events.change(of: "Bare/Values/Count", to: 7)
        _ = try page.api(
            "watch", ["program": id, "stream": stream, "tweaks": ["Bare/Values/Count"], "rate": 100])
        _ = try events.first("samples") { ($0["values"] as? [[Double]])?.first?.last == 7 }
        #expect(try page.api("run", ["program": id, "tweak": "Bare/Values/Act"]).status == 409)
        // Nothing is left after it ends.
        process.kill()
        #expect(try events.first("gone")["program"] as? String == id)
    }

    @Test func `sends integers too large for JavaScript as digits`() throws {
        let program = try SetterProgram()
        let tweak = #"""
            {"tweak":"A/B/C","category":"A","collection":"B","name":"C","type":"uint64","default":9007199254740991,\#
            "maximum":18446744073709551615,"minimum":0,"value":9007199254740993,"source":"override"}
            """#
        let endpoint = try FakeEndpoint(
            program,
            results: [
                "describe":
                    #"{"application":"x","executable":"/x","pid":1,"protocol":1,"version":"0","tweaks":1}"#,
                "list": #"{"tweaks":[\#(tweak)]}"#, "subscribe": #"{"subscription":1}"#,
            ])
        defer { endpoint.stop() }
        let page = try ServedPage(home: program.home)
        let id = try page.id(ofProcess: getpid())
        let tweaks = try page.api("tweaks", ["program": id]).json["tweaks"] as? [[String: Any]]
        #expect(tweaks?.first?["value"] as? String == "9007199254740993")
        #expect(tweaks?.first?["maximum"] as? String == "18446744073709551615")
        #expect(tweaks?.first?["default"] as? Int == 9_007_199_254_740_991)
    }

    @Test func `receives one change per tweak, however many a program sends`() throws {
        let program = try SetterProgram()
        let tweak =
            #"{"tweak":"A/B/C","category":"A","collection":"B","name":"C","type":"int32","default":1,"value":0}"#
        let said = Locked(0)
        let endpoint = try FakeEndpoint(program) { request in
            let message = try? JSONSerialization.jsonObject(with: Data(request.utf8)) as? [String: Any]
            let id = message?["id"] as? Int ?? 0
            func answer(_ result: String) -> String { #"{"jsonrpc":"2.0","id":\#(id),"result":\#(result)}"# }
            switch message?["method"] as? String {
            case "describe":
                return .line(
                    answer(
                        #"{"application":"x","executable":"/x","pid":1,"protocol":1,"version":"0","tweaks":1}"#
                    ))
            case "list":
                let changes = (0..<100).map { number in
                    #"{"jsonrpc":"2.0","method":"changed","params":{"subscription":1,"changes":[{"tweak":"A/B/C","#
                        + #""oldValue":\#(number),"newValue":\#(number + 1),"source":"override","time":1}]}}"#
                }
                said.withLock { $0 += 1 }
                return .endless(
                    Array(([answer(#"{"tweaks":[\#(tweak)]}"#)] + changes).joined(separator: "\n").utf8) + [
                        0x0A
                    ],
                    everyMicroseconds: 1000)
            default: return .line(answer(#"{"subscription":1}"#))
            }
        }
        defer { endpoint.stop() }
        let page = try ServedPage(home: program.home)
        let events = try page.events()
        let id = try page.id(ofProcess: getpid())
        #expect(try page.api("tweaks", ["program": id, "stream": try events.stream()]).status == 200)
        _ = try events.first("changes")
        // Tens of thousands of changes happen in this time.
        let (before, start) = (events.all.count, ContinuousClock.now)
        func time() -> Double { start.duration(to: .now) / .seconds(1) }
        func newEvents() -> [PageEvents.Event] {
            events.all.dropFirst(before).filter { $0.name == "changes" }
        }
        #expect(waitUntil { time() > 2 && !newEvents().isEmpty })
        let changes = newEvents()
        #expect(Double(changes.count) < 200 * time())
        #expect(changes.allSatisfy { ($0.data["changes"] as? [Any])?.count == 1 })
        // Other requests are served.
        #expect(try page.api("programs").status == 200)
    }
}
