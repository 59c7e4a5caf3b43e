// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// What a library says of itself that is not so, for the assembler.
struct ImageLie: Sendable, CustomStringConvertible {
    let description: String
    var source: String
    /// Whether it has no section headers, so that its notes count.
    var isStripped = false
    /// Where the segment with its note is, and how large, if that is not the truth either.
    var segment: (address: UInt64, size: UInt64)?

    /// A note that tells where the records are and where the slot for the library is.
    private static func image(
        _ description: String, start: String = "record", stop: String = "record_end", slot: String = "word",
        isStripped: Bool = false
    ) -> ImageLie {
        let distances = [start, stop, slot].map { ".4byte \($0) - ." }.joined(separator: "\n")
        let note = ".4byte 8, 12, 1\n.asciz \"FBTweak\"\n\(distances)\n"
        return ImageLie(description: description, source: noteSection + note, isStripped: isStripped)
    }

    /// A note that tells where the Tweaks library has its table of functions.
    private static func library(_ description: String, table: String) -> ImageLie {
        let note = ".4byte 8, 4, 2\n.asciz \"FBTweak\"\n.4byte \(table) - .\n"
        return ImageLie(description: description, source: noteSection + note)
    }

    private static let noteSection = ".section .note.fbtweak, \"a\", %note\n.balign 4\n"

    private static func section(_ description: String, flags: String) -> ImageLie {
        ImageLie(
            description: description, source: ".section fbtweak, \"\(flags)\", %progbits\n" + record("evil"))
    }

    /// The addresses that every one of them can name.
    private static let places = """
        .section .note.GNU-stack, "", %progbits
        .data
        .balign 8
        word: .8byte 0, 0
        small_table: .8byte 5, 0, 0, 0
        large_table: .8byte 1 << 62, 0, 0, 0
        short_table: .8byte 400
        \(record("record"))
        .section .rodata
        .balign 8
        constant: .8byte 400, 0, 0, 0
        .section .data.rel.ro, "aw"
        .balign 8
        relocated: .8byte constant, 0, 0, 0
        \(record("protected"))
        .section .tbss, "awT", %nobits
        .balign 8
        local: .8byte 0
        .text
        code: ret

        """

    /// A tweak of the library that has an override.
    private static func record(_ name: String) -> String {
        """
        .balign 8
        \(name): .4byte \(name)_end - \(name)
        .byte 1, 1, 5, 0
        .8byte 7, 7, 0, 0, 0
        .asciz "Evil"
        .asciz "Values"
        .asciz "Number"
        .asciz ""
        .asciz ""
        .balign 8
        \(name)_end:

        """
    }

    static let all: [ImageLie] =
        [
            image("a slot far behind it", slot: ". + 0x7ffffff0"),
            image("a slot far before it", slot: ". - 0x7ffffff0"), image("a slot in its code", slot: "code"),
            image("a slot in a constant", slot: "constant"),
            image("a slot in what is read-only since it was relocated", slot: "relocated"),
            image("a slot at an odd address", slot: "word + 1"),
            image("records in code", start: "code", stop: "code + 64", isStripped: true),
            image(
                "records that end before they begin", start: "record_end", stop: "record", isStripped: true),
            image("records everywhere", start: ". - 0x7ffffff0", stop: ". + 0x7ffffff0", isStripped: true),
            image(
                "records in what is read-only since it was relocated", start: "protected",
                stop: "protected_end", isStripped: true),
            image("records at an odd address", start: "record + 4", stop: "record_end", isStripped: true),
            library("a table far behind it", table: ". + 0x7ffffff0"),
            library("a table far before it", table: ". - 0x7ffffff0"),
            library("a table in its code", table: "code"),
            library("a table in a constant", table: "constant"),
            library("a table in what is read-only since it was relocated", table: "relocated"),
            library("a table at an odd address", table: "small_table + 4"),
            library("a table that is too small", table: "small_table"),
            library("a table that is too large", table: "large_table"),
            section("records for each thread", flags: "awT"),
            section("records that are constant", flags: "a"),
            section("records that are not loaded", flags: ""),
        ] + segments

    /// Notes that are somewhere else than the file says, or nowhere.
    private static let segments = [
        (UInt64(1) << 40, UInt64(64)), (0, 1 << 40), (.max - 63, 64), (1 << 63, .max),
    ].map { address, size in
        var lie = image("notes at \(address), \(size) bytes")
        lie.segment = (address, size)
        return lie
    }

    /// Builds `liar.so`.
    func build(in home: TemporaryDirectory) throws -> String {
        let path = try home.write("liar.s", Self.places + source)
        let library = home("liar.so")
        try Compiler.gcc.compile([path], to: library, ["-shared", "-Wl,-z,now,-z,relro"], home: home)
        var bytes = [UInt8](try Data(contentsOf: URL(fileURLWithPath: library)))
        if isStripped { ForgedELF.removeSectionHeaders(of: &bytes) }
        if let segment {
            for header in stride(from: 64, to: 64 + 56 * Int(bytes[56]), by: 56) where bytes[header] == 4 {
                // p_vaddr, p_filesz and p_memsz of an Elf64_Phdr.
                for (offset, number) in [(16, segment.address), (32, segment.size), (40, segment.size)] {
                    bytes.replaceSubrange(
                        header + offset..<header + offset + 8, with: ForgedELF.little(number))
                }
            }
        }
        try Data(bytes).write(to: URL(fileURLWithPath: library))
        return library
    }
}

@Suite struct `An image that lies about itself` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    /// A program with a tweak, and what it is linked with.
    private func program(_ others: [String]) throws -> String {
        let source = try home.write(
            "main.c",
            """
            #include <fbtweak.h>
            #include <stdio.h>
            #include <unistd.h>
            int main(void) {
              usleep(300000);
              printf("%d\\n", FBTweakValue("Main", "Values", "Number", 1));
              return 0;
            }
            """)
        let program = home("program")
        let flags = ["-DDEBUG", "-Wl,--no-as-needed", "-Wl,-z,now,-z,relro"]
        try Compiler.gcc.compile([source] + others, to: program, flags, home: home)
        let overrides = #"{"Main": {"Values": {"Number": 5}}, "Evil": {"Values": {"Number": 9}}}"#
        try home.write("config/tweaks/program/overrides.json", overrides)
        return program
    }

    @Test(arguments: ImageLie.all)
    func `is harmless with the library, and hides no other tweaks`(lie: ImageLie) throws {
        let result = try run(
            program([lie.build(in: home)]), home: home,
            environment: ["LD_PRELOAD": Installation.path("lib/libtweaks.so.0")])
        #expect(result.status == 0)
        #expect(result.output == "5\n")
        #expect(result.error == "")
    }

    @Test(arguments: ImageLie.all)
    func `is harmless without the library`(lie: ImageLie) throws {
        let result = try run(program([lie.build(in: home)]), home: home)
        #expect(result.status == 0)
        #expect(result.output == "1\n")
    }

    @Test(arguments: ImageLie.all.filter { $0.source.contains(".note.fbtweak") && $0.segment == nil })
    func `is harmless as the executable`(lie: ImageLie) throws {
        _ = try lie.build(in: home)
        let program = try program([home("liar.s")])
        for (preloaded, expected) in [(try Installation.path("lib/libtweaks.so.0"), "5\n"), ("", "1\n")] {
            let result = try run(program, home: home, environment: ["LD_PRELOAD": preloaded])
            #expect(result.status == 0)
            #expect(result.output == expected)
        }
    }
}
