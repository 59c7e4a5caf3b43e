// SPDX-License-Identifier: BSD-3-Clause
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

    /// - Parameters:
    ///   - name: The name of the executable.
    ///   - change: Changes the executable before it starts.
    init(
        named name: String = "subject", _ flags: [String] = ["-static"],
        change: (String) throws -> Void = { _ in }
    ) throws {
        home = try TemporaryDirectory()
        let file = try home.write("subject.c", Self.source)
        try Compiler.gcc.compile([file], to: home(name), ["-DDEBUG"] + flags, home: home)
        try change(home(name))
        process = try start(home(name), home: home, in: home.path)
        #expect(waitUntil { !process.written.output.isEmpty })
    }

    deinit { process.kill() }

    func tweaks() throws -> MemoryTweaks {
        try MemoryTweaks(in: ProcessMemory(pid: process.processID), executable: home("subject"))
    }

    static let keys = ["Float", "Text", "Byte"].map { TweakKey("A", "B", $0) }
}

@Suite struct `The memory of a process` {
    @Test func `of one that has ended is refused, and no descriptor of others is closed`() throws {
        var pid: pid_t = 0
        var words: [UnsafeMutablePointer<CChar>?] = [strdup("true"), nil]
        defer { free(words[0]) }
        try #require(posix_spawn(&pid, "/bin/true", nil, nil, &words, nil) == 0)
        defer { waitpid(pid, nil, 0) }
        // It still has an entry in /proc.
        var information = siginfo_t()
        try #require(waitid(P_PID, id_t(pid), &information, WEXITED | WNOWAIT) == 0)
        let ended = pid
        #expect(throws: MemoryError.self) { _ = try ProcessMemory(pid: ended) }
        #expect(strayCloses(whileRepeating: 20_000) { _ = try? ProcessMemory(pid: ended) } == 0)
    }

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

    @Test(arguments: [["-static"], ["-no-pie"], ["-pie"], ["-static-pie"]])
    func `is found where a tool has moved the program headers to the end of the file`(flags: [String]) throws
    {
        let subject = try Subject(flags) { try moveProgramHeaders(of: $0) }
        #expect(ProcessScan.content(ofFile: subject.home("subject")) == .tweaks)
        let tweaks = try subject.tweaks()
        #expect(tweaks.found.executable != nil && tweaks.all().count == 3)
        try tweaks.set([Subject.keys[2]: 7])
        #expect(try subject.tweaks().tweak(Subject.keys[2])?.value == 7)
    }

    @Test func `is that of a file whose name ends like the kernel's mark of deleted ones`() throws {
        let subject = try Subject(named: "subject (deleted)")
        let path = subject.home("subject (deleted)")
        #expect(ProcessScan.mappedFiles(of: subject.process.processID) == [path])
        #expect(unlink(path) == 0)
        #expect(ProcessScan.mappedFiles(of: subject.process.processID) == [path])
    }

