// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakRecords

private func tweak(
    _ type: TweakType, _ choices: TweakChoice..., attributes: [String] = []
) -> TweakDeclaration {
    TweakDeclaration(
        key: TweakKey("A", "B", "C"), type: type, defaultValue: choices.first?.value ?? 0, choices: choices,
        attributes: attributes.map { .init(key: $0, value: "") })
}

private let level = tweak(.int32, TweakChoice(1, label: "easy"), TweakChoice(2, label: "hard"))
private let face = tweak(.string, TweakChoice("mono"), TweakChoice("sans", label: "Sans Serif"))

@Suite struct `Admitting choices` {
    @Test func `A value among the choices is accepted`() throws {
        #expect(try level.admit(2).value == 2)
        #expect(try level.admit(2.0).value == 2)
        #expect(try face.admit("sans").value == "sans")
        #expect(try face.admit(text: "mono").value == "mono")
    }

    @Test func `Another value is refused and not clamped`() {
        #expect(throws: TweakValueError.notAmongChoices(level, given: "3")) { try level.admit(3) }
        #expect(throws: TweakValueError.notAmongChoices(face, given: "\"serif\"")) {
            try face.admit("serif")
        }
        let bytes = tweak(.uint8, TweakChoice(0), TweakChoice(255))
        #expect(throws: TweakValueError.notAmongChoices(bytes, given: "300")) { try bytes.admit(300) }
    }

    @Test func `A Float is compared as a Float`() throws {
        let tweak = tweak(.float, TweakChoice(0.1), TweakChoice(0.2))
        #expect(try tweak.admit(0.1).value == 0.1)
        #expect(try tweak.admit(0.10000000001).value == 0.1)
        #expect(throws: TweakValueError.self) { try tweak.admit(0.11) }
        #expect(throws: TweakValueError.self) { try tweak.admit(1e300) }
    }

    @Test func `A text is accepted in the form of the choice`() throws {
        let tweak = tweak(.string, TweakChoice("caf\u{E9}"))
        guard case .string(let text) = try tweak.admit("cafe\u{301}").value else { return }
        #expect(Array(text.utf8) == Array("caf\u{E9}".utf8))
    }

    @Test func `A person may type a label`() throws {
        #expect(try level.admit(text: "hard").value == 2)
        #expect(try level.admit(text: "0x2").value == 2)
        #expect(try face.admit(text: "Sans Serif").value == "sans")
        #expect(throws: TweakValueError.self) { try level.admit(text: "harder") }
    }

    @Test func `A label that is another choice's value means that one`() throws {
        let tweak = tweak(.int8, TweakChoice(1, label: "2"), TweakChoice(2, label: "3"))
        #expect(try tweak.admit(text: "2").value == 2)
        #expect(try tweak.admit(text: "3").value == 2)
    }

    @Test func `Programs and files cannot set a label`() {
        #expect(throws: TweakValueError.self) { try face.admit("Sans Serif") }
        #expect(throws: TweakValueError.self) { try level.admit("hard") }
    }

    @Test func `The message lists what is allowed`() {
        #expect(
            TweakValueError.notAmongChoices(level, given: "3").description
                == "A/B/C: 3 is not among the choices; allowed: one of 1 (easy), 2 (hard)")
        #expect(tweak(.int32, TweakChoice(44100), TweakChoice(48000)).allowed == "one of 44100, 48000")
        #expect(face.allowed == #"one of "mono", "sans" (Sans Serif)"#)
    }
}

@Suite struct `Admitting colours` {
    private let accent = tweak(.color)

    @Test func `A colour may be a value, a string of a file or typed`() throws {
        let color = TweakColor(red: 0x33, green: 0x66, blue: 0xCC)
        #expect(try accent.admit(.color(color)).value == .color(color))
        #expect(try accent.admit("#3366CC").value == .color(color))
        #expect(try accent.admit(text: "#36c").value == .color(color))
    }

    @Test(arguments: [0, 1.5, true, "rad", "", .nothing] as [TweakValue])
    func `Anything else is refused`(value: TweakValue) {
        #expect(throws: TweakValueError.self) { try accent.admit(value) }
    }

    @Test(arguments: TweakType.allCases.filter { $0 != .color })
    func `A colour is accepted by no other type`(type: TweakType) {
        #expect(throws: TweakValueError.self) {
            try tweak(type).admit(.color(TweakColor(red: 0, green: 0, blue: 0)))
        }
    }

    @Test func `The message describes the form of a colour`() {
        let error = #expect(throws: TweakValueError.self) { try accent.admit(text: "rad") }
        #expect(
            error?.description
                == "A/B/C: \"rad\" is not a color; allowed: a colour as #rrggbb or #rrggbbaa, or a CSS colour name"
        )
    }
}

@Suite struct `Tweaks that cannot be set` {
    @Test func `A read-only tweak accepts no value`() {
        let tweak = tweak(.int32, TweakChoice(1, label: "one"), attributes: ["read-only"])
        #expect(throws: TweakValueError.readOnly(tweak)) { try tweak.admit(1) }
        #expect(throws: TweakValueError.readOnly(tweak)) { try tweak.admit("x") }
        #expect(throws: TweakValueError.readOnly(tweak)) { try tweak.admit(text: "one") }
        #expect(
            TweakValueError.readOnly(tweak).description == "A/B/C: the tweak is read-only; its value is 1")
    }

    @Test(arguments: [0, "x", true, .nothing] as [TweakValue])
    func `An action accepts no value`(value: TweakValue) {
        let action = tweak(.action)
        #expect(throws: TweakValueError.isAction(action)) { try action.admit(value) }
        #expect(throws: TweakValueError.isAction(action)) { try action.admit(text: "\(value)") }
    }

    @Test func `A tweak that needs a restart can be set`() throws {
        #expect(try tweak(.int32, attributes: ["needs-restart"]).admit(5).value == 5)
    }

    @Test func `A step and a precision restrict nothing`() throws {
        var tweak = tweak(.double, attributes: ["precision"])
        tweak.step = 0.5
        #expect(try tweak.admit(0.123456789).value == 0.123456789)
    }
}
