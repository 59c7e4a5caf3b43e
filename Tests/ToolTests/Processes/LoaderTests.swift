// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A shared library with tweaks that is loaded into `tweak-setter` at its start. It prints its tweaks' values when
/// the program ends.
private struct PreloadedLibrary {
    let program: SetterProgram
    var path: String { program.home("library.so") }

    init() throws { program = try SetterProgram() }

    static let source = """
        #include <fbtweak.h>
        #include <stdio.h>

        __attribute__((destructor)) static void show(void) {
          printf("%d %s\\n", FBTweakValue("Library", "Values", "Number", 1),
                 FBTweakValue("Library", "Values", "Text", "initial"));
          printf("%s\\n", BUILD);
          fflush(stdout);
        }

        #if TWEAKS > 2
        int more(void) {
          return FBTweakValue("Library", "More", "A", 11) + FBTweakValue("Library", "More", "B", 12) +
                 FBTweakValue("Library", "More", "C", 13);
        }
        #endif

        #ifdef AT_START
        /* A library is initialised before the executable, and so before the loader looks. */
        __attribute__((constructor)) static void start(void) { AT_START; }
        #endif
        """

    func build(
        to name: String = "library.so", _ build: String = "first", _ flags: [String] = [],
        with others: [String] = []
    ) throws {
        let source = try program.home.write("library.c", Self.source)
        let options = ["-shared", "-fPIC", "-DDEBUG", "-DBUILD=\"\(build)\"", "-Wall", "-Wextra", "-Werror"]
        try Compiler.gcc.compile(
            [source] + others, to: program.home(name), options + flags, home: program.home)
    }

    /// Sets overrides for the library and the program, runs the program, and returns what the library saw.
    func run(setting overrides: String = #""Number": 2, "Text": "set""#) throws -> CommandResult {
        try program.writeOverrides(
            Data("{\"Library\": {\"Values\": {\(overrides)}}, \"Setter\": {\"Values\": {\"Count\": 6}}}".utf8)
        )
        return try program.setter("show", environment: ["LD_PRELOAD": path])
    }
}

private let withOverrides = "false 6 0.5 hello\n2 set\nfirst\n"

@Suite struct `Libraries with tweaks` {
    private let library: PreloadedLibrary

    init() throws { library = try PreloadedLibrary() }

    @Test func `Overrides reach the tweaks of a library`() throws {
        try library.build()
        let result = try library.run()
        #expect(result.output == withOverrides)
        #expect(result.error.isEmpty)
    }

    @Test func `Without overrides a library has its defaults`() throws {
        try library.build()
        #expect(try library.run(setting: "").output == "false 6 0.5 hello\n1 initial\nfirst\n")
    }

    @Test func `A library without a build id is found`() throws {
        try library.build("first", ["-Wl,--build-id=none"])
        #expect(try library.run().output == withOverrides)
    }

    @Test(arguments: [[], ["-Wl,--build-id=none"]])
    func `A library without section headers is found`(flags: [String]) throws {
        try library.build("first", flags)
        try removeSectionHeaders(library.path)
        #expect(try library.run().output == withOverrides)
    }

    @Test(arguments: [[], ["-Wl,--build-id=none"]])
    func `A library whose file is gone is found`(flags: [String]) throws {
        try library.build(
            "first",
            flags + ["-include", "unistd.h", "-DAT_START=unlink(\"\(library.path)\")", "-Wno-unused-result"])
        let result = try library.run()
        #expect(result.output == withOverrides)
        #expect(result.error.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: library.path))
    }

    @Test func `A program without an environment starts`() throws {
        try library.build("first", ["-include", "stdlib.h", "-DAT_START=clearenv()"])
        let result = try library.run()
        #expect(result.status == 0)
        #expect(result.output.hasSuffix("1 initial\nfirst\n"))
    }

    @Test func `A broken record does not keep others from working`() throws {
        // Its size is not a multiple of 8.
        let broken = try library.program.home.write(
            "broken.c",
            """
            __asm__(".pushsection fbtweak,\\"aw\\"\\n.balign 8\\n.4byte 51\\n.byte 1,1,1,0\\n.popsection");
            """)
        try library.build(with: [broken])
        let result = try library.run()
        #expect(result.status == 0)
        #expect(result.output == withOverrides)
        let set = try library.program.setter(
            "set", "Setter/Values/Count", "7", environment: ["LD_PRELOAD": library.path])
        #expect(set.status == 0)
        #expect(set.errorLines.count == 1)
        #expect(set.error.contains("library.so: record at offset"))
        #expect(try library.run().status == 0)
    }

    private func removeSectionHeaders(_ path: String) throws {
        let file = try #require(FileHandle(forUpdatingAtPath: path))
        // e_shoff, then e_shentsize, e_shnum and e_shstrndx of an Elf64_Ehdr.
        for (offset, count) in [(0x28, 8), (0x3A, 6)] as [(UInt64, Int)] {
            try file.seek(toOffset: offset)
            try file.write(contentsOf: Data(count: count))
        }
        try file.close()
    }
}

/// An upgrade puts another build in the place of a library while a program starts.
@Suite struct `Replaced libraries` {
    private let library: PreloadedLibrary

    init() throws { library = try PreloadedLibrary() }

    private func buildReplaced(_ flags: [String]) throws {
        // Its records are elsewhere: before them are others and more code.
        try library.build(to: "second.so", "second", flags + ["-DTWEAKS=3"])
        let replacement = library.program.home("second.so")
        try library.build(
            "first",
            flags + ["-DAT_START=rename(\"\(replacement)\", \"\(library.path)\")", "-Wno-unused-result"])
    }

    @Test(arguments: [[], ["-Wl,--build-id=none"]])
    func `The records of the build that is loaded are found`(flags: [String]) throws {
        try buildReplaced(flags)
        let result = try library.run()
        #expect(result.status == 0)
        #expect(result.output == withOverrides)
        #expect(result.error.isEmpty)
        #expect(!FileManager.default.fileExists(atPath: library.program.home("second.so")))
    }

    @Test(arguments: [[], ["-Wl,--build-id=none"]])
    func `The build that took its place is found at the next start`(flags: [String]) throws {
        try buildReplaced(flags)
        #expect(try library.run().status == 0)
        #expect(try library.run().output == "false 6 0.5 hello\n2 set\nsecond\n")
    }

    @Test func `A file that is no longer a library is harmless`() throws {
        try library.program.home.write("second.so", "not a library")
        let replacement = library.program.home("second.so")
        try library.build(
            "first", ["-DAT_START=rename(\"\(replacement)\", \"\(library.path)\")", "-Wno-unused-result"])
        #expect(try library.run().output == withOverrides)
    }
}
