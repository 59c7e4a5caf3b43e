// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakJSON

@testable import Tweaks

@Suite struct `Corrupt overrides` {
    private let home: TemporaryDirectory
    private let file: OverridesFile
    private let key = TweakKey("A", "B", "C")

    init() throws {
        home = try TemporaryDirectory()
        file = OverridesFile(path: home("overrides.json"))
    }

    private func content(_ name: String) throws -> String {
        try String(contentsOfFile: home(name), encoding: .utf8)
    }

    @Test func `They are moved aside, with a message that says why and where`() throws {
        try home.write("overrides.json", "bad")
        let (document, problem) = try file.loadSettingAside()
        #expect(document.isEmpty)
        #expect(problem?.hasPrefix(file.path + ": it is not JSON") == true)
        #expect(problem?.hasSuffix("; it is now \(file.path).broken") == true)
        #expect(try content("overrides.json.broken") == "bad")
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }

    @Test func `Files moved aside earlier are kept`() throws {
        for number in 1...3 {
            try home.write("overrides.json", "bad \(number)")
            _ = try file.loadSettingAside()
        }
        #expect(try content("overrides.json.broken") == "bad 1")
        #expect(try content("overrides.json.broken-2") == "bad 2")
        #expect(try content("overrides.json.broken-3") == "bad 3")
    }

    @Test(arguments: [
        "", " ", "bad", "{", #"{"A": {"B": {"D": 1} "E": {}}}"#, #"{"A": {"B": {"D": 1}}, }"#, "\0\0\0\0",
        "[]",
        "<<<<<<< HEAD\n{}\n=======\n{}\n>>>>>>> theirs\n", #"{"A": {"B": {"D": 1}}, "A": 2}"#,
    ])
    func `A writer that does not know what they should be leaves them alone`(text: String) throws {
        try home.write("overrides.json", text)
        let error = #expect(throws: OverridesError.self) { try file.update([key: 1]) }
        guard case .corrupt(file.path, _)? = error else {
            Issue.record("\(String(describing: error))")
            return
        }
        #expect(throws: OverridesError.self) { try file.update([key: nil as TweakValue?]) }
        #expect(try content("overrides.json") == text)
        let names = try FileManager.default.contentsOfDirectory(atPath: home.path).sorted()
        #expect(names == ["overrides.json", "overrides.json.lock"])
    }

    @Test func `A writer that knows what they should be writes that with its change, and keeps them`() throws
    {
        let known = Array(#"{"A": {"B": {"D": 2}}, "note": [1], "baked": {"A/B/D": 2}}"#.utf8)
        try home.write("overrides.json", "bad")
        let (content, warnings) = try file.update([key: 1], ifCorrupt: .replace(known: known))
        let written = try #require(try file.read())
        #expect(content == written)
        #expect(
            try JSONParser.value(of: written)
                == JSONParser.value(
                    of: Array(#"{"A": {"B": {"C": 1, "D": 2}}, "note": [1], "baked": {"A/B/D": 2}}"#.utf8)))
        guard case .replaced(file.path, _, let aside)? = warnings.first, warnings.count == 1 else {
            Issue.record("\(warnings)")
            return
        }
        #expect(aside == file.path + ".broken")
        #expect(try self.content("overrides.json.broken") == "bad")
    }

    @Test func `A link to them stays one, and they are kept beside its target`() throws {
        let target = try home.write("dotfiles/tweaks.json", "bad")
        try #require(symlink("dotfiles/tweaks.json", file.path) == 0)
        _ = try file.update([key: 1], ifCorrupt: .replace(known: nil))
        #expect(FileStatus(file.path)?.isLink == true)
        #expect(try OverridesFile(path: target).load()[key] == .scalar(1))
        #expect(try content("dotfiles/tweaks.json.broken") == "bad")
    }

    @Test func `They keep their name if the new ones cannot be written`() throws {
        try home.write("overrides.json", "bad")
        // Where the temporary file would be.
        try FileManager.default.createDirectory(
            atPath: file.path + ".tmp", withIntermediateDirectories: false)
        #expect(throws: OverridesError.self) {
            try file.update([key: 1], ifCorrupt: .replace(known: nil))
        }
        #expect(try content("overrides.json") == "bad")
        #expect(FileStatus(file.path + ".broken") == nil)
    }

    @Test func `Valid overrides are not moved aside`() throws {
        try home.write("overrides.json", "{}")
        let (_, problem) = try file.loadSettingAside()
        #expect(problem == nil)
        #expect(try content("overrides.json") == "{}")
    }

    @Test func `A file of 16 MiB is read and one byte more is not`() throws {
        let size = KeptFile.largestSize
        let padding = [UInt8](repeating: UInt8(ascii: " "), count: size - 2)
        try home.write("overrides.json", Data(Array("{}".utf8) + padding))
        #expect(try file.load().isEmpty)
        try home.write("overrides.json", Data(Array("{} ".utf8) + padding))
        #expect(
            throws: OverridesError.corrupt(
                path: file.path, reason: "it has \(size + 1) bytes, at most \(size) are read")
        ) { try file.load() }
    }

    /// Overrides with 3 values around the others.
    private func overrides(of count: Int) -> String {
        "{\"A\":{\"B\":{" + (0..<count).map { "\"\($0)\":1" }.joined(separator: ",") + "}}}"
    }

    @Test func `With more than 100,000 values they are moved aside, with a message`() throws {
        let text = overrides(of: mostValuesInFile - 2)
        try home.write("overrides.json", text)
        let (document, problem) = try file.loadSettingAside()
        #expect(document.isEmpty)
        #expect(
            problem
                == "\(file.path): it has more than 100000 values, the maximum that is read; it is now "
                + "\(file.path).broken")
        #expect(try content("overrides.json.broken") == text)
    }

    @Test func `A write never exceeds what can be read`() throws {
        let text = overrides(of: mostValuesInFile - 3)
        try home.write("overrides.json", text)
        #expect(
            throws: OverridesError.system(
                action: "write", path: file.path,
                reason: "afterwards it has more than 100000 values, the maximum that is read")
        ) { try file.update([key: 1]) }
        #expect(try content("overrides.json") == text)
        try home.write("overrides.json", "{}")
        let long = TweakValue.string(String(repeating: "x", count: KeptFile.largestSize))
        #expect(throws: OverridesError.self) { try file.update([key: long]) }
        #expect(try content("overrides.json") == "{}")
    }

    @Test func `A FIFO neither blocks nor is read`() throws {
        try #require(mkfifo(file.path, 0o600) == 0)
        #expect(throws: OverridesError.corrupt(path: file.path, reason: "it is not a regular file")) {
            try file.load()
        }
    }

    @Test func `A path below a file is a system error`() throws {
        let below = OverridesFile(path: try home.write("file", "") + "/overrides.json")
        #expect(
            throws: OverridesError.system(
                action: "read", path: below.path, reason: String(cString: strerror(ENOTDIR)))
        ) { try below.loadSettingAside() }
    }

    @Test func `Random bytes cause an error, never a crash`() throws {
        var generator = SystemRandomNumberGenerator()
        for _ in 1...200 {
            let bytes = (0..<64).map { _ in UInt8.random(in: 0...255, using: &generator) }
            _ = try? OverridesDocument(json: bytes, path: "")
            // More likely to come far in the parser.
            let likely = (0..<64).compactMap { _ in
                "{}[]\",:0e-.t\\u\u{80}".utf8.randomElement(using: &generator)
            }
            _ = try? OverridesDocument(json: Array("{\"a\":".utf8) + likely, path: "")
        }
    }
}
