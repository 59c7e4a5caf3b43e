// SPDX-License-Identifier: BSD-3-Clause
import Foundation
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
        #define LOW (-10)
        #define ALL_OPTIONS                                                                              \\
          FBTweakOwner("us"), FBTweakUnit("m"), FBTweakPrecision(2), FBTweakReadOnly, FBTweakStep(0.1),  \\
              FBTweakNeedsRestart, FBTweakExpires("2027-01-31"), FBTweakDescription("100 %, \\"all\\""),     \\
              FBTweakScale("linear"), FBTweakPair("Half")
        static void act(void) {}
        static void act_again(void) {}
        FBTweakAction("A", "B", "Act", act);
        FBTweakAction("A", "B", "Same", &act, FBTweakDescription("again"), FBTweakOwner("us"));
        struct set { double first; int second; };
        #define SET (struct set){.first = FBTweakValue("A", "B", "First", 0.5), .second = FBTweakValue("A", "B", "Second", 2)}
        double all(int *count, const char **text, volatile bool *flags, fbtweak_color *color, float *ratios);
        double all(int *count, const char **text, volatile bool *flags, fbtweak_color *color, float *ratios) {
          FBTweakAction("A", "B", "In", act_again);
          FBTweakAction("A", "B", "And", act_again, FBTweakExpires("2027-12-01"));
          bool flag = FBTweakValue("A", "B", "Flag", true) && !FBTweakValue("A", "B", "Other", false);
          double ratio = FBTweakValue("A", "B", "Ratio", 0.5, 0, 1.0) + FBTweakValue("A", "B", "Half", 0.5);
          for (int turn = 0; turn < FBTweakValue("A", "B", "Turns", 3); turn++) ratio *= 2;
          ratio += FBTweakValue("A", "B", "All", 0.5, 0, (1), ALL_OPTIONS);
          ratio += FBTweakValue("A", "B", "All", 0.5, FBTweakChoices(0.25, (0.5, "½")), ALL_OPTIONS);
          unsigned size = FBTweakValue("A", "B", "Size", 5u, 0, 10);
          size += FBTweakValue("A", "B", "Factor", 5u, 1, 10, FBTweakScale("log"), FBTweakPair("Size"));
          ratio += FBTweakValue("A", "B", "Decades", 0.5f, 1e-3, 10, FBTweakPair("Half"), FBTweakScale("log"));
          *count = FBTweakValue("A", "B", "Count", 1, LOW, 10) + FBTweakValue("A", "B", "Plain", -1);
          *count += FBTweakValue("A", "B", "Odd", 1, (-10) * 2, (uint8_t)200, FBTweakUnit("m"));
          *count += FBTweakValue("A", "B", "Eight", 8, sizeof(int), 10, FBTweakReadOnly);
          *text = FBTweakValue("A", "B", "Text", "text");
          *text = FBTweakValue("A", "B", "Face", "mono", FBTweakChoices("mono", ("sans", "Sans Serif")));
          *color = FBTweakValue("A", "B", "Colour", FBTweakRGB(1, 2, 0xff), FBTweakDescription("of all"));
          FBTweakBind(*count, "A", "B", "Bound", 5, 0, 10, FBTweakStep(2));
          FBTweakBind(*text, "A", "B", "Bound text", "text");
          FBTweakBind(flags[FBTweakValue("A", "B", "Index", 1)], "A", "B", "Bound flag", true);
          FBTweakBind(*color, "A", "B", "Bound colour", FBTweakRGBA(1, 2, 3, 4));
          FBTweakBind(*ratios++, "A", "B", "Bound ratio", 1, FBTweakChoices(1, 2));
          FBTweakUnbind(*count);
          FBTweakGate("A");
          FBTweakGate("A", "B"), FBTweakGate("A", "");
          struct set set;
          if (FBTweakTake(SET, &set)) ratio += set.first;
          *count += FBTweakTake((SET), &set) ? set.second : 0;
          uint64_t seen = 0;
          while (FBTweakTake(SET, &set, &seen)) *count += set.second;
          const fbtweak *handle = FBTweakInline("A", "B", "Handle", 5, 0, 10);
          return flag && handle ? ratio : (double)size + (*text)[0];
        }

        """

    @Test(arguments: Compiler.present, ["c11", "c17", "c2x", "gnu11", "gnu17"])
    func `The strict warnings have nothing to say`(compiler: Compiler, standard: String) throws {
        let warnings =
            ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Wundef", "-Werror"]
        // Of a header that asks to be taken for one of the system GCC says little.
        let header = try String(contentsOfFile: Locations.include + "/fbtweak.h", encoding: .utf8)
        try home.write(
            "plain/fbtweak.h",
            header.replacing("pragma GCC system_header", with: "pragma GCC diagnostic ignored \"-Wundef\""))
        let language = ["-std=\(standard)", "-I", home("plain")]
        for flags in [["-DDEBUG", "-O0"], ["-DDEBUG", "-O2"], ["-O2"]] {
            let output = try compile(Self.everything, with: compiler, language + warnings + flags)
            #expect(output == "")
        }
    }

    @Test func `True is a bool in C23 also with a stdbool.h that defines it as 1`() throws {
        try home.write("musl/stdbool.h", "#define true 1\n#define false 0\n#define bool _Bool\n")
        let source = """
            #include <stdbool.h>
            #include <fbtweak.h>
            #define ON true
            _Static_assert(_Generic(true, int: 1), "as in musl");
            void use(void) {
              _Static_assert(_Generic(FBTweakValue("A", "B", "C", true), bool: 1, default: 0), "written");
              _Static_assert(_Generic(FBTweakValue("A", "B", "D", ON), bool: 1, default: 0), "of a macro");
            }

            """
        #expect(try compile(source, with: .gcc, ["-DDEBUG", "-std=c2x", "-I", home("musl")]) == "")
    }

    @Test(arguments: Compiler.present)
    func `A default of the type that it is compared with keeps comparisons free of warnings`(
        compiler: Compiler
    )
        throws
    {
        let source = """
            #include <fbtweak.h>
            _Bool is_long(size_t size, unsigned count);
            _Bool is_long(size_t size, unsigned count) {
              return size > FBTweakValue("A", "B", "C", (size_t)10) && count < FBTweakValue("A", "B", "D", 10u) &&
                     count >= FBTweakValue("A", "B", "E", (uint8_t)3);
            }

            """
        #expect(
            try compile(source, with: compiler, ["-DDEBUG", "-Wall", "-Wextra", "-Wsign-compare", "-Werror"])
                == "")
    }

    @Test(arguments: Compiler.allCases)
    func `A tweak has the type of its default`(compiler: Compiler) throws {
        let source = """
            #include <fbtweak.h>
            #include <stdbool.h>
            #define IS(type_, value_) _Static_assert(_Generic((value_), type_: 1, default: 0), #type_)
            void types(void) {
              IS(bool, FBTweakValue("A", "B", "C", true));
              IS(int, FBTweakValue("A", "B", "C", 1, 0, 2.0));
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
              IS(fbtweak_color, FBTweakValue("A", "B", "C", FBTweakRGB(1, 2, 3)));
              IS(short, FBTweakValue("A", "B", "C", (short)1, FBTweakChoices(1, (2, "two")), FBTweakUnit("m")));
              IS(const fbtweak *, FBTweakInline("A", "B", "C", 1));
            }
            """
        #expect(throws: Never.self) { try compile(source, with: compiler, ["-DDEBUG"]) }
    }

    private static let bools = """
        #include <fbtweak.h>
        #include <stdbool.h>
        #define IS(type_, value_) _Static_assert(_Generic((value_), type_: 1, default: 0), #type_)
        #define PASTE(a_, b_) PASTE_(a_, b_)
        #define PASTE_(a_, b_) a_##b_
        #define ON true
        #define VALUE(...) FBTweakValue("A", "B", "C", __VA_ARGS__)
        #define WRAPPED(default_) VALUE((default_))

        """

    @Test(arguments: Compiler.allCases, ["c11", "gnu17"])
    func `True and false remain integer constants in C before C23`(compiler: Compiler, standard: String)
        throws
    {
        let source = """
            \(Self.bools)
            #if true != 1 || false != 0 || !true || false || true - 2 > 0
            #error "They are no longer 1 and 0"
            #endif
            enum { is_true = true, is_false = false };
            IS(int, true);
            IS(int, false);
            int places[true + 1], PASTE(name_, true);
            int choose(int number) {
              switch (number) {
              case true: return 5;
              case false: return ~true;
              default: return is_true + is_false;
              }
            }
            """
        let flags = ["-DDEBUG", "-std=\(standard)", "-Wall", "-Wextra", "-Wpedantic", "-Wundef", "-Werror"]
        #expect(throws: Never.self) { try compile(source, with: compiler, flags) }
    }

    @Test(arguments: Compiler.present, ["c11", "gnu17", "c2x"])
    func `A bool that comes from a macro is one`(compiler: Compiler, standard: String) throws {
        let source = """
            \(Self.bools)
            void types(void);
            void types(void) {
              IS(bool, VALUE(true));
              IS(bool, VALUE(false, FBTweakUnit("m")));
              IS(bool, VALUE(ON));
              IS(bool, VALUE(( (true) )));
              IS(bool, WRAPPED((true)));
              IS(bool, WRAPPED((bool)1));
              IS(int, VALUE(1));
              IS(int, VALUE(!true));
              IS(int, WRAPPED(0));
            }

            """
        let warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wno-unused", "-Werror"]
        #expect(throws: Never.self) {
            try compile(source, with: compiler, ["-DDEBUG", "-std=\(standard)"] + warnings)
        }
    }

    @Test(arguments: Compiler.allCases)
    func `With FB_TWEAK_BOOL_CONSTANTS as 0 true is 1, and a bool where it is the default`(
        compiler: Compiler
    ) throws {
        let source = """
            \(Self.bools)
            enum { name_1 = true };
            _Static_assert(PASTE(name_, true) == 1, "It is not 1");
            void types(void) {
              IS(bool, FBTweakValue("A", "B", "C", true));
              IS(bool, FBTweakValue("A", "B", "C", false, FBTweakReadOnly));
              IS(int, FBTweakValue("A", "B", "C", 1));
              IS(int, FBTweakValue("A", "B", "C", true + 1));
              IS(int, VALUE(true));
            }
            """
        let flags = ["-DDEBUG", "-DFB_TWEAK_BOOL_CONSTANTS=0", "-std=c11"]
        #expect(throws: Never.self) { try compile(source, with: compiler, flags) }
    }

    @Test(arguments: Compiler.present)
    func `A bound tweak has the type of the variable, without its qualifiers`(compiler: Compiler) throws {
        let source = """
            #include <fbtweak.h>
            #include <stdbool.h>
            enum kind { plain, fancy };
            extern volatile uint8_t level;
            extern _Atomic(int64_t) wide;
            extern const char *volatile text;
            extern float ratio;
            extern enum kind kind;
            extern _Atomic(bool) flag;
            struct { int fields[2]; } nested;
            void bind(void) {
              FBTweakBind(level, "A", "B", "uint8", 200, 0, 255);
              FBTweakBind(wide, "A", "B", "int64", 1, FBTweakChoices(1, 1l << 40));
              FBTweakBind(text, "A", "B", "string", "text");
              FBTweakBind(ratio, "A", "B", "float", 0.1, 0, 1);
              FBTweakBind(kind, "A", "B", "uint32", fancy, FBTweakChoices((plain, "Plain"), (fancy, "Fancy")));
              FBTweakBind(flag, "A", "B", "bool", true);
              FBTweakBind(nested.fields[1], "A", "B", "int32", 'c');
            }

            """
        for flag in ["-DDEBUG=0", "-DDEBUG"] {
            let flags = ["-c", flag, "-Wall", "-Wextra", "-Wpedantic", "-Werror"]
            #expect(throws: Never.self) { try compile(source, with: compiler, flags) }
        }
        let tweaks = try dumpedJSON([home("header.o")]).images[0].tweaks
        #expect(tweaks.count == 7 && tweaks.allSatisfy { $0.type == $0.name })
    }

    @Test(arguments: Compiler.present, Language.allCases)
    func `There can be 63 choices`(compiler: Compiler, language: Language) throws {
        let choices = (1...63).map { $0 % 2 == 0 ? "(\($0), \"\($0)\")" : "\($0)" }.joined(separator: ", ")
        let source = try home.write(
            "choices.\(language.suffix)",
            """
            #include <fbtweak.h>
            int choice(void) { return FBTweakValue("A", "B", "C", 63, FBTweakChoices(\(choices))); }

            """)
        #expect(throws: Never.self) {
            try compiler.compile(
                [source], as: language, to: home("choices.o"),
                ["-c", "-DDEBUG", language == .c ? "-std=c11" : "-std=c++17", "-Wpedantic", "-Werror"],
                home: home)
        }
    }

    @Test(arguments: Language.allCases)
    func `No number of the header wraps or changes in a conversion`(language: Language) throws {
        let source = try home.write(
            "numbers.\(language.suffix)",
            """
            #include <fbtweak.h>
            #include <string.h>
            struct set { int first; double second; };
            int main(void) {
              const fbtweak *handle = FBTweakInline("A", "B", "Handle", -7, -10, 10, FBTweakUnit("m"));
              static signed char level;
              FBTweakBind(level, "A", "B", "Level", -128);
              FBTweakMonitor("A", "B", "Monitor", level, -128, 127);
              FBTweakGate("A", "B");
              struct set set = {0, 0}, first = {FBTweakValue("A", "B", "First", -1), FBTweakValue("A", "B", "Second", -0.5)};
              uint64_t seen = 0;
              fbtweak_value value;
              return !FBTweakTake(first, &set) || !FBTweakTake(first, &set, &seen) || !fbtweak_minimum(handle, &value) ||
                     strcmp(fbtweak_name(handle), "Handle") != 0 || strcmp(fbtweak_attribute(handle, "unit"), "m") != 0 ||
                     fbtweak_read_integer(handle, 0) != -7 || value.integer != -10 ||
                     FBTweakValue("A", "B", "Large", 18446744073709551615u) == 0;
            }
            """)
        for checks in [
            ["-fsanitize=undefined,integer,implicit-conversion", "-fsanitize-trap=all"], ["-ftrapv"],
        ] {
            try Compiler.clang.compile(
                [source], as: language, to: home("numbers"), ["-DDEBUG"] + checks, home: home)
            #expect(try run(home("numbers"), home: home).succeeded, "\(checks)")
        }
    }

    @Test(arguments: ["-DDEBUG", "-DDEBUG=0"])
    func `Clang's blocks can be actions`(flag: String) throws {
        let source = """
            #include <fbtweak.h>
            static int runs;
            FBTweakAction("A", "B", "In a file", ^{ runs++; });
            int act(void);
            int act(void) {
              FBTweakAction("A", "B", "In a function", ^{ runs--; }, FBTweakDescription("back"));
              return runs;
            }
            """
        for (compiler, language) in [(Compiler.clang, Language.c), (.clang, .cPlusPlus)] {
            let file = try home.write("blocks.\(language.suffix)", source)
            let output = try compiler.compile(
                [file], as: language, to: home("blocks.o"),
                ["-c", flag, "-fblocks", "-Wall", "-Wextra", "-Wpedantic", "-Werror"], home: home)
            #expect(output == "")
        }
    }

    @Test(
        arguments: Compiler.allCases,
        [#"name, "B", "C", 1"#, #""A", name, "C", 1"#, #""A", "B", name, 1"#, #""A", "B", "C", number"#])
    func `A name that is not a literal and a default that is not a constant do not compile`(
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
