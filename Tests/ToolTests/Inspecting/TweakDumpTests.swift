// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `tweak-dump` {
    private let home: TemporaryDirectory
    private let object: String
    private let source: String

    init() throws {
        home = try TemporaryDirectory()
        source = try home.write(
            "tweaks.c",
            """
            #include <fbtweak.h>
            #include <stdbool.h>
            int first(void) { return FBTweakValue("Spring", "Physics", "Count", 42, 0, 100); }
            bool second(void) { return FBTweakValue("Spring", "Drawing", "Trail", true); }
            const char *third(void) { return FBTweakValue("Spring", "Physics", "Label", "弹簧"); }
            """)
        object = home("tweaks.o")
        try Compiler.gcc.compile(
            [source], to: object, ["-c", "-DDEBUG", "-fno-toplevel-reorder"], home: home)
    }

    @Test func `The table is grouped by category and collection`() throws {
        let result = try dump([object], home: home)
        #expect(result.status == 0)
        #expect(result.error == "")
        let lines = result.output.split(separator: "\n").map {
            $0.split(separator: " ", omittingEmptySubsequences: true).joined(separator: " ")
        }
        #expect(
            lines == [
                "\(object) (x86_64), declared in \(home.path)", "NAME TYPE DEFAULT LIMITS DECLARED AT",
                "Spring / Drawing", "Trail bool true tweaks.c:4", "Spring / Physics",
                "Count int32 42 0…100 tweaks.c:3", "Label string \"弹簧\" tweaks.c:5",
            ])
    }

    @Test func `The columns of the table are aligned`() throws {
        let lines = try dump([object], home: home).output.split(separator: "\n").map(Array.init)
        let column = try #require(lines[1].firstIndex(of: "T"))
        let rows = lines.filter { $0.starts(with: "    ") }.dropFirst()
        #expect(rows.allSatisfy { $0[column - 1] == " " && $0[column] != " " })
    }

    @Test func `The JSON form has exactly the promised keys`() throws {
        let output = try dump(["--format", "json", object], home: home).output
        let json = try #require(
            try JSONSerialization.jsonObject(with: Data(output.utf8)) as? [String: [[String: Any]]])
        #expect(json.keys.sorted() == ["images"])
        let image = try #require(json["images"]?.first)
        #expect(image.keys.sorted() == ["architecture", "buildID", "path", "tweaks"])
        #expect(image["buildID"] is NSNull)
        let keys = try #require(image["tweaks"] as? [[String: Any]]).map { $0.keys.sorted() }
        let all = ["category", "collection", "default", "location", "name", "tweak", "type"]
        #expect(keys.contains((all + ["maximum", "minimum"]).sorted()))
        #expect(keys.filter { $0 == all }.count == 2)
    }

    @Test func `The JSON form says what the source says`() throws {
        let image = try #require(try dumpedJSON([object]).images.first)
        #expect(image.path == object)
        #expect(
            Set(image.tweaks) == [
                .init(
                    category: "Spring", collection: "Physics", name: "Count", type: "int32",
                    default: .number(42), minimum: .number(0), maximum: .number(100), location: "\(source):3"),
                .init(
                    category: "Spring", collection: "Drawing", name: "Trail", type: "bool",
                    default: .bool(true), location: "\(source):4"),
                .init(
                    category: "Spring", collection: "Physics", name: "Label", type: "string",
                    default: .text("弹簧"), location: "\(source):5"),
            ])
    }

    @Test func `The build id is in lower-case hexadecimal`() throws {
        let library = home("lib.so")
        try Compiler.gcc.compile(
            [source], to: library, ["-shared", "-fPIC", "-Wl,--build-id=0x01ABEF0C"], home: home)
        #expect(try dumpedJSON([library]).images.map(\.buildID) == ["01abef0c"])
    }

    @Test func `A file without tweaks is not an error`() throws {
        let plain = home("plain.o")
        try Compiler.gcc.compile([source], to: plain, ["-c"], home: home)
        let result = try dump([plain], home: home)
        #expect(result.status == 0)
        #expect(result.output == "\(plain) (x86_64): no tweaks\n")
        #expect(try dumpedJSON([plain]).images.map(\.tweaks) == [[]])
    }

    @Test func `A program that uses the library but was built without DEBUG says so`() throws {
        let (library, program) = (home("libtweaks.so"), home("program"))
        let main = try home.write("main.c", "int main(void) { return 0; }\n")
        try Compiler.gcc.compile(
            [main], to: library, ["-shared", "-fPIC", "-Wl,-soname,libtweaks.so.1"], home: home)
        try Compiler.gcc.compile([main, library], to: program, ["-Wl,--no-as-needed"], home: home)
        let result = try dump([program], home: home)
        #expect(result.status == 0)
        #expect(
            result.output.hasSuffix(
                ": no tweaks; it uses the Tweaks library, but was compiled without DEBUG or FB_TWEAK_ENABLED=1\n"
            ))
    }

    @Test func `A missing file ends with status 66 and one line that names it`() throws {
        let result = try dump([home("missing")], home: home)
        #expect(result.status == 66)
        #expect(result.error == "tweak-dump: \(home("missing")): No such file or directory\n")
        #expect(result.output == "")
    }

    @Test func `What is not an ELF file ends with status 65 and one line that says so`() throws {
        let file = try home.write("text", "no ELF file\n")
        let result = try dump([file], home: home)
        #expect(result.status == 65)
        #expect(result.error.hasPrefix("tweak-dump: \(file): not an ELF file: "))
        #expect(result.error.filter { $0 == "\n" }.count == 1)
    }

    @Test func `A file that is cut off ends with status 65 and one line that says so`() throws {
        let bytes = try Data(contentsOf: URL(fileURLWithPath: object))
        let file = try home.write("cut.o", bytes.prefix(bytes.count / 2))
        let result = try dump([file], home: home)
        #expect(result.status == 65)
        #expect(result.error.hasPrefix("tweak-dump: \(file): broken ELF file: "))
        #expect(result.error.filter { $0 == "\n" }.count == 1)
    }

    @Test func `The other files are shown although one is missing`() throws {
        let result = try dump([home("missing"), object], home: home)
        #expect(result.status == 66)
        #expect(result.output.contains("Trail"))
    }

    @Test(arguments: [[], ["--format", "xml", "file"], ["--no-such-option", "file"]])
    func `A wrong command line ends with status 64`(arguments: [String]) throws {
        let result = try dump(arguments, home: home)
        #expect(result.status == 64)
        #expect(result.error.lowercased().contains("usage: tweak-dump"))
    }

    @Test func `Control characters do not reach the terminal`() throws {
        let evil = try home.write(
            "evil.c",
            #"""
            #include <fbtweak.h>
            const char *text(void) {
              return FBTweakValue("\033[2J", "a\nb", "\xe2\x80\xae" "c\r", "\x07\xc2\x9b");
            }
            """#)
        try Compiler.gcc.compile([evil], to: home("evil\u{1B}.o"), ["-c", "-DDEBUG"], home: home)
        let output = try dump([home("evil\u{1B}.o")], home: home).output
        #expect(output.contains(#"\u{1b}[2J / a\u{a}b"#))
        #expect(output.contains(#"\u{202e}c\u{d}"#))
        #expect(output.contains(#""\u{7}\u{9b}""#))
        #expect(output.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
    }

    @Test func `Control characters in the name of a missing file do not reach the terminal`() throws {
        #expect(
            try dump(["/\u{1B}[2J"], home: home).error
                == "tweak-dump: /\\u{1b}[2J: No such file or directory\n")
    }

    @Test func `A hundred of the system's binaries are read and have no tweaks`() throws {
        let files = try ["/usr/bin", "/usr/lib/x86_64-linux-gnu"].flatMap {
            try Self.binaries(in: $0).prefix(50)
        }
        try #require(files.count == 100)
        let result = try dump(files, home: home)
        #expect(result.status == 0)
        #expect(result.error == "")
        let lines = result.output.split(separator: "\n")
        #expect(lines.count == 100)
        #expect(lines.allSatisfy { $0.hasSuffix(": no tweaks") })
    }

    /// The ELF files of a directory in the order of their names, without the links among them.
    private static func binaries(in directory: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: directory).sorted().map { "\(directory)/\($0)" }
            .filter { path in
                let attributes = try? FileManager.default.attributesOfItem(atPath: path)
                guard attributes?[.type] as? FileAttributeType == .typeRegular,
                    let file = FileHandle(forReadingAtPath: path)
                else { return false }
                defer { try? file.close() }
                return try file.read(upToCount: 4) == Data([0x7F, 0x45, 0x4C, 0x46])
            }
    }
}
