// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakJSON

@testable import Tweaks

@Suite struct `Writing in the background` {
    private let home: TemporaryDirectory
    private let file: OverridesFile

    init() throws {
        home = try TemporaryDirectory()
        file = OverridesFile(path: home("overrides.json"))
    }

    private var inode: UInt64 { FileStatus(file.path)?.inode ?? 0 }

    @Test func `A change is written without a flush`() throws {
        let writer = OverridesWriter(file: file) { _ in }
        writer.enqueue(1, for: .test("Count"))
        while try file.load()[.test("Count")] == nil { usleep(1000) }
    }

    @Test func `A later change is written too`() throws {
        let writer = OverridesWriter(file: file) { _ in }
        for number in 1...3 {
            writer.enqueue(.integer(Int128(number)), for: .test("Count"))
            while try file.load()[.test("Count")] != .scalar(.integer(Int128(number))) { usleep(1000) }
        }
    }

    @Test func `A flush writes everything`() throws {
        let writer = OverridesWriter(file: file) { _ in }
        for number in 1...1000 { writer.enqueue(.integer(Int128(number)), for: .test("\(number % 10)")) }
        #expect(writer.flush())
        let document = try file.load()
        for number in 0..<10 {
            #expect(
                document[.test("\(number)")] == .scalar(.integer(Int128(number == 0 ? 1000 : 990 + number))))
        }
    }

    @Test func `Changes during a write become one write`() throws {
        let lock = open(file.path + ".lock", O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
        try #require(lock >= 0 && flock(lock, LOCK_EX) == 0)
        let writer = OverridesWriter(file: file) { _ in }
        for number in 1...1000 { writer.enqueue(.integer(Int128(number)), for: .test("Count")) }
        #expect(inode == 0)
        close(lock)
        // One for the change that started the writer at most, and one for all others.
        var inodes: Set<UInt64> = []
        while try file.load()[.test("Count")] != .scalar(1000) {
            inodes.insert(inode)
        }
        inodes.insert(inode)
        #expect(inodes.subtracting([0]).count <= 2)
    }

    @Test func `A store flushes`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5))
        tweaks.store.keepOverrides(in: file)
        try tweaks.store.set(6, for: .test("Count"))
        tweaks.store.flush()
        #expect(try file.load()[.test("Count")] == .scalar(6))
    }

    @Test func `Setting the current value saves it, and notifies nobody`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5))
        tweaks.store.keepOverrides(in: file)
        let observation = tweaks.store.observe(didChange: { _ in Issue.record("told of no change") })
        try tweaks.store.set(5, for: .test("Count"))
        tweaks.store.flush()
        observation.cancel()
        #expect(try file.load()[.test("Count")] == .scalar(5))
        #expect(try tweaks.store.status(of: .test("Count")).source == .overrides)
    }

    @Test func `Setting the current override, or a reset without one, writes nothing`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5), .integer("Other", 5))
        try home.write("overrides.json", #"{"Test": {"Values": {"Count": 6}}}"#)
        tweaks.store.keepOverrides(in: file)
        try FileManager.default.removeItem(atPath: file.path)
        try tweaks.store.set(6, for: .test("Count"))
        try tweaks.store.reset(.test("Other"))
        tweaks.store.flush()
        #expect(try FileManager.default.contentsOfDirectory(atPath: home.path).isEmpty)
    }

    @Test func `A reset removes the override from the file`() throws {
        try home.write("overrides.json", #"{"Test": {"Values": {"Count": 5, "Unknown": 1}}}"#)
        let tweaks = SyntheticTweaks(.integer("Count", 5))
        tweaks.store.keepOverrides(in: file)
        // Although the override is the default.
        try tweaks.store.reset(.test("Count"))
        tweaks.store.flush()
        #expect(try file.load().keys == [.test("Unknown")])
    }

    @Test func `A reset removes an invalid override`() throws {
        try home.write("overrides.json", #"{"Test": {"Values": {"Count": "many"}}}"#)
        let tweaks = SyntheticTweaks(.integer("Count", 5))
        tweaks.store.keepOverrides(in: file)
        try tweaks.store.reset(.test("Count"))
        tweaks.store.flush()
        #expect(try file.load().isEmpty)
    }
}

@Suite struct `Writes that fail` {
    private let home: TemporaryDirectory
    /// Below what is a file at first.
    private let file: OverridesFile

    init() throws {
        home = try TemporaryDirectory()
        file = OverridesFile(path: try home.write("directory", "") + "/overrides.json")
    }

    private func makeWritable() throws { try FileManager.default.removeItem(atPath: home("directory")) }

    @Test func `Failed writes are kept`() throws {
        let writer = OverridesWriter(file: file) { _ in }
        writer.enqueue(1, for: .test("Count"))
        #expect(!writer.flush())
        try makeWritable()
        #expect(writer.flush())
        #expect(try file.load()[.test("Count")] == .scalar(1))
    }

    @Test func `The next change retries the write`() throws {
        let writer = OverridesWriter(file: file) { _ in }
        writer.enqueue(1, for: .test("First"))
        #expect(!writer.flush())
        try makeWritable()
        writer.enqueue(2, for: .test("Second"))
        while (try? file.load())?[.test("Second")] == nil { usleep(1000) }
        #expect(Set(try file.load().keys) == [.test("First"), .test("Second")])
    }

    @Test func `A newer value replaces one that could not be written`() throws {
        let writer = OverridesWriter(file: file) { _ in }
        writer.enqueue(1, for: .test("Count"))
        #expect(!writer.flush())
        writer.enqueue(2, for: .test("Count"))
        try makeWritable()
        #expect(writer.flush())
        #expect(try file.load()[.test("Count")] == .scalar(2))
    }

    @Test func `The failure is reported once and the program continues`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5))
        tweaks.store.keepOverrides(in: file)
        for number in 1...5 {
            try tweaks.store.set(.integer(Int128(number * 10)), for: .test("Count"))
            tweaks.store.flush()
        }
        #expect(tweaks.cell(as: Int32.self) == 50)
        #expect(tweaks.messages.all.filter { $0.contains("cannot open") }.count == 1)
        // Nothing may be left that could be written when the directory is gone.
        try makeWritable()
        tweaks.store.flush()
        #expect(try file.load()[.test("Count")] == .scalar(50))
    }
}
