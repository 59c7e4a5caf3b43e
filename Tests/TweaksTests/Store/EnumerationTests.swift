// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakRecords

@testable import Tweaks

private enum Curve: String, CaseIterable, TweakableEnum {
    case linear, easeIn = "ease-in", easeOut = "linear "
    static let calls = Locked(0)
    static var allCases: [Curve] {
        calls.withLock { $0 += 1 }
        // It may use the store.
        _ = TweakStore.shared.categories
        return [.linear, .easeIn, .easeOut]
    }
}
private enum Level: Int, CaseIterable, TweakableEnum { case low = 2, high = 5 }
private struct Angle: TweakableRawRepresentable { var rawValue: Double }

private typealias Function = @convention(c) (UnsafeMutableRawPointer?) -> Void
private let describeCurve: Function = { __describe(Curve.self, to: $0) }
private let describeLevel: Function = { __describe(Level.self, to: $0) }
private let describeAngle: Function = { __describe(Angle.self, to: $0) }

/// The record that a macro writes for the enumeration of a tweak.
private func typeRecord(_ name: String, _ function: Function, defaultCase: String = "") -> [UInt8] {
    var bytes = TweakDeclaration(key: .test(name), type: .action, defaultValue: .string(defaultCase)).record
    bytes[RecordLayout.kindOffset] = RecordLayout.typeKind
    withUnsafeBytes(of: unsafeBitCast(function, to: UInt.self)) {
        bytes.replaceSubrange(RecordLayout.cellOffset..<RecordLayout.defaultOffset, with: $0)
    }
    return bytes
}

/// Tweaks with an enumeration as their type: its cases are what they take.
@Suite struct `Enumerations of the program` {
    private static let curve = TweakKey.test("Curve")
    private static let level = TweakKey.test("Level")
    private static let curves = [
        TweakChoice("linear"), TweakChoice("ease-in", label: "easeIn"),
        TweakChoice("linear ", label: "easeOut"),
    ]

    private func curveTweaks(_ attributes: String..., describing function: Function? = nil) -> SyntheticTweaks
    {
        var record = Record.string("Curve", "easeIn")
        record.attributes = attributes
        return SyntheticTweaks(
            record, followedBy: typeRecord("Curve", function ?? describeCurve, defaultCase: "easeIn"))
    }

    @Test func `The cases are the choices, and the default is the raw value of its case`() throws {
        let tweaks = curveTweaks()
        let declaration = try tweaks.store.status(of: Self.curve).declaration
        #expect(declaration.choices == Self.curves && declaration.defaultValue == "ease-in")
        #expect(tweaks.text(0) == "ease-in")
        #expect(throws: TweakError.self) { try tweaks.store.set("easeIn in", for: Self.curve) }
        try tweaks.store.set("linear", for: Self.curve)
        #expect(tweaks.text(0) == "linear")
        try tweaks.store.reset(Self.curve)
        #expect(try tweaks.store.value(of: Self.curve) == "ease-in")
        #expect(tweaks.messages.all.isEmpty)
    }

    @Test func `Choices in the source leave those of them that are cases, and others are reported`() throws {
        let tweaks = curveTweaks("choice=linear", "choice=easeIn", "choice=bounce")
        let declaration = try tweaks.store.status(of: Self.curve).declaration
        #expect(declaration.choices == Array(Self.curves.prefix(2)))
        #expect(declaration.attributes.filter { $0.key == "choice" }.map(\.value) == ["linear", "ease-in"])
        #expect(tweaks.messages.all.count == 1)
        #expect(tweaks.messages.all.first?.contains("no case \"bounce\"") == true, "\(tweaks.messages.all)")
    }

    @Test func `Choices with other raw values get those of the cases with their names`() throws {
        var record = Record.integer("Level", 1, type: .int64).with(
            "choice=", "label=low", "choice=", "label=high")
        record.choices = [1, 2]
        let tweaks = SyntheticTweaks(
            record, followedBy: typeRecord("Level", describeLevel, defaultCase: "low"))
        let declaration = try tweaks.store.status(of: Self.level).declaration
        #expect(declaration.choices == [TweakChoice(2, label: "low"), TweakChoice(5, label: "high")])
        #expect(declaration.defaultValue == 2 && tweaks.cell(0, as: Int64.self) == 2)
    }

    @Test func `An override that is no case is ignored once the cases are known, and said`() throws {
        let home = try TemporaryDirectory()
        let file = try home.write("overrides.json", #"{"Test": {"Values": {"Curve": "bogus"}}}"#)
        let tweaks = curveTweaks()
        tweaks.store.keepOverrides(in: OverridesFile(path: file))
        let status = try tweaks.store.status(of: Self.curve)
        #expect(status.value == "ease-in" && status.source == .binary)
        #expect(tweaks.text(0) == "ease-in")
        #expect(tweaks.messages.all.contains { $0.contains("\"bogus\" is not among the choices") })
    }

    @Test func `A type without cases, or of another type than the record, changes nothing`() throws {
        for function in [describeAngle, describeLevel] {
            let tweaks = curveTweaks(describing: function)
            let declaration = try tweaks.store.status(of: Self.curve).declaration
            #expect(declaration.choices.isEmpty && declaration.defaultValue == "easeIn")
        }
    }

    @Test func `The first client finds the cases`() throws {
        let controlled = try ControlledTweaks(curveTweaks())
        let client = try controlled.connect()
        let answer = try client.request("set", ["tweak": "Test/Values/Curve", "value": "easy"])
        #expect(answer.errorCode != nil)
        let got = try client.request("get", ["tweak": "Test/Values/Curve"]).result
        #expect(got["value"] as? String == "ease-in" && (got["choices"] as? [Any])?.count == 3)
    }

    @Test func `Threads that ask at the same time all find the cases`() async throws {
        for _ in 1...20 {
            let tweaks = curveTweaks()
            let counts = await withTaskGroup(of: Int.self, returning: [Int].self) { group in
                for _ in 1...8 {
                    group.addTask {
                        (try? tweaks.store.status(of: Self.curve).declaration.choices.count) ?? 0
                    }
                }
                return await group.reduce(into: []) { $0.append($1) }
            }
            #expect(counts == Array(repeating: 3, count: 8))
        }
    }
}
