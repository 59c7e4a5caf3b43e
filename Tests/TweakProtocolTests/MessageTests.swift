// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakJSON
import TweakProtocol
import TweakRecords

@Suite struct `Messages of a program` {
    private let key = TweakKey("Spring", "Physics", "Mass")

    private func answer(_ line: [UInt8]) throws -> ProgramMessage.Answer {
        guard case .answer(let answer) = try ProgramMessage(line: line) else {
            throw ControlError(.parse, "none")
        }
        return answer
    }

    @Test func `An answer survives encoding`() throws {
        let explained = ExplainTweak.Answer(
            tweak: key, value: .scalar(2), source: "override",
            opinions: [.init(source: "override", value: .scalar(2)), .init(source: "default", value: nil)])
        let answer = try answer(ControlAnswer(explained, to: .text("a")).line())
        #expect(answer.id == .text("a"))
        #expect(try members(answer.result(of: ExplainTweak.self)) == members(explained))
    }

    @Test func `An error survives encoding with its data`() throws {
        let error = ControlError(.unknownTweak, "there is none", nearest: [key])
        let answer = try answer(ControlAnswer<Done>(error: error, to: .number(1)).line())
        #expect(throws: error) { try answer.result(of: GetTweak.self) }
    }

    @Test func `An error about an unreadable request has no id`() throws {
        let error = ControlError(.parse, "no JSON")
        let answer = try answer(ControlAnswer<Done>(error: error, to: .unknown).line())
        #expect(answer.id == .unknown)
        #expect(throws: error) { try answer.result(of: GetTweak.self) }
    }

    @Test func `Changes survive encoding`() throws {
        let changed = ChangedTweaks(
            subscription: 2,
            changes: [
                .init(
                    tweak: key, oldValue: .scalar(1), newValue: .scalar("x"), source: "override", time: 5.25,
                    by: "tweak 4711 ada", number: 7, tag: "a drag")
            ])
        guard case .changed(let read) = try ProgramMessage(line: changed.line()) else {
            Issue.record("no change")
            return
        }
        #expect(read == changed)
    }

    @Test(arguments: ["", "{}", "[]", #"{"method": "other"}"#, #"{"method": "changed"}"#, #"{"id": true}"#])
    func `Anything else is an error`(line: String) {
        #expect(throws: JSONError.self) { try ProgramMessage(line: Array(line.utf8)) }
    }

    @Test func `An answer of another form is an error`() throws {
        for line in [#"{"id": 1}"#, #"{"id": 1, "result": 5}"#, #"{"id": 1, "result": {"tweaks": 5}}"#] {
            let answer = try answer(Array(line.utf8))
            #expect(throws: ControlError.self) { try answer.result(of: ListTweaks.self) }
        }
    }
}

@Suite struct `The JSON form of a tweak` {
    private func roundTrip(_ tweak: JSONTweak) throws -> JSONTweak {
        let line = ControlAnswer(tweak, to: .number(1)).line()
        guard case .answer(let answer) = try ProgramMessage(line: line) else {
            throw ControlError(.parse, "none")
        }
        return try answer.result(of: GetTweak.self)
    }

    @Test func `A lease and a ramp come back as they were`() throws {
        var tweak = JSONTweak(
            TweakDeclaration(key: TweakKey("A", "B", "C"), type: .double, defaultValue: 1.0), value: 2.5,
            source: "lease")
        tweak.lease = JSONLease(by: "tweak 4711 ada", remaining: 27.5)
        tweak.ramp = JSONRamp(target: .scalar(3.5), remaining: 0.25)
        #expect(try roundTrip(tweak) == tweak)
        tweak.lease?.remaining = nil
        #expect(try roundTrip(tweak) == tweak)
        let request = SetTweak(
            tweak: tweak.declaration.key, value: .scalar(2.5), SetDurations(until: .closed, for: 30, ramp: 2))
        #expect(
            try members(ControlRequest(line: request.request(id: .number(1)).dropLast()).parameters)
                == members(request))
    }

    @Test(
        arguments: [
            (.bool, true, false), (.int8, -3, 4), (.uint64, 3, .integer(Int128(UInt64.max))),
            (.float, 0.5, 2),
            (.double, 600.0, 0.25), (.double, .double(.infinity), .double(-.infinity)),
            (.string, "#fff", "true"),
            (
                .color, .color(TweakColor(red: 1, green: 2, blue: 3)),
                .color(TweakColor(red: 1, green: 2, blue: 3, alpha: 4))
            ),
        ] as [(TweakType, TweakValue, TweakValue)])
    func `A value of each type survives encoding`(type: TweakType, initial: TweakValue, value: TweakValue)
        throws
    {
        let tweak = JSONTweak(
            TweakDeclaration(key: TweakKey("A/B", "C%", ""), type: type, defaultValue: initial), value: value,
            source: "override", pendingValue: initial)
        let expected = type == .float ? 2.0 : value
        let read = try roundTrip(tweak)
        #expect(read.declaration == tweak.declaration)
        #expect(read.value == expected)
        #expect(read.pendingValue == initial)
        #expect(read.source == "override")
    }

    @Test func `A declaration survives encoding`() throws {
        let declaration = TweakDeclaration(
            key: TweakKey("Spring", "Physics", "Mass"), type: .double, defaultValue: 1.5, minimum: 0.0,
            maximum: 10.0,
            step: 0.5,
            attributes: [
                .init(key: "unit", value: "kg"), .init(key: "precision", value: "2"),
                .init(key: "scale", value: "linear"), .init(key: "pair", value: "Drag"),
                .init(key: "doc", value: "how heavy it is"), .init(key: "read-only", value: ""),
                .init(key: "needs-restart", value: ""), .init(key: "owner", value: "physics"),
                .init(key: "expires", value: "2030-01-31"), .init(key: "at", value: "spring.c:7"),
            ])
        #expect(try roundTrip(JSONTweak(declaration)).declaration == declaration)
    }

    @Test func `An impossible scale is not sent`() throws {
        let declaration = TweakDeclaration(
            key: TweakKey("A", "B", "C"), type: .double, defaultValue: 1.0, minimum: 0.0, maximum: 10.0,
            attributes: [.init(key: "scale", value: "log"), .init(key: "unit", value: "m")])
        #expect(
            try roundTrip(JSONTweak(declaration)).declaration.attributes == [.init(key: "unit", value: "m")])
    }

    @Test func `Choices survive encoding with their labels`() throws {
        let declaration = TweakDeclaration(
            key: TweakKey("Sound", "Mixer", "Rate"), type: .int32, defaultValue: 48000,
            choices: [TweakChoice(44100), TweakChoice(48000, label: "DVD")])
        #expect(try roundTrip(JSONTweak(declaration)).declaration == declaration)
    }

    @Test func `An action has no value`() throws {
        let action = TweakDeclaration(key: TweakKey("A", "B", "C"), type: .action, defaultValue: .nothing)
        let tweak = JSONTweak(action, value: .nothing, source: "default")
        #expect(try roundTrip(tweak) == tweak)
    }
}
