// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakRecords

@Suite struct `Records of monitors` {
    private func record(_ type: TweakType, flags: UInt8 = 0, attributes: [String] = []) -> RecordBytes {
        var record = RecordBytes(type: type.rawValue, kind: 3, flags: flags)
        record.texts += attributes.map { Array($0.utf8) }
        return record
    }

    @Test(arguments: TweakType.allCases) func `A number or a bool is monitored`(type: TweakType) {
        let section = decode(record(type).bytes)
        #expect(section.tweaks.map(\.declaration.isMonitor) == (type.canBeMonitored ? [true] : []))
        #expect(section.errors.isEmpty == type.canBeMonitored)
        #expect(type.canBeMonitored == ![.string, .color, .action].contains(type))
    }

    @Test func `It cannot be set`() throws {
        let monitor = try #require(decode(record(.double).bytes).tweaks.first?.declaration)
        #expect(monitor.isReadOnly)
        #expect(throws: TweakValueError.isMonitor(monitor)) { try monitor.admit(1.5) }
        #expect(throws: TweakValueError.isMonitor(monitor)) { try monitor.admit(text: "1.5") }
    }

    @Test func `States without numbers are 0, 1, 2`() {
        let states = decode(record(.uint8, attributes: ["choice=idle", "unit=x", "choice=busy"]).bytes)
        #expect(
            states.tweaks.map(\.declaration.choices) == [
                [TweakChoice(0, label: "idle"), TweakChoice(1, label: "busy")]
            ])
    }

    @Test func `States can have other numbers`() {
        var record = record(.uint8, flags: 8, attributes: ["choice=", "label=idle", "choice=", "label=busy"])
        record.choices = [[0], [4]]
        #expect(
            decode(record.bytes).tweaks.map(\.declaration.choices) == [
                [TweakChoice(0, label: "idle"), TweakChoice(4, label: "busy")]
            ])
    }

    @Test func `A record made from a declaration decodes to it`() {
        let monitor = TweakDeclaration(
            key: TweakKey("A", "B", "C"), type: .double, defaultValue: 0.0, minimum: 5.0, maximum: 9.0,
            isMonitor: true)
        #expect(decode(monitor.record).tweaks.map(\.declaration) == [monitor])
        #expect(monitor.problem == nil)
    }

    @Test func `It conflicts with a tweak of the same name`() {
        var other = TweakDeclaration(key: TweakKey("A", "B", "C"), type: .int32, defaultValue: 0)
        let tweak = other
        other.isMonitor = true
        #expect(!tweak.agrees(with: other))
    }
}
