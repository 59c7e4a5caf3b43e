// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// How a linker places the notes of a program, among which is the one that says where its tweaks are.
private enum NotePlaces: String, CaseIterable, CustomTestStringConvertible {
    /// Those that are padded to 4 bytes apart from those that are padded to 8.
    case bfd, gold, lld
    /// All together, behind one that is padded to 8, in a segment aligned to 8, and each padded as it is.
    case mold
    /// The same made of what the linker of GNU takes for one that is padded to 8.
    case bfdWithAlignedNote = "bfd with an aligned note"

    /// Builds a program with a tweak, of which only its notes tell where that is.
    func build(in home: TemporaryDirectory) throws -> String {
        let source = try home.write(
            "main.c",
            """
            #include <fbtweak.h>
            #include <stdio.h>
            int main(void) {
              printf("%d ", FBTweakValue("Main", "Values", "Number", 1));
              const fbtweak *handle = fbtweak_find("Main", "Values", "Number");
              printf("%d\\n", (int)fbtweak_read_integer(handle, -1));
              return 0;
            }
            """)
        let object = home("main.o")
        try Compiler.gcc.compile([source], to: object, ["-c", "-DDEBUG"], home: home)
        if self == .bfdWithAlignedNote {
            let result = try run(
                Locations.program("objcopy"), ["--set-section-alignment", ".note.fbtweak=8", object],
                home: home)
            try #require(result.succeeded, "\(result)")
        }
        let linker = self == .bfdWithAlignedNote ? "bfd" : rawValue
        try Compiler.gcc.compile([object], to: home("program"), ["-fuse-ld=\(linker)"], home: home)
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: home("program"))))
        ForgedELF.removeSectionHeaders(of: &bytes)
        try Data(bytes).write(to: URL(fileURLWithPath: home("program")))
        return home("program")
    }

    var testDescription: String { rawValue }
}

@Suite struct `A note padded to 4 bytes after one padded to 8` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    @Test(arguments: NotePlaces.allCases)
    fileprivate func `gives the program its override and its handle`(places: NotePlaces) throws {
        try home.write(
            "config/tweaks/program/overrides.json", #"{"Main": {"Values": {"Number": 5}}}"#)
        let result = try run(
            places.build(in: home), home: home,
            environment: ["LD_PRELOAD": Installation.path("lib/libtweaks.so.0")])
        #expect(result.output == "5 5\n")
        #expect(result.error == "")
    }

    @Test(arguments: NotePlaces.allCases)
    fileprivate func `shows tweak-dump the tweak`(places: NotePlaces) throws {
        let result = try run(
            Installation.path("bin/tweak-dump"), [places.build(in: home)], home: home)
        #expect(result.output.contains("Number"), "\(result)")
        #expect(result.error == "")
    }
}
