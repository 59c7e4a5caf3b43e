// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing
import TweakELF
import TweakRecords

@Suite struct `Records of the C compilers` {
    private static let source = """
        #include <fbtweak.h>
        #include <limits.h>
        #include <stdbool.h>
        void use(int, ...);
        void all(void) {
          use(0, FBTweakValue("C", "Bool", "On", true), FBTweakValue("C", "Bool", "Off", false));
          use(0, FBTweakValue("C", "Int", "Plain", -7), FBTweakValue("C", "Int", "Range", 42, -10, 'd'));
          use(0, FBTweakValue("C", "Int", "Whole", INT_MIN, INT_MIN, INT_MAX));
          use(0, FBTweakValue("C", "Double", "Plain", 0.1));
          use(0, FBTweakValue("C", "Double", "Range", 1.5, -1, 1e300));
          use(0, FBTweakValue("C", "String", "Empty", ""), FBTweakValue("C", "String", "Text", "弹簧 \\"ü\\""));
          use(0, FBTweakValue("C", "", "100 %\\n", 1));
          use(0, FBTweakValue("C", "Narrow", "Int8", (signed char)-5, -100, 100));
          use(0, FBTweakValue("C", "Narrow", "Int16", (short)-300), FBTweakValue("C", "Narrow", "Float", 0.1f));
          use(0, FBTweakValue("C", "Narrow", "UInt16", (unsigned short)60000));
          use(0, FBTweakValue("C", "Narrow", "UInt8", (unsigned char)200, 100, 255));
          use(0, FBTweakValue("C", "Wide", "Int64", LLONG_MIN), FBTweakValue("C", "Wide", "Long", -1l));
          use(0, FBTweakValue("C", "Wide", "UInt32", UINT_MAX), FBTweakValue("C", "Wide", "UInt64", ULLONG_MAX));
        }
        """

    private static func expected(_ path: String) -> [TweakDeclaration] {
        func tweak(
            _ collection: String, _ name: String, _ type: TweakType,
            _ value: TweakValue, _ limits: (TweakValue, TweakValue)? = nil, line: Int
        ) -> TweakDeclaration {
            TweakDeclaration(
                key: TweakKey("C", collection, name), type: type, defaultValue: value,
                minimum: limits?.0, maximum: limits?.1,
                attributes: [.init(key: "at", value: "\(path):\(line)")])
        }
        let (least, greatest) = (TweakValue.integer(Int128(Int32.min)), TweakValue.integer(Int128(Int32.max)))
        return [
            tweak("", "100 %\n", .int32, 1, line: 12),
            tweak("Bool", "Off", .bool, false, line: 6), tweak("Bool", "On", .bool, true, line: 6),
            tweak("Double", "Plain", .double, 0.1, line: 9),
            tweak("Double", "Range", .double, 1.5, (-1.0, 1e300), line: 10),
            tweak("Int", "Plain", .int32, -7, line: 7),
            tweak("Int", "Range", .int32, 42, (-10, 100), line: 7),
            tweak("Int", "Whole", .int32, least, (least, greatest), line: 8),
            tweak("Narrow", "Float", .float, 0.1, line: 14), tweak("Narrow", "Int16", .int16, -300, line: 14),
            tweak("Narrow", "Int8", .int8, -5, (-100, 100), line: 13),
            tweak("Narrow", "UInt16", .uint16, 60000, line: 15),
            tweak("Narrow", "UInt8", .uint8, 200, (100, 255), line: 16),
            tweak("String", "Empty", .string, "", line: 11),
            tweak("String", "Text", .string, "弹簧 \"ü\"", line: 11),
            tweak("Wide", "Int64", .int64, .integer(Int128(Int64.min)), line: 17),
            tweak("Wide", "Long", .int64, -1, line: 17),
            tweak("Wide", "UInt32", .uint32, .integer(Int128(UInt32.max)), line: 18),
            tweak("Wide", "UInt64", .uint64, .integer(Int128(UInt64.max)), line: 18),
        ]
    }

    @Test(arguments: Compiler.allCases, ["-O0", "-O2"])
    func `Every use of FBTweakValue leaves the declared record`(compiler: Compiler, level: String) throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write("tweaks.c", Self.source)
        let tweaks = try declarations(in: source, compiledBy: compiler, ["-DDEBUG", level], in: directory)
        // The compilers do not agree on the order.
        #expect(tweaks.sorted { $0.key < $1.key } == Self.expected(source))
    }

    @Test(arguments: Compiler.allCases)
    func `The location can be omitted`(compiler: Compiler) throws {
        let directory = try TemporaryDirectory()
        let source = try directory.write("tweaks.c", Self.source)
        let tweaks = try declarations(
            in: source, compiledBy: compiler, ["-DDEBUG", "-DFB_TWEAK_LOCATIONS=0"], in: directory)
        #expect(tweaks.count == Self.expected(source).count)
        #expect(tweaks.allSatisfy { $0.location == nil && $0.attributes.isEmpty })
    }

    private func declarations(
        in source: String, compiledBy compiler: Compiler, _ flags: [String], in directory: TemporaryDirectory
    ) throws -> [TweakDeclaration] {
        let object = directory("tweaks.o")
        try compiler.compile([source], to: object, ["-c"] + flags, home: directory)
        var tweaks: [TweakDeclaration] = []
        try ELFFile(path: object).forEachObject { (object) throws(ELFError) in
            for range in try object.recordRanges() {
                let section = try object.records(in: range)
                #expect(section.errors.isEmpty)
                tweaks += section.tweaks.map(\.declaration)
            }
        }
        return tweaks
    }
}
