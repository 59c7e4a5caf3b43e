// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// What the macros put into the section, byte for byte.
@Suite struct `Layout of records` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    /// Prints the bytes of each record behind its name, runs the actions, and binds.
    private static let source = """
        #include <fbtweak.h>
        #include <stdbool.h>
        #include <stdio.h>
        #include <string.h>
        #define VALUE(...) ((void)FBTweakValue("C", "L", __VA_ARGS__))
        static int acted;
        static void act(void) { acted++; }
        FBTweakAction("C", "L", "In file", act, FBTweakDescription("one more"));
        static uint8_t level;
        static const char *text;
        static void use(void) {
          VALUE("Bool", true, FBTweakNeedsRestart, FBTweakReadOnly);
          VALUE("Step", (short)-3, -10, 10, FBTweakUnit("m"), FBTweakStep(2));
          VALUE("Precision", 1.5, FBTweakPrecision(17), FBTweakExpires("2027-01-31"), FBTweakOwner("us"));
          VALUE("Scale", (uint8_t)5, 1, 9, FBTweakScale("log"), FBTweakPair("Level"));
          VALUE("Color", FBTweakRGBA(1, 2, 3, 4));
          VALUE("Choices", 258, FBTweakDescription("d"), FBTweakChoices(257, (258, "two"), -1));
          VALUE("Wide", (uint8_t)2, FBTweakChoices((1, "one"), 2), FBTweakStep(1));
          VALUE("Text", "b", FBTweakChoices(("a", "A"), "b"), FBTweakUnit("m"));
          (void)FBTweakInline("C", "L", "Handle", 1.0f, 0, 2);
          FBTweakBind(level, "C", "L", "Level", 200, 0, 255);
          FBTweakBind(text, "C", "L", "Bound", "bound");
          FBTweakAction("C", "L", "In function", act);
          FBTweakAction("C", "L", "Other", &act);
        #ifdef __BLOCKS__
          FBTweakAction("C", "L", "Block", ^{ acted += 10; });
        #endif
        }
        extern unsigned char __start_fbtweak[], __stop_fbtweak[];
        int main(void) {
          unsigned char *record = __start_fbtweak;
          uint32_t size;
          for (; record < __stop_fbtweak; record += size ? size : 8) {
            memcpy(&size, record, sizeof size);
            if (size == 0) continue;
            if (record[5] == FBTWEAK_KIND_ACTION) {
              union { void *address; void (*call)(void *); } function;
              void *context;
              memcpy(&function, record + 8, sizeof function);
              memcpy(&context, record + 16, sizeof context);
              function.call(context);
              memset(record + 8, 0, 16);
            }
            printf("%s", (char *)record + 52);
            for (uint32_t i = 0; i < size; i++) printf("%s%02x", i % 8 ? "" : " ", record[i]);
            printf("\\n");
            if (strcmp((char *)record + 52, "Level") == 0) record[8] = 7;
          }
          use();
          printf("%d acted, level %d, text %s\\n", acted, level, text);
        }
        """

    /// A record as the page about its format has it: the first 48 bytes as words, then the texts.
    private static func record(
        _ type: UInt64, flags: UInt64 = 0, kind: UInt64 = 1, _ name: String, _ words: [UInt64] = [],
        _ texts: [String] = [""], choices: [UInt64] = [], behind: Int = 0
    ) -> String {
        var bytes: [UInt8] = (["C", "L", name] + texts + [""]).flatMap { text in Array(text.utf8) + [0] }
        bytes += Array(repeating: 0, count: behind)
        bytes += Array(repeating: 0, count: (8 - bytes.count % 8) % 8)
        let size = UInt64(48 + bytes.count + 8 * choices.count)
        let head = [size | 1 << 32 | kind << 40 | type << 48 | flags << 56] + words
        let words = head + Array(repeating: 0, count: 6 - head.count)
        let hex = { (byte: UInt8) in (byte < 16 ? "0" : "") + String(byte, radix: 16) }
        let fixed = { (words: [UInt64]) in
            words.map { word in
                " " + (0..<8).map { hex(UInt8(truncatingIfNeeded: word >> ($0 * 8))) }.joined()
            }
        }
        let text = stride(from: 0, to: bytes.count, by: 8).map { at in
            " " + bytes[at..<at + 8].map(hex).joined()
        }
        return name + (fixed(words) + text + fixed(choices)).joined()
    }

    private static let expected = [
        record(1, "Bool", [1, 1], ["", "needs-restart", "read-only"]),
        record(3, flags: 7, "Step", [0xfffd, 0xfffd, 0xfff6, 10, 2], ["", "unit=m"]),
        record(
            11, "Precision", [(1.5).bitPattern, (1.5).bitPattern],
            ["", "precision=17", "expires=2027-01-31", "owner=us"]),
        record(6, flags: 3, "Scale", [5, 5, 1, 9], ["", "scale=log", "pair=Level"]),
        record(13, "Color", [0x0403_0201, 0x0403_0201]),
        record(
            4, flags: 8, "Choices", [258, 258], ["", "choice=", "choice=", "label=two", "choice=", "doc=d"],
            choices: [257, 258, 0xffff_ffff]),
        record(
            6, flags: 12, "Wide", [2, 2, 0, 0, 1], ["", "choice=", "label=one", "choice="], choices: [1, 2]),
        record(12, "Text", [], ["b", "choice=a", "label=A", "choice=b", "unit=m"], behind: 2),
        record(10, flags: 3, "Handle", [0x3f80_0000, 0x3f80_0000, 0, 0x4000_0000]),
        record(6, flags: 3, "Level", [200, 200, 0, 255]),
        record(12, "Bound", [], ["bound"]),
        record(14, kind: 2, "In file", [], ["", "doc=one more"]),
        record(14, kind: 2, "In function"),
        record(14, kind: 2, "Other"),
    ]

    /// Swift brings what blocks need to run.
    private static let blocks = [
        "-fblocks", "-lBlocksRuntime", "-L\(runtime)", "-Wl,-rpath,\(runtime)",
    ]
    private static let runtime =
        URL(fileURLWithPath: (try? Locations.program("swiftc")) ?? "/").resolvingSymlinksInPath()
        .deletingLastPathComponent().path + "/../lib/swift/linux"

    @Test(arguments: Compiler.present, Language.allCases)
    func `Each use leaves the bytes that the format says`(compiler: Compiler, language: Language) throws {
        let hasBlocks = compiler == .clang
        let flags = ["-DDEBUG", "-DFB_TWEAK_LOCATIONS=0", language == .c ? "-std=c11" : "-std=c++17"]
        let source = try home.write("layout.\(language.suffix)", Self.source)
        try compiler.compile(
            [source], as: language, to: home("layout"), flags + (hasBlocks ? Self.blocks : []), home: home)
        let lines = try run(home("layout"), home: home).output.split(separator: "\n").map(String.init)
        var expected = Self.expected
        if hasBlocks { expected.append(Self.record(14, kind: 2, "Block")) }
        expected.append("\(hasBlocks ? 13 : 3) acted, level 7, text bound")
        #expect(lines.sorted() == expected.sorted())
    }
}
