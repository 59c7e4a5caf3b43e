// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `Overrides between processes` {
    private let program: SetterProgram
    private let defaults = "false 5 0.5 hello\n"

    init() throws { program = try SetterProgram() }

    @Test func `The next run has the values of the last one before main`() throws {
        #expect(try program.setter("show").output == defaults)
        for (name, value) in [("Flag", "true"), ("Count", "6"), ("Ratio", "0.25"), ("Text", "bye")] {
            let result = try program.setter("set", "Setter/Values/\(name)", value)
            #expect(result.succeeded && result.error.isEmpty)
        }
        #expect(try program.setter("show").output == "true 6 0.25 bye\n")
    }

    @Test func `A program without overrides writes nothing`() throws {
        #expect(try program.setter("show").succeeded)
        #expect(try FileManager.default.contentsOfDirectory(atPath: program.home.path).isEmpty)
    }

    @Test func `The program has the values that the command sets`() throws {
        #expect(try program.tweak("set", "Setter/Values/Count", "7").succeeded)
        #expect(try program.setter("show").output == "false 7 0.5 hello\n")
    }

    @Test func `The program loses the values that the command resets`() throws {
        #expect(try program.setter("set", "Setter/Values/Count", "6").succeeded)
        #expect(try program.tweak("reset", "Setter/Values/Count").succeeded)
        #expect(try program.setter("show").output == defaults)
    }

    @Test func `Eight processes that set concurrently lose nothing`() throws {
        let processes = try (0..<8).map { slot in
            try start(
                SetterProgram.path, ["count", "Setter/Slots/Slot \(slot)", "1", "1000"], home: program.home)
        }
        for process in processes {
            let result = process.wait()
            #expect(result.succeeded && result.error.isEmpty)
        }
        let expected = Dictionary(uniqueKeysWithValues: (0..<8).map { ("Slot \($0)", 1000) })
        #expect(try program.overrides() == ["Setter": ["Slots": expected]])
    }

    @Test func `A read-only directory is reported once and the program continues`() throws {
        let blocked = try program.home.write("file", "")
        let result = try program.setter(
            "count", "Setter/Values/Count", "1", "1000", environment: ["XDG_CONFIG_HOME": blocked])
        #expect(result.status == 0)
        #expect(result.errorLines.count <= 2)
        #expect(result.errorLines.filter { $0.contains("cannot make directory") }.count == 1)
    }

    @Test func `A full file system is reported once and the program continues`() throws {
        let result = try program.setter(
            "count", "Setter/Values/Count", "1", "1000", environment: ["XDG_CONFIG_HOME": "/proc"])
        #expect(result.status == 0)
        #expect(result.errorLines.count == 1)
    }

    @Test func `Without a home directory the program continues and reports it once`() throws {
        let result = try program.setter(
            "count", "Setter/Values/Count", "1", "10", environment: ["XDG_CONFIG_HOME": "", "HOME": ""])
        #expect(result.status == 0)
        #expect(result.errorLines.count == 1)
        #expect(result.error.contains("neither XDG_CONFIG_HOME nor HOME is set to an absolute path"))
    }

    @Test func `A relative XDG_CONFIG_HOME is ignored`() throws {
        let result = try program.setter(
            "set", "Setter/Values/Count", "6", environment: ["XDG_CONFIG_HOME": "relative"])
        #expect(result.succeeded)
        #expect(
            FileManager.default.fileExists(
                atPath: program.home(".config/tweaks/tweak-setter/overrides.json")))
    }
}

@Suite struct `Something else in place of the overrides file` {
    enum Intruder: String, CaseIterable, CustomTestStringConvertible {
        case randomBytes = "random bytes"
        case empty = "an empty file"
        case truncated = "truncated JSON"
        case huge = "100 MB"
        case directory = "a directory"

        var testDescription: String { rawValue }

        func create(at path: String) throws {
            let manager = FileManager.default
            switch self {
            case .randomBytes:
                try Data((0..<1000).map { _ in UInt8.random(in: 0...255) }).write(
                    to: URL(fileURLWithPath: path))
            case .empty:
                try Data().write(to: URL(fileURLWithPath: path))
            case .truncated:
                try Data(#"{"Setter": {"Values": {"Count": 7"#.utf8).write(to: URL(fileURLWithPath: path))
            case .huge:
                // All zeros, which take no space on disk.
                try #require(manager.createFile(atPath: path, contents: nil))
                try #require(truncate(path, 100_000_000) == 0)
            case .directory:
                try manager.createDirectory(atPath: path, withIntermediateDirectories: true)
                try Data("inside".utf8).write(to: URL(fileURLWithPath: path + "/inside"))
            }
        }
    }

    @Test(arguments: Intruder.allCases)
    func `The program starts with its defaults and one message, and its set keeps it under another name`(
        intruder: Intruder
    )
        throws
    {
        let program = try SetterProgram()
        try FileManager.default.createDirectory(
            atPath: program.home("config/tweaks/tweak-setter"), withIntermediateDirectories: true)
        try intruder.create(at: program.overridesPath)
        let original = program.home("original")
        if intruder != .directory {
            try FileManager.default.copyItem(atPath: program.overridesPath, toPath: original)
        } else {
            try intruder.create(at: original)
        }

        let shown = try program.setter("show")
        #expect(shown.status == 0)
        #expect(shown.output == "false 5 0.5 hello\n")
        #expect(shown.errorLines.count == 1)
        #expect(shown.error.contains("\(program.overridesPath): "))
        #expect(FileManager.default.contentsEqual(atPath: program.overridesPath, andPath: original))

        let set = try program.setter("set", "Setter/Values/Count", "6")
        #expect(set.succeeded && set.errorLines.count == 2)
        #expect(set.error.contains("it is now \(program.overridesPath).broken\n"))
        #expect(
            FileManager.default.contentsEqual(atPath: program.overridesPath + ".broken", andPath: original))
        #expect(try program.setter("show").output == "false 6 0.5 hello\n")
        #expect(try program.names() == ["overrides.json", "overrides.json.broken", "overrides.json.lock"])
    }
}
