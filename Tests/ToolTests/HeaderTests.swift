import TestSupport
import Testing

@Suite struct `fbtweak.h` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func compile(_ source: String, with compiler: Compiler, _ flags: [String]) throws -> String {
        try compiler.compile(
            [home.write("header.c", source)], to: home("header.o"), ["-c"] + flags, home: home)
    }

    @Test(arguments: [
        ([], 0), (["-DDEBUG"], 1), (["-DDEBUG=1"], 1), (["-DDEBUG=2"], 1), (["-DDEBUG="], 1),
        (["-DDEBUG=0"], 0), (["-DDEBUG=-1"], 1), (["-DFB_TWEAK_ENABLED=1"], 1), (["-DFB_TWEAK_ENABLED=0"], 0),
        (["-DDEBUG", "-DFB_TWEAK_ENABLED=0"], 0), (["-DDEBUG=0", "-DFB_TWEAK_ENABLED=1"], 1),
        (["-DDEBUG=1", "-DFB_TWEAK_ENABLED=1"], 1), (["-DNDEBUG"], 0),
    ])
    func `Tweaks are enabled exactly in debug builds, or as FB_TWEAK_ENABLED says`(
        flags: [String], enabled: Int
    ) throws {
        for compiler in Compiler.allCases {
            let source = """
                #include <fbtweak.h>
                _Static_assert(FB_TWEAK_ENABLED == \(enabled), "FB_TWEAK_ENABLED");
                int value(void) { return FBTweakValue("A", "B", "C", 1); }
                """
            let flags = flags + ["-std=c11", "-Wall", "-Wextra", "-Wundef", "-Werror"]
            #expect(throws: Never.self, "\(compiler)") { try compile(source, with: compiler, flags) }
        }
    }

    private static let everything = """
        #include <fbtweak.h>
        #include <stdbool.h>
        double all(void);
        double all(void) {
          const char *text = FBTweakValue("A", "B", "Text", "text");
          bool flag = FBTweakValue("A", "B", "Flag", true) && !FBTweakValue("A", "B", "Other", false);
          int count = FBTweakValue("A", "B", "Count", 1, 0, 10) + FBTweakValue("A", "B", "Plain", -1);
          double ratio = FBTweakValue("A", "B", "Ratio", 0.5, 0, 1.0) + FBTweakValue("A", "B", "Half", 0.5);
          for (int turn = 0; turn < FBTweakValue("A", "B", "Turns", 3); turn++) ratio *= 2;
          return flag ? ratio : count + text[0];
        }
        """

    @Test(arguments: Compiler.allCases, ["c11", "c17", "c2x", "gnu11", "gnu17"])
    func `The strict warnings have nothing to say`(compiler: Compiler, standard: String) throws {
        let warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wundef", "-Werror"]
        for flags in [["-DDEBUG", "-O0"], ["-DDEBUG", "-O2"], ["-O2"]] {
            let output = try compile(Self.everything, with: compiler, ["-std=\(standard)"] + warnings + flags)
            #expect(output == "")
        }
    }

    @Test(arguments: Compiler.allCases)
    func `A tweak has the type of its default`(compiler: Compiler) throws {
        let source = """
            #include <fbtweak.h>
            #include <stdbool.h>
            #define IS(type_, value_) _Static_assert(_Generic((value_), type_: 1, default: 0), #type_)
            void types(void) {
              IS(bool, FBTweakValue("A", "B", "C", true));
              IS(int, FBTweakValue("A", "B", "C", 1, 0, 2.5));
              IS(double, FBTweakValue("A", "B", "C", 1.0, 0, 2));
              IS(float, FBTweakValue("A", "B", "C", 1.0f, 0, 2));
              IS(char, FBTweakValue("A", "B", "C", (char)'c'));
              IS(signed char, FBTweakValue("A", "B", "C", (signed char)-1));
              IS(unsigned char, FBTweakValue("A", "B", "C", (unsigned char)200, 100, 201));
              IS(short, FBTweakValue("A", "B", "C", (short)-1));
              IS(unsigned short, FBTweakValue("A", "B", "C", (unsigned short)1));
              IS(unsigned, FBTweakValue("A", "B", "C", 1u));
              IS(long, FBTweakValue("A", "B", "C", 1l));
              IS(unsigned long, FBTweakValue("A", "B", "C", sizeof(int)));
              IS(long long, FBTweakValue("A", "B", "C", 1ll));
              IS(unsigned long long, FBTweakValue("A", "B", "C", 1ull));
              IS(const char *, FBTweakValue("A", "B", "C", "text"));
            }
            """
        #expect(throws: Never.self) { try compile(source, with: compiler, ["-DDEBUG"]) }
    }

    @Test(
        arguments: Compiler.allCases,
        [
            (
                #""A", "B", "C", 1.0L"#,
                "the default must be a bool, an integer, a float, a double or a string literal"
            ),
            (#""A", "B", "C", true, 0, 1"#, "only a number has a minimum and a maximum"),
            (#""A", "B", "C", "text", 0, 1"#, "only a number has a minimum and a maximum"),
            (#""A", "B", "C", 5, 0"#, "minimum and maximum come together"),
            (#""A", "B", "C", 5, 6, 7"#, "the default is not between minimum and maximum"),
            (#""A", "B", "C", 5.5, 1, 5"#, "the default is not between minimum and maximum"),
            (#""A", "B", "C", "te\0xt""#, "a string default cannot contain a NUL"),
            (#""A\0", "B", "C", 1"#, "a category, collection or name cannot contain a NUL"),
            (#""A", "B\0b", "C", 1"#, "a category, collection or name cannot contain a NUL"),
            (#""A", "B", "C\0", 1"#, "a category, collection or name cannot contain a NUL"),
        ])
    func `A tweak that cannot be is a compile error that says why`(
        compiler: Compiler, tweak: (arguments: String, message: String)
    ) throws {
        let source = """
            #include <fbtweak.h>
            void use(void) { (void)FBTweakValue(\(tweak.arguments)); }
            """
        let error = #expect(throws: CompilationError.self) {
            try compile(source, with: compiler, ["-DDEBUG"])
        }
        #expect(error?.description.contains("FBTweakValue: \(tweak.message)") == true)
    }

    @Test(
        arguments: Compiler.allCases,
        [#"name, "B", "C", 1"#, #""A", name, "C", 1"#, #""A", "B", name, 1"#, #""A", "B", "C", number"#])
    func `A name that is no literal and a default that is no constant do not compile`(
        compiler: Compiler, arguments: String
    ) throws {
        let source = """
            #include <fbtweak.h>
            const char *name;
            int number;
            void use(void) { (void)FBTweakValue(\(arguments)); }
            """
        #expect(throws: CompilationError.self) { try compile(source, with: compiler, ["-DDEBUG"]) }
    }
}
