// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `Commands take their arguments from where they are` {
    @Test(arguments: ["tweak", "tweak-dump", "tweak-agent", "tweak-ui"])
    func `after a library has set a variable before they begin`(command: String) throws {
        let home = try TemporaryDirectory()
        // As libfaketime does.
        let source = try home.write(
            "early.c",
            """
            #include <stdlib.h>
            __attribute__((constructor)) static void set(void) { setenv("EARLY", "1", 1); }
            """)
        let library = home("libearly.so")
        try Compiler.gcc.compile([source], to: library, ["-shared", "-fPIC"], home: home)
        let result = try run(
            Locations.product(command), ["--version"], home: home, environment: ["LD_PRELOAD": library])
        #expect(result.output.hasPrefix("\(command) "))
        #expect(result.error.isEmpty)
        #expect(result.status == 0)
    }

    /// A folder with a program, both named in Latin-1, and that folder's path.
    private func program(in home: TemporaryDirectory, _ source: String) throws -> [UInt8] {
        let built = home("built")
        try Compiler.gcc.compile([home.write("program.c", source)], to: built, ["-DDEBUG"], home: home)
        let folder = Array(home("").utf8) + [UInt8(ascii: "/"), 0xF6]
        let path = folder + [UInt8(ascii: "/"), UInt8(ascii: "f"), 0xFF]
        func string(_ bytes: [UInt8]) -> [CChar] { bytes.map { CChar(bitPattern: $0) } + [0] }
        try #require(mkdir(string(folder), 0o700) == 0 && rename(built, string(path)) == 0)
        return path
    }

    /// Runs commands of a shell in a folder with a program whose path is not UTF-8: `$1` has the commands, `$2` the path.
    private func runWithProgram(_ commands: String) throws -> CommandResult {
        let home = try TemporaryDirectory()
        _ = try program(
            in: home,
            """
            #include <fbtweak.h>
            int main(void) { return FBTweakValue("A", "B", "C", 1); }
            """)
        return try run(
            "/bin/sh",
            [
                "-euc", "path=$(printf '%s/\\366/f\\377' \"$2\"); PATH=$1:$PATH\n\(commands)", "sh",
                Locations.commands, home.path,
            ], home: home)
    }

    @Test func `and paths as they are, in tweak-dump`() throws {
        let result = try runWithProgram(
            """
            tweak-dump "$path" | grep -c '^ *C .*int32'
            tweak-dump --recursive "${path%/*}" | grep -c '^ *C .*int32'
            tweak-dump "$path-missing" || echo $?
            """)
        #expect(result.lines == ["1", "1", "66"], "\(result.error)")
        #expect(result.error.contains("/\\xf6/f\\xff-missing: No such file"))
    }

    @Test func `and paths as they are, in tweak`() throws {
        let result = try runWithProgram(
            """
            tweak get "$path" A/B/C
            tweak set "$path" C 6 >/dev/null
            tweak get "$path" C
            cd "${path%/*}"
            tweak get "./${path##*/}" C
            """)
        #expect(result.lines == ["1", "6", "6"], "\(result.error)")
    }

    @Test func `and a value is text`() throws {
        let result = try runWithProgram(
            """
            cd "$2"
            cat >text.c <<END
            #include <fbtweak.h>
            int main(void) { return FBTweakValue("A", "B", "T", "x")[0]; }
            END
            gcc -DDEBUG -I "\(Locations.include)" -o text text.c
            tweak set ./text T "$(printf 'a\\377')" >/dev/null
            tweak get ./text T
            """)
        #expect(result.lines == ["a\\u{fffd}"], "\(result.error)")
    }
}
