// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// What a command line can name besides files.
@Suite struct `Inputs of tweak-dump` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func object(_ name: String) throws -> String {
        try AssembledTweak.object([.integer("Count", 1)], name: name, home: home)
    }

    /// Runs `tweak-dump` in the folder, as a shell does.
    private func shell(_ command: String) throws -> CommandResult {
        try run(
            "/bin/sh", ["-c", command, Locations.product("tweak-dump")], home: home, in: home.path)
    }

    private func titles(_ result: CommandResult) -> [String] {
        result.output.split(separator: "\n").filter { !$0.hasPrefix(" ") }.map(String.init)
    }

    @Test func `A folder is an error without --recursive, which is named`() throws {
        _ = try object("sub/a")
        let result = try shell(#""$0" sub"#)
        #expect(result.status == 65)
        #expect(
            result.error == "tweak-dump: sub: not an ELF file: it is a directory; use --recursive\n")
    }

    @Test func `With --recursive the files below a folder are read in the order of their names`() throws {
        for name in ["sub/b", "sub/a/z", "sub/c"] { _ = try object(name) }
        let result = try shell(#""$0" --recursive sub"#)
        #expect(result.status == 0)
        #expect(result.error.isEmpty)
        #expect(
            titles(result) == ["sub/a/z.o (x86_64)", "sub/b.o (x86_64)", "sub/c.o (x86_64)"])
    }

    @Test func `Without a folder --recursive reads the current one`() throws {
        _ = try object("sub/a")
        #expect(try titles(shell(#""$0" --recursive"#)) == ["sub/a.o (x86_64)"])
    }

    @Test func `A file that is named with --recursive is read too`() throws {
        _ = try object("a")
        #expect(try titles(shell(#""$0" --recursive a.o"#)) == ["a.o (x86_64)"])
    }

    @Test func `Below a folder what is not an ELF file, links and special files are passed over`() throws {
        let file = try object("elsewhere/a")
        try home.write("sub/text", "no ELF file\n")
        try home.write("sub/empty", "")
        try FileManager.default.createSymbolicLink(atPath: home("sub/link"), withDestinationPath: file)
        try FileManager.default.createSymbolicLink(
            atPath: home("sub/folder"), withDestinationPath: home("elsewhere"))
        try FileManager.default.createSymbolicLink(atPath: home("sub/loop"), withDestinationPath: home("sub"))
        try #require(mkfifo(home("sub/fifo"), 0o600) == 0)
        let result = try shell(#""$0" --recursive sub"#)
        #expect(result.status == 0)
        #expect(result.output.isEmpty && result.error.isEmpty)
    }

    @Test func `A folder that is named by a link is read`() throws {
        _ = try object("sub/a")
        try FileManager.default.createSymbolicLink(atPath: home("link"), withDestinationPath: home("sub"))
        #expect(try titles(shell(#""$0" --recursive link"#)) == ["link/a.o (x86_64)"])
    }

    @Test func `A file with several names is read once`() throws {
        let file = try object("sub/a")
        try #require(link(file, home("sub/b.o")) == 0)
        #expect(try titles(shell(#""$0" --recursive sub sub/../sub"#)) == ["sub/a.o (x86_64)"])
    }

    @Test func `Below a folder a broken file is reported and the others are read`() throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: object("sub/b")))
        try home.write("sub/a.o", bytes.prefix(bytes.count / 2))
        let result = try shell(#""$0" --recursive sub"#)
        #expect(result.status == 65)
        #expect(result.error.hasPrefix("tweak-dump: sub/a.o: broken ELF file: "))
        #expect(titles(result) == ["sub/b.o (x86_64)"])
    }

    @Test func `A folder that may not be read is an error, and the others are read`() throws {
        _ = try object("sub/b")
        try FileManager.default.createDirectory(atPath: home("sub/a"), withIntermediateDirectories: false)
        chmod(home("sub/a"), 0)
        defer { chmod(home("sub/a"), 0o700) }
        // Nothing keeps root from reading.
        guard getuid() != 0 else { return }
        let result = try shell(#""$0" --recursive sub"#)
        #expect(result.status == 66)
        #expect(result.error == "tweak-dump: sub/a: Permission denied\n")
        #expect(titles(result) == ["sub/b.o (x86_64)"])
    }

    @Test(arguments: [#"cat a.o | "$0" -"#, #""$0" - <a.o"#, #""$0" /dev/stdin <a.o"#])
    func `Standard input is a file or a pipe`(command: String) throws {
        _ = try object("a")
        let result = try shell(command)
        #expect(result.status == 0, "\(result.error)")
        #expect(
            result.output.hasSuffix(
                " (x86_64)\n" + (try shell(#""$0" a.o"#).output.drop { $0 != "\n" }.dropFirst())))
    }

    @Test func `An archive on standard input has the paths of its members`() throws {
        _ = try object("a")
        let result = try shell(#"ar rcT thin.a a.o; cat thin.a | "$0" -"#)
        #expect(titles(result) == ["standard input(a.o) (x86_64)"])
    }

    @Test(arguments: ["yes", "printf ''", "echo text"])
    func `What is not an ELF file on standard input is an error at once`(command: String) throws {
        let result = try shell(command + #" | "$0" -"#)
        #expect(result.status == 65)
        #expect(result.error.hasPrefix("tweak-dump: standard input: not an ELF file: "))
    }

    @Test func `A closed standard input is an error`() throws {
        let result = try shell(#""$0" - <&-"#)
        #expect(result.status == 66)
        #expect(result.error.hasPrefix("tweak-dump: standard input: "))
    }

    @Test(arguments: ["--lint", "--forbid"])
    func `What is not compiled yet fails a check, also below a folder`(task: String) throws {
        let source = try home.write(
            "a.c", "#include <fbtweak.h>\nint f(void) { return FBTweakValue(\"A\", \"B\", \"C\", 5); }\n")
        try FileManager.default.createDirectory(atPath: home("sub"), withIntermediateDirectories: true)
        for (compiler, flag) in [(Compiler.gcc, "-fno-fat-lto-objects"), (.clang, "-O1")] {
            let object = home("sub/\(compiler).o")
            try compiler.compile([source], to: object, ["-c", "-DDEBUG", "-flto", flag], home: home)
        }
        let result = try shell(#""$0" \#(task) --recursive sub"#)
        #expect(result.status == 65)
        let lines = result.error.split(separator: "\n")
        #expect(lines.count == 2)
        #expect(lines.allSatisfy { $0.contains(".o: not read: not compiled yet: ") })
        #expect(result.output.isEmpty)
    }

    @Test func `A separate debug file has no records, so it fails a check`() throws {
        let source = try home.write(
            "a.c", "#include <fbtweak.h>\nint main(void) { return FBTweakValue(\"A\", \"B\", \"C\", 5); }\n")
        try Compiler.gcc.compile([source], to: home("program"), ["-g", "-DDEBUG"], home: home)
        let result = try shell(
            #"objcopy --only-keep-debug program program.debug && "$0" --forbid program.debug"#)
        #expect(result.status == 65 && result.error.contains("a separate debug file"))
    }

    @Test func `An archive without members is said to have none`() throws {
        try home.write("empty.a", "!<arch>\n")
        let result = try shell(#""$0" empty.a"#)
        #expect(result.output == "empty.a: an archive without members\n" && result.status == 0)
        let check = try shell(#""$0" --forbid empty.a"#)
        #expect(
            check.error == "tweak-dump: empty.a: not read: an archive without members\n" && check.status == 65
        )
    }

    @Test(arguments: ["--lint", "--forbid"])
    func `A check of a folder without ELF files fails`(task: String) throws {
        try home.write("sub/text", "no ELF file\n")
        let result = try shell(#""$0" \#(task) --recursive sub"#)
        #expect(
            result.error == "tweak-dump: nothing was checked: there is no ELF file\n" && result.status == 66)
    }

    @Test func `A separate debug file is passed over, which is said and not an error`() throws {
        let source = try home.write(
            "a.c", "#include <fbtweak.h>\nint main(void) { return FBTweakValue(\"A\", \"B\", \"C\", 5); }\n")
        try Compiler.gcc.compile([source], to: home("program"), ["-g", "-DDEBUG"], home: home)
        let result = try shell(
            #"objcopy --only-keep-debug program program.debug && "$0" program.debug program"#)
        #expect(result.status == 0)
        #expect(
            result.error
                == "tweak-dump: program.debug: skipped: a separate debug file; the tweaks are in the file that it belongs to\n"
        )
        #expect(titles(result).count == 1)
    }

    @Test(arguments: ["zlib", "zlib-gnu"])
    func `Compressed sections do not matter`(kind: String) throws {
        let source = try home.write(
            "a.c", "#include <fbtweak.h>\nint main(void) { return FBTweakValue(\"A\", \"B\", \"C\", 5); }\n")
        try Compiler.gcc.compile([source], to: home("program"), ["-g", "-DDEBUG"], home: home)
        let result = try shell(
            #"objcopy --compress-debug-sections=\#(kind) program; "$0" --format csv program"#)
        #expect(result.status == 0)
        #expect(result.output.split(separator: "\n").count == 2)
    }
}
