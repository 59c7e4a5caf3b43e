// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakJSON

@testable import Tweaks

/// A file of overrides that somebody breaks.
@Suite struct `Overrides that break while the program runs` {
    private let controlled: ControlledTweaks
    private let client: ControlClient
    private static let others = #""Count": 6, "Text": "bye", "Older": [1]"#

    init() throws {
        controlled = try ControlledTweaks(
            SyntheticTweaks(.integer("Count", 5, 0...1000), .string("Text", "hello"), .double("Ratio", 0.5)))
        client = try controlled.connect()
    }

    private static func json(_ values: String) -> String {
        #"{"Test": {"Values": {\#(values)}}, "note": "mine"}"#
    }

    private func write(_ text: String) throws { try controlled.home.write("overrides.json", text) }

    private func content(_ name: String = "overrides.json") throws -> JSONValue {
        try JSONParser.value(of: Array(Data(contentsOf: URL(fileURLWithPath: controlled.home(name)))))
    }

    /// Sets a tweak, and returns the warnings in the answer.
    private func set(_ value: Double) throws -> [[String: Any]] {
        let answer = try client.request("set", ["tweak": "Test/Values/Ratio", "value": value])
        #expect(answer.errorCode == nil && answer.result["value"] as? Double == value)
        return answer.result["warnings"] as? [[String: Any]] ?? []
    }

    @Test(arguments: [
        "", "\0\0\0\0", "{", #"{"Test": {"Values": {"Count": 6 "Text": "bye"}}}"#,
        #"{"Test": {"Values": {"Count": 6,}}}"#, #"{"Test": {"Values": {"Count": 06}}}"#, #"{'Test': {}}"#,
        #"{"Test": {"Values": {"Count": 6}}}}"#, #"{"Test": {"Values": {"Count": 6}}, "Test": 5}"#, "[]",
        "{\n<<<<<<< ours\n\"Test\": {}\n=======\n\"Other\": {}\n>>>>>>> theirs\n}\n",
        "// mine\n{}",
    ])
    func `A set writes what the program has with the change, keeps the broken file, and says so`(
        broken: String
    )
        throws
    {
        try write(Self.json(Self.others))
        let file = controlled.keepOverrides()
        try write(broken)
        controlled.store.reload(file, try #require(controlled.store.writer), isComplete: true)
        let warnings = try set(0.75)
        #expect(warnings.map { $0["kind"] as? String } == ["brokenOverrides"])
        #expect(warnings.first?["path"] as? String == file.path)
        let aside = try #require(warnings.first?["keptAs"] as? String)
        #expect(try String(contentsOfFile: aside, encoding: .utf8) == broken)
        #expect((warnings.first?["message"] as? String)?.contains(file.path) == true)
        let whole = try JSONParser.value(of: Array(Self.json(Self.others + #", "Ratio": 0.75"#).utf8))
        #expect(try content() == whole)
        #expect(controlled.tweaks.cell(0, as: Int32.self) == 6)
        #expect(controlled.tweaks.text(1) == "bye")
        // It is told once.
        #expect(try set(0.25).isEmpty)
    }

    @Test func `What the program has is what it last read or wrote`() throws {
        let file = controlled.keepOverrides()
        let writer = try #require(controlled.store.writer)
        try write(Self.json(#""Text": "edited""#))
        controlled.store.reload(file, writer, isComplete: true)
        _ = try set(0.75)
        controlled.store.flush()
        try write("bad")
        _ = try client.request("set", ["tweak": ControlledTweaks.count, "value": 7])
        controlled.store.flush()
        #expect(
            try content()
                == JSONParser.value(
                    of: Array(Self.json(#""Text": "edited", "Ratio": 0.75, "Count": 7"#).utf8)))
        // A file that was removed has nothing.
        try FileManager.default.removeItem(atPath: file.path)
        controlled.store.reload(file, writer, isComplete: true)
        try write("bad")
        _ = try set(0.125)
        controlled.store.flush()
        #expect(
            try content()
                == JSONParser.value(of: Array(#"{"Test": {"Values": {"Ratio": 0.125}}}"#.utf8)))
    }

    @Test func `A client that was answered before the write is not the only one to hear of it`() throws {
        try write(Self.json(Self.others))
        _ = controlled.keepOverrides()
        _ = try set(0.75)
        try write("bad")
        // Perhaps answered in the pause after the first write.
        let early = try set(0.25)
        controlled.store.flush()
        let late = try set(0.125)
        #expect((early + late).map { $0["kind"] as? String } == ["brokenOverrides"])
    }

    @Test func `A request that fails takes no warning from another one`() throws {
        try write(Self.json(Self.others))
        _ = controlled.keepOverrides()
        try write("bad")
        try controlled.store.set(0.75, for: .test("Ratio"))
        controlled.store.flush()
        #expect(try client.request("set", ["tweak": "Test/Values/Ratio", "text": "many"]).errorCode != nil)
        #expect(try set(0.25).count == 1)
    }

    @Test func `A program that starts with a broken file leaves it until something is set`() throws {
        try write("bad")
        let file = controlled.keepOverrides()
        #expect(try String(contentsOfFile: file.path, encoding: .utf8) == "bad")
        #expect(controlled.tweaks.messages.all.count == 1)
        #expect(
            controlled.tweaks.messages.all.first?.hasPrefix("\(file.path): it is not JSON: line 1, ") == true)
        // The same file again is not reported again.
        let writer = try #require(controlled.store.writer)
        controlled.store.reload(file, writer, isComplete: true)
        #expect(controlled.tweaks.messages.all.count == 1)
        // It is followed when it is mended.
        try write(Self.json(Self.others))
        controlled.store.reload(file, writer, isComplete: true)
        #expect(controlled.tweaks.cell(0, as: Int32.self) == 6)
        #expect(try set(0.75).isEmpty)
    }
}