    @Test func `is gone when it has ended`() throws {
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

/// Moves the program headers of a 64-bit executable to the end of its file, and adds one for a segment that loads them,
/// as BOLT and patchelf do.
private func moveProgramHeaders(of path: String) throws {
    var file = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
    func number(at offset: Int, _ size: Int) -> Int {
        file[offset..<offset + size].reversed().reduce(0) { $0 << 8 | Int($1) }
    }
    func bytes(_ number: Int, _ size: Int) -> [UInt8] {
        (0..<size).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
    let (table, count) = (number(at: 32, 8), number(at: 56, 2))
    let places = (0..<count).map { table + 56 * $0 }
    let loaded = places.filter { number(at: $0, 4) == 1 }
    let base = number(at: loaded[0] + 16, 8) - number(at: loaded[0] + 8, 8)
    let end = loaded.map { number(at: $0 + 16, 8) + number(at: $0 + 40, 8) }.max() ?? 0
    let place = (max(file.count, end - base) + 4095) & ~4095
    let size = 56 * (count + 1)
    let position = bytes(place, 8) + bytes(base + place, 8) + bytes(base + place, 8)
    for header in places where number(at: header, 4) == 6 {
        file.replaceSubrange(header + 8..<header + 48, with: position + bytes(size, 8) + bytes(size, 8))
    }
    let headers =
        Array(file[table..<table + 56 * count])
        + (bytes(1, 4) + bytes(4, 4) + position + bytes(size, 8) + bytes(size, 8) + bytes(4096, 8))
    file += [UInt8](repeating: 0, count: place - file.count) + headers
    file.replaceSubrange(table..<table + 56 * count, with: [UInt8](repeating: 0xFF, count: 56 * count))
    file.replaceSubrange(32..<40, with: bytes(place, 8))
    file.replaceSubrange(56..<58, with: bytes(count + 1, 2))
    try Data(file).write(to: URL(fileURLWithPath: path))
    chmod(path, 0o755)
}

/// A process that has mapped one file many times, which says that it has many records.
@Suite struct `Limits of a process` {
    private static let bytes = 400 << 10

    /// An ELF file without code: one segment that is written, and the note that says where its records are.
    private static var file: Data {
        var file = Data([0x7F] + Array("ELF".utf8) + [2, 1, 1, 0] + [UInt8](repeating: 0, count: 8))
        func add<Number: FixedWidthInteger>(_ numbers: Number...) {
            for number in numbers { withUnsafeBytes(of: number.littleEndian) { file.append(contentsOf: $0) } }
        }
        let noteAddress = 64 + 2 * 56
        add(UInt16(3), 62)
        add(UInt32(1))
        add(UInt64(0), 64, 0)
        add(UInt32(0))
        add(UInt16(64), 56, 2, 0, 0, 0)
        for (type, offset, size) in [(UInt32(1), 0, bytes + 4096), (4, noteAddress, 28)] {
            add(type, 6)
            add(UInt64(offset), UInt64(offset), UInt64(offset), UInt64(size), UInt64(size), 4096)
        }
        add(UInt32(8), 8, 1)
        file.append(contentsOf: Array("FBTweak\0".utf8))
        // The distances are from the fields themselves.
        let fields = noteAddress + 20
        add(Int32(4096 - fields), Int32(4096 + bytes - fields - 4))
        file.append(Data(count: bytes + 4096 - file.count))
        return file
    }

    private static let source = #"""
        #include <fcntl.h>
        #include <stdio.h>
        #include <sys/mman.h>
        #include <unistd.h>
        int main(int count, char **arguments) {
          int file = open(arguments[1], O_RDONLY);
          for (int number = 0; number < 60; number++)
            if (mmap(0, 404 << 10, PROT_READ | PROT_WRITE, MAP_PRIVATE, file, 0) == MAP_FAILED)
              return 1;
          puts("mapped");
          fflush(stdout);
          pause();
        }

        """#

    @Test func `applies to all mapped files, and omissions are reported`() throws {
        let home = try TemporaryDirectory()
        try Compiler.gcc.compile([home.write("maps.c", Self.source)], to: home("maps"), home: home)
        let process = try start(home("maps"), [home.write("many.so", Self.file)], home: home)
        defer { process.kill() }
        #expect(waitUntil { !process.written.output.isEmpty })
        let memory = try ProcessMemory(pid: process.processID)
        let found = try MemoryImages(in: memory, executable: home("maps"), mostBytes: 1 << 20)
        #expect(found.images.count == 2)
        #expect(
            found.problems == [
                "\(home("many.so")) and 57 more mapped files are skipped: at most 1 MiB of tweaks are read "
                    + "from a process, for 10 seconds"
            ])
        let none = try MemoryImages(in: memory, executable: home("maps"), mostTime: .zero)
        #expect(none.images.isEmpty && none.problems.count == 1)
    }
}
