import Foundation
import Glibc
import TestSupport
import Testing
import TweakMemory
import TweakRecords

/// A process of a program in C without the library, which ends with the test.
private final class Subject {
    let home: TemporaryDirectory
    let process: RunningCommand

    private static let source = #"""
        #include <fbtweak.h>
        #include <stdio.h>
        #include <unistd.h>
        static float number(void) { return FBTweakValue("A", "B", "Float", 0.1f); }
        static const char *text(void) { return FBTweakValue("A", "B", "Text", "one", FBTweakChoices("one", "two")); }
        static uint8_t byte(void) { return FBTweakValue("A", "B", "Byte", (uint8_t)200); }
        int main(int argc, char **argv) {
          printf("%g %s %d\n", number(), text(), byte());
          fflush(stdout);
          while (access("next", F_OK) != 0)
            usleep(1000);
          execl("/bin/sleep", "sleep", "60", (char *)0);
        }

        """#

    init() throws {
        home = try TemporaryDirectory()
        let file = try home.write("subject.c", Self.source)
        try Compiler.gcc.compile([file], to: home("subject"), ["-DDEBUG", "-static"], home: home)
        process = try start(home("subject"), home: home, in: home.path)
        #expect(waitUntil { !process.written.output.isEmpty })
    }

    deinit { process.kill() }

    func tweaks() throws -> MemoryTweaks {
        try MemoryTweaks(in: ProcessMemory(pid: process.processID), executable: home("subject"))
    }

    static let keys = ["Float", "Text", "Byte"].map { TweakKey("A", "B", $0) }
}

@Suite struct `The memory of a process` {
    @Test func `is sampled, value for value`() throws {
        let subject = try Subject()
        let tweaks = try subject.tweaks()
        let sampler = try #require(tweaks.sampler(for: Subject.keys))
        #expect(sampler.declarations.map(\.key) == Subject.keys)
        #expect(try sampler.read() == [0.1, "one", 200])
        try tweaks.set([Subject.keys[0]: 2.5, Subject.keys[1]: "two", Subject.keys[2]: 7])
        #expect(try sampler.read() == [2.5, "two", 7])
        var words: [UInt64] = []
        try sampler.readBits(into: &words)
        #expect(words.count == 3)
        #expect(withUnsafeBytes(of: words[0]) { $0.load(as: Float.self) } == 2.5)
        #expect(withUnsafeBytes(of: words[2]) { $0.load(as: UInt8.self) } == 7)
        #expect(try subject.tweaks().tweak(Subject.keys[1])?.value == "two")
        #expect(tweaks.sampler(for: [TweakKey("A", "B", "C")]) == nil)
    }

    @Test func `is not written when another program runs in it`() throws {
        let subject = try Subject()
        let tweaks = try subject.tweaks()
        let sampler = try #require(tweaks.sampler(for: Subject.keys))
        try subject.home.write("next", "")
        let comm = "/proc/\(subject.process.processID)/comm"
        #expect(waitUntil { (try? String(contentsOfFile: comm, encoding: .utf8)) == "sleep\n" })
        #expect(throws: MemoryError.replaced) { try tweaks.set([Subject.keys[2]: 7]) }
        #expect(throws: MemoryError.replaced) { try sampler.read() }
    }

    @Test func `is not there when it has ended`() throws {
        let subject = try Subject()
        let tweaks = try subject.tweaks()
        let sampler = try #require(tweaks.sampler(for: Subject.keys))
        subject.process.kill()
        _ = subject.process.wait()
        #expect(throws: MemoryError.ended) { try tweaks.set([Subject.keys[2]: 7]) }
        #expect(throws: MemoryError.ended) { try sampler.read() }
        #expect(throws: MemoryError.ended) { try ProcessMemory(pid: subject.process.processID) }
    }
}
