// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakRecords

@Suite struct `Records with choices` {
    private func record(
        _ type: TweakType, flags: UInt8 = 8, attributes: [String], choices: [[UInt8]] = []
    ) -> RecordBytes {
        var record = RecordBytes(type: type.rawValue, flags: flags, choices: choices)
        record.texts += attributes.map { Array($0.utf8) }
        return record
    }

    @Test func `The example of the format has these bytes`() {
        let parts: [[UInt8]] = [
            [104, 0, 0, 0, 1, 1, 6, 8],  // size, version, kind, uint8, choices
            [2, 0, 0, 0, 0, 0, 0, 0], [2, 0, 0, 0, 0, 0, 0, 0],  // cell, default
            Array(repeating: 0, count: 24),  // no limits, no step
            Array("A\0B\0C\0\0choice=\0label=low\0choice=\0\0\0\0\0\0\0\0".utf8),
            [1, 0, 0, 0, 0, 0, 0, 0], [2, 0, 0, 0, 0, 0, 0, 0],
        ]
        let bytes = parts.flatMap { $0 }
        #expect(
            decode(bytes, .little).tweaks.map(\.declaration.choices) == [
                [TweakChoice(1, label: "low"), TweakChoice(2)]
            ])
    }

    @Test func `The text may end where the choices begin`() {
        var record = record(.int8, attributes: ["choice="], choices: [[7]])
        record.texts.replaceSubrange(0...2, with: ["A", "B", "CD"].map { Array($0.utf8) })
        #expect(record.bytes.count == 48 + 16 + 8)
        let tweak = decode(record.bytes).tweaks.first?.declaration
        #expect(tweak?.choices == [TweakChoice(7)])
        #expect(tweak?.attributes.count == 1)
    }

    @Test func `A string needs no flag`() {
        let record = record(
            .string, flags: 0, attributes: ["choice=mono", "choice=sans", "label=Sans Serif", "choice="])
        #expect(
            decode(record.bytes).tweaks.map(\.declaration.choices) == [
                [TweakChoice("mono"), TweakChoice("sans", label: "Sans Serif"), TweakChoice("")]
            ])
    }

    @Test func `A label belongs to the choice before it`() throws {
        let record = record(
            .string, flags: 0, attributes: ["label=no", "choice=a", "unit=x", "label=no", "choice=b"])
        let choices = [TweakChoice("a"), TweakChoice("b")]
        #expect(decode(record.bytes).tweaks.map(\.declaration.choices) == [choices])
        let key = TweakKey("Category", "Collection", "Name")
        #expect(try decodeKnown(record.bytes, of: key).choices == choices)
    }

    @Test(arguments: [TweakType.int32, .double, .bool, .color])
    func `Without the flag a choice of another type is an attribute like any other`(type: TweakType) {
        let record = record(type, flags: 0, attributes: ["choice=1"])
        #expect(decode(record.bytes).tweaks.map(\.declaration.choices) == [[]])
    }

    @Test(arguments: [TweakType.bool, .string, .color, .action])
    func `The flag is an error for a type that is not a number`(type: TweakType) {
        var record = record(type, attributes: ["choice="], choices: [[1]])
        if type == .action { record.kind = 2 }
        #expect(decode(record.bytes).errors == [.choicesOfType(type, offset: 0)])
    }

    @Test func `The flag without a choice is an error`() {
        #expect(decode(record(.int32, attributes: []).bytes).errors == [.badChoices(offset: 0)])
    }

    @Test(arguments: [1, 2, 40])
    func `Choices without room for their values are an error`(count: Int) {
        let record = record(
            .int64, attributes: Array(repeating: "choice=", count: count),
            choices: Array(repeating: [1], count: count - 1))
        #expect(decode(record.bytes).errors == [.badChoices(offset: 0)])
    }

    @Test(arguments: [TweakType.float, .double])
    func `A choice that is not a number is an error`(type: TweakType) {
        let nan =
            type == .float ? encode(Float.nan.bitPattern, .native) : encode(Double.nan.bitPattern, .native)
        let record = record(type, attributes: ["choice="], choices: [nan])
        #expect(decode(record.bytes).errors == [.badChoices(offset: 0)])
    }

    @Test(arguments: [UInt8(1), 2])
    func `Choices with a limit are an error`(flag: UInt8) {
        let record = record(.int8, flags: 8 | flag, attributes: ["choice="], choices: [[1]])
        #expect(decode(record.bytes).errors == [.badChoices(offset: 0)])
    }

    @Test func `Declarations with different choices conflict`() {
        let first = TweakDeclaration(
            key: TweakKey("A", "B", "C"), type: .int8, defaultValue: 1, choices: [TweakChoice(1)])
        var second = first
        #expect(first.agrees(with: second))
        second.choices.append(TweakChoice(2))
        #expect(!first.agrees(with: second))
    }
}
