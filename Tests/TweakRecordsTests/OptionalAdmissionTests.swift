// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakRecords

/// The values that optional tweaks take, and how records have them.
@Suite struct `Values of an optional` {
    private func tweak(
        _ type: TweakType, _ defaultValue: TweakValue = .absent, _ minimum: TweakValue? = nil
    ) -> TweakDeclaration {
        TweakDeclaration(
            key: TweakKey("A", "B", "C"), type: type, defaultValue: defaultValue, minimum: minimum,
            attributes: [TweakDeclaration.Attribute(key: "optional", value: "")])
    }

    @Test(arguments: [
        (TweakType.double, "none", TweakValue.absent), (.double, "NONE", .absent), (.double, "2*3", 6.0),
        (.float, "none", .absent), (.int64, "none", .absent), (.int64, "7", 7), (.bool, "None", .absent),
        (.bool, "on", true), (.string, "none", .absent), (.string, "\\none", "\\none"),
        (.string, "None", "None"),
        (.double, "def", .absent), (.bool, "def", .absent),
    ])
    func `are read from text`(type: TweakType, text: String, value: TweakValue) throws {
        #expect(try tweak(type).admit(text: text).value == value)
    }

    @Test(arguments: [
        (TweakType.double, "nil", "an optional double; allowed: a number, or none"),
        (.double, "x+1", "an optional double; allowed: a number, or none"),
        (
            .int64, "many",
            "an optional int64; allowed: an integer from -9223372036854775807 to 9223372036854775807, or none"
        ),
        (.bool, "toggle", "an optional bool; allowed: true or false, or none"),
    ])
    func `are refused with one sentence`(type: TweakType, text: String, sentence: String) {
        let error = #expect(throws: TweakValueError.self) {
            try tweak(type).admit(text: text, current: .absent)
        }
        #expect(error?.description == "A/B/C: \"\(text)\" is not \(sentence)")
    }

    @Test func `are only those of the types that have a mark for none`() {
        for type in TweakType.allCases {
            let isOptional = [.bool, .int64, .float, .double, .string].contains(type)
            #expect(tweak(type).isOptional == isOptional)
            #expect((TweakValue.emptyCell(type) != nil) == (isOptional && type != .string))
        }
        #expect(throws: TweakValueError.self) { try tweak(.int32, 0).admit(.absent) }
        var monitor = tweak(.double)
        monitor.isMonitor = true
        #expect(!monitor.isOptional)
    }

    @Test(arguments: [TweakType.bool, .int64, .float, .double, .string])
    func `are in a record, with none and without`(type: TweakType) throws {
        let some: TweakValue =
            switch type {
            case .bool: true
            case .string: "\\none"
            case .int64: 7
            default: 0.5
            }
        for value in [.absent, some] {
            let declared = tweak(type, value)
            let record = declared.record
            #expect(record[RecordLayout.kindOffset] == RecordLayout.optionalKind)
            #expect(declared.problem == nil)
            let section = RecordSection(record.span.bytes, byteOrder: .native)
            #expect(section.errors.isEmpty && section.tweaks.map(\.declaration) == [declared])
        }
    }

    @Test func `in a declaration agree only with other optionals, and default to none whatever the limits`() {
        var plain = tweak(.double, 0.5)
        plain.attributes = []
        #expect(!plain.agrees(with: tweak(.double, 0.5)))
        #expect(tweak(.double, .absent, 1.0).problem == nil)
        #expect(tweak(.double, 0.5, 1.0).problem != nil)
    }

    @Test(arguments: ["", "none", "\\none", "\\\\none", "None", "\\", "none\\", "text"])
    func `that are texts are any text`(text: String) {
        guard case .string(let stored) = TweakValue.string(text).inOptional else { return }
        #expect(stored != "none")
        #expect(TweakValue.optionalText(stored) == text)
        #expect(TweakValue.optionalText("none") == nil)
    }
}
