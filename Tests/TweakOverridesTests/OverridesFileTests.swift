// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakJSON
import TweakOverrides
import TweakRecords

@Suite struct `The overrides file` {
    private let home: TemporaryDirectory
    private let file: OverridesFile
    private let key = TweakKey("A", "B", "C")

    init() throws {
        home = try TemporaryDirectory()
        file = OverridesFile(path: home("tweaks/program/overrides.json"))
    }

    private func mode(_ path: String) throws -> Int { try status(path).mode }

    private func status(_ path: String) throws -> FileStatus { try #require(FileStatus(path)) }

    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: home("tweaks/program")).sorted() }
    }

    @Test func `A missing file is empty`() throws {
        #expect(try file.load().isEmpty)
        #expect(!FileManager.default.fileExists(atPath: home("tweaks")))
    }

    @Test func `A written value is read back`() throws {
        try file.update([key: 0.1])
        #expect(try file.load()[key] == .scalar(0.1))
    }

    @Test func `Only the user may read it`() throws {
        try file.update([key: 1])
        #expect(try mode(file.path) == 0o600)
        #expect(try mode(home("tweaks")) == 0o700)
        #expect(try mode(home("tweaks/program")) == 0o700)
    }

    @Test func `A write makes the file private`() throws {
        try home.write("tweaks/program/overrides.json", "{}")
        chmod(file.path, 0o644)
        try file.update([key: 1])
        #expect(try mode(file.path) == 0o600)
    }

    @Test func `Only the file and its lock remain`() throws {
        try file.update([key: 1])
        #expect(try names == ["overrides.json", "overrides.json.lock"])
    }

    @Test func `A change preserves the values of others`() throws {
        try file.update([key: 1])
        try file.update([TweakKey("A", "B", "D"): 2])
        try file.update([key: TweakValue?.none])
        let document = try file.load()
        #expect(document.keys == [TweakKey("A", "B", "D")])
    }

    @Test func `Without a change nothing is written`() throws {
        try file.update([key: 1])
        let before = try status(file.path)
        try file.update([key: 1, TweakKey("X", "Y", "Z"): TweakValue?.none])
        let after = try status(file.path)
        // A write replaces the file while the old one is there.
        #expect(before.inode == after.inode)
    }

    @Test func `A write replaces the file and does not change it in place`() throws {
        try file.update([key: 1])
        let reader = try #require(FileHandle(forReadingAtPath: file.path))
        try file.update([key: 2])
        #expect(try OverridesDocument(json: Array(reader.readToEnd() ?? Data()), path: "")[key] == .scalar(1))
        #expect(try file.load()[key] == .scalar(2))
    }

    @Test func `A symbolic link stays, and its target is replaced`() throws {
        let target = try home.write("dotfiles/tweaks.json", #"{"X": {"Y": {"Z": true}}}"#)
        try FileManager.default.createDirectory(
            atPath: home("tweaks/program"), withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(atPath: file.path, withDestinationPath: target)
        try file.update([key: 1])
        #expect(try status(file.path).isLink)
        #expect(try !status(target).isLink)
        #expect(Set(try OverridesFile(path: target).load().keys) == [key, TweakKey("X", "Y", "Z")])
        #expect(try FileManager.default.contentsOfDirectory(atPath: home("dotfiles")) == ["tweaks.json"])
    }

    @Test func `A symbolic link to a file that is not there yet stays`() throws {
        let folder = home("dotfiles")
        try FileManager.default.createDirectory(
            atPath: home("tweaks/program"), withIntermediateDirectories: true)
        for (link, destination) in [(file.path, "../middle"), (home("tweaks/middle"), folder + "/new.json")] {
            try FileManager.default.createSymbolicLink(atPath: link, withDestinationPath: destination)
        }
        #expect(throws: OverridesError.self) { try file.update([key: 1]) }
        #expect(try status(file.path).isLink && status(home("tweaks/middle")).isLink)
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try file.update([key: 1])
        #expect(try status(file.path).isLink && status(home("tweaks/middle")).isLink)
        #expect(try OverridesFile(path: folder + "/new.json").load()[key] == .scalar(1))
    }

    @Test func `The next write removes leftovers of a killed writer`() throws {
        try file.update([key: 1])
        let longer = String(repeating: "x", count: 10_000)
        try home.write("tweaks/program/overrides.json.tmp", "{\"A\": \(longer)")
        try file.update([key: 2])
        #expect(try names == ["overrides.json", "overrides.json.lock"])
        #expect(try file.load()[key] == .scalar(2))
    }

    @Test func `A temporary file that is a link is not followed`() throws {
        let precious = try home.write("precious", "precious")
        try file.update([key: 1])
        try FileManager.default.createSymbolicLink(atPath: file.path + ".tmp", withDestinationPath: precious)
        _ = try? file.update([key: 2])
        try file.update([key: 3])
        #expect(try String(contentsOfFile: precious, encoding: .utf8) == "precious")
        #expect(try file.load()[key] == .scalar(3))
    }

    @Test func `A writer waits for the lock`() throws {
        try file.update([key: 1])
        let lock = open(file.path + ".lock", O_RDWR | O_CLOEXEC)
        try #require(lock >= 0 && flock(lock, LOCK_EX) == 0)
        let (started, finished) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let other = Thread { [file, key] in
            started.signal()
            _ = try? file.update([key: 2])
            finished.signal()
        }
        other.start()
        started.wait()
        // Lost if the other one did not wait and read afterwards.
        try home.write("tweaks/program/overrides.json", #"{"X": {"Y": {"Z": true}}}"#)
        close(lock)
        finished.wait()
        #expect(Set(try file.load().keys) == [key, TweakKey("X", "Y", "Z")])
    }

    @Test func `Concurrent writers lose nothing`() throws {
        DispatchQueue.concurrentPerform(iterations: 8) { thread in
            for number in 1...5 {
                _ = try? file.update([TweakKey("A", "B", "\(thread)"): .integer(Int128(number))])
            }
        }
        let document = try file.load()
        for thread in 0..<8 { #expect(document[TweakKey("A", "B", "\(thread)")] == .scalar(5)) }
    }

    @Test func `Failure to create a directory names it`() throws {
        let below = try home.write("file", "")
        let error = #expect(throws: OverridesError.self) {
            try OverridesFile(path: below + "/tweaks/overrides.json").update([key: 1])
        }
        #expect(error?.description.contains(below + "/tweaks") == true)
    }

    // MARK: - Baked overrides

    private func tweak(_ name: String, _ value: TweakValue) -> (tweak: TweakDeclaration, value: TweakValue) {
        (TweakDeclaration(key: TweakKey("A", "B", name), type: .double, defaultValue: 0.0), value)
    }

    @Test func `A note is about the value that was baked`() throws {
        try file.update([key: 2, TweakKey("A", "B", "D"): 3])
        try file.noteBaked([tweak("C", 2.0), tweak("D", 4.0), tweak("E", 5.0)])
        #expect(try file.load().bakedKeys == [key])
        // Another one leaves it.
        try file.update([TweakKey("A", "B", "D"): 4])
        #expect(try file.load().bakedKeys == [key])
        // It is no override.
        #expect(Set(try file.load().keys) == [key, TweakKey("A", "B", "D")])
    }

    @Test(arguments: [3, nil] as [TweakValue?])
    func `An override that changes has no note any more`(value: TweakValue?) throws {
        try file.update([key: 2])
        try file.noteBaked([tweak("C", 2.0)])
        try file.update([key: 2])
        #expect(try file.load().bakedKeys == [key])
        try file.update([key: value])
        #expect(try file.load().bakedKeys == [])
        try file.update([key: 2])
        #expect(try file.load().bakedKeys == [])
    }

    @Test func `A value that was edited by hand is not the baked one`() throws {
        try file.update([key: 2])
        try file.noteBaked([tweak("C", 2.0)])
        let text = try String(contentsOfFile: file.path, encoding: .utf8)
        try home.write("tweaks/program/overrides.json", text.replacing("\"C\" : 2", with: "\"C\" : 3"))
        #expect(try file.load().bakedKeys == [])
        #expect(try file.load()[key] == .scalar(3))
    }

    @Test func `Notes are apart from a category of that name`() throws {
        let baked = TweakKey("baked", "A", "B")
        try file.update([key: 2, baked: 5])
        try file.noteBaked([tweak("C", 2.0)])
        var document = try file.load()
        #expect(document.bakedKeys == [key] && document[baked] == .scalar(5) && document.count == 2)
        try file.update([baked: TweakValue?.none])
        document = try file.load()
        #expect(document.bakedKeys == [key] && document.keys == [key])
    }

    @Test func `Without a file nothing is noted`() throws {
        try file.noteBaked([tweak("C", 2.0)])
        #expect(!FileManager.default.fileExists(atPath: file.path))
    }
}
