// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

/// Whatever people have a compiler warn of, a tweak is no reason for it.
@Suite struct `Warnings at uses of fbtweak.h` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    /// Everything that the header has, in a function whose name is a macro.
    private static let uses = """
        double NAME(int *count, const char **text, volatile bool *flags, fbtweak_color *color, float *ratios);
        double NAME(int *count, const char **text, volatile bool *flags, fbtweak_color *color, float *ratios) {
          FBTweakAction("A", "B", "In", act);
          FBTweakAction("A", "B", "And", act, FBTweakExpires("2027-12-01"));
          bool flag = FBTweakValue("A", "B", "Flag", true) && !FBTweakValue("A", "B", "Other", false);
          double ratio = FBTweakValue("A", "B", "Ratio", 0.5, 0, 1.0) + FBTweakValue("A", "B", "Half", 0.5);
          for (int turn = 0; turn < FBTweakValue("A", "B", "Turns", 3); turn++)
            ratio *= 2;
          ratio += FBTweakValue("A", "B", "Range", 0.5, 0, (1), ALL_OPTIONS);
          ratio += FBTweakValue("A", "B", "Any", 0.5, FBTweakChoices(0.25, (0.5, "half")), ALL_OPTIONS);
          unsigned size = FBTweakValue("A", "B", "Size", 5u, 0, 10);
          size += FBTweakValue("A", "B", "Factor", 5u, 1, 10, FBTweakScale("log"), FBTweakPair("Size"));
          ratios[0] = FBTweakValue("A", "B", "Decades", 0.5f, 1e-3, 10, FBTweakPair("Half"), FBTweakScale("log"));
          *count = FBTweakValue("A", "B", "Count", 1, LOW, 10) + FBTweakValue("A", "B", "Plain", -1);
          *count += FBTweakValue("A", "B", "Odd", 1, (-10) * 2, 200u, FBTweakUnit("m"));
          *count += FBTweakValue("A", "B", "Eight", 8, sizeof(int), 10, FBTweakReadOnly);
          *text = FBTweakValue("A", "B", "Text", "text");
          *text = FBTweakValue("A", "B", "Face", "mono", FBTweakChoices("mono", ("sans", "Sans Serif")));
          *color = FBTweakValue("A", "B", "Colour", FBTweakRGB(1, 2, 0xff), FBTweakDescription("of all"));
          FBTweakBind(*count, "A", "B", "Bound", 5, 0, 10, FBTweakStep(2));
          FBTweakBind(*text, "A", "B", "Bound text", "text");
          FBTweakBind(*flags, "A", "B", "Bound flag", true);
          FBTweakBind(*color, "A", "B", "Bound colour", FBTweakRGBA(1, 2, 3, 4));
          FBTweakBind(*ratios, "A", "B", "Bound ratio", 1, FBTweakChoices(1, 2));
          FBTweakUnbind(*count);
          flags[1] = FBTweakFeature("Sound", true);
          flags[2] = FBTweakFeaturePart("Sound", "Bass", false);
          FBTweakMonitor("A", "B", "Speed", ratio, 0, 10, FBTweakUnit("m/s"), FBTweakPrecision(1), FBTweakOwner("us"));
          FBTweakMonitor("A", "B", "State", *count, FBTweakChoices("off", "on"));
          FBTweakMonitor("A", "B", "Flagged", flag);
          FBTweakGate("A");
          FBTweakGate("A", "B");
          struct set set;
          if (FBTweakTake(read_set(), &set))
            ratio += set.first;
          *count += FBTweakTake(read_set(), &set) ? set.second : 0;
          uint64_t seen = 0;
          *count += FBTweakTake(read_set(), &set, &seen) ? set.second : 0;
        #ifdef __cplusplus
          const Mode mode = FBTweakValue("A", "B", "Mode", slow, FBTweakChoices((slow, "slow"), (fast, "fast")));
          const fbtweak_binding binding = FBTweakBinding(size, "A", "B", "Binding", 5u);
          FBTweakAction("A", "B", "Lambda", [] {});
        #else
          const Mode mode = FBTweakValue("A", "B", "Mode", (Mode)slow, FBTweakChoices((slow, "slow"), (fast, "fast")));
        #endif
          const fbtweak *handle = FBTweakInline("A", "B", "Handle", 5, 0, 10);
          return flag && handle && mode == fast && size > 3 ? ratio : 0;
        }
        #undef NAME

        """
    private static let source = """
        #include <fbtweak.h>
        #ifndef __cplusplus
        #include <stdbool.h>
        #endif
        #define LOW (-10)
        #define ALL_OPTIONS                                                                              \\
          FBTweakOwner("us"), FBTweakUnit("m"), FBTweakPrecision(2), FBTweakReadOnly, FBTweakStep(0.1),  \\
              FBTweakNeedsRestart, FBTweakExpires("2027-01-31"), FBTweakDescription("100 %, \\"all\\""),     \\
              FBTweakScale("linear"), FBTweakPair("Half")
        typedef enum { slow, fast } Mode;
        static void act(void) {}
        FBTweakApplication("warned");
        FBTweakAction("A", "B", "Act", act);
        FBTweakAction("A", "B", "Same", &act, FBTweakDescription("again"), FBTweakOwner("us"));
        struct set { double first; int second; };
        static inline struct set read_set(void) {
          const struct set set = {FBTweakValue("A", "B", "First", 0.5), FBTweakValue("A", "B", "Second", 2)};
          return set;
        }
        #define NAME once
        \(uses)#define NAME again
        \(uses)
        """

    private static let common = """
        -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wundef -Wcast-qual -Wcast-align=strict
        -Wformat=2 -Wdouble-promotion -Wfloat-equal -Wnull-dereference -Wunused-macros -Wredundant-decls -Wswitch-default
        -Wswitch-enum -Wlogical-op -Wduplicated-cond -Wduplicated-branches -Wmissing-declarations -Wvla
        -Wstrict-overflow=2 -Warith-conversion -Wdate-time -Wfloat-conversion -Wpointer-arith -Wwrite-strings
        -Wtrampolines
        """
    private static let gcc: [Language: String] = [
        .c: common + " -Wstrict-prototypes -Wmissing-prototypes -Wold-style-definition -Wbad-function-cast "
            + "-Wjump-misses-init",
        .cPlusPlus: common + " -Wold-style-cast -Wuseless-cast -Wzero-as-null-pointer-constant -Wextra-semi "
            + "-Wnon-virtual-dtor -Woverloaded-virtual -Weffc++ -Wsuggest-override",
    ]
    private static let everything =
        "-Weverything -Wno-unknown-warning-option -Wno-padded -Wno-unsafe-buffer-usage -Wno-c++98-compat "
    /// All but what is about other standards, the layout of structures, and pointers as such.
    private static let clang: [Language: String] = [
        .c: everything + "-Wno-declaration-after-statement -Wno-pre-c11-compat",
        .cPlusPlus: everything
            + "-Wno-c++98-compat-pedantic -Wno-unsafe-buffer-usage-in-libc-call",
    ]

    @Test(arguments: Compiler.present, Language.allCases)
    func `There are none`(compiler: Compiler, language: Language) throws {
        let file = try home.write("uses.\(language.suffix)", Self.source)
        let warnings = (compiler == .gcc ? Self.gcc : Self.clang)[language, default: ""]
            .split(whereSeparator: \.isWhitespace).map(String.init)
        for flags in [["-DDEBUG", "-O0"], ["-DDEBUG", "-O2"], ["-DNDEBUG", "-O2"]] {
            let standard = language == .c ? "-std=c11" : "-std=c++17"
            let said = try compiler.compile(
                [file], as: language, to: home("uses.o"), ["-c", standard] + flags + warnings, home: home)
            #expect(said == "", "\(flags)")
        }
    }

    @Test(arguments: Compiler.present, Language.allCases)
    func `A format that no longer fits the default is reported as for a constant`(
        compiler: Compiler, language: Language
    ) throws {
        let file = try home.write(
            "format.\(language.suffix)",
            """
            #include <fbtweak.h>
            #include <stdio.h>
            int show(void);
            int show(void) { return printf("%g", FBTweakValue("A", "B", "C", 500, 0, 1000, FBTweakUnit("m"))); }

            """)
        for flag in ["-DDEBUG", "-DNDEBUG"] {
            let said = try compiler.compile(
                [file], as: language, to: home("format.o"), ["-c", "-Wall", flag], home: home)
            #expect(
                said.contains("format.\(language.suffix):4:") && said.contains("-Wformat"), "\(flag): \(said)"
            )
        }
    }
}
