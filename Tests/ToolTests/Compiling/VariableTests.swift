// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

/// What `FBTweakVariable` makes of variables in C and C++, and what it refuses.
@Suite struct `Variables that are tweaks` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private static let source = """
        #include <fbtweak.h>
        struct ball { double mass; float spin[3]; };
        enum mode { slow, fast = 7 };
        static bool on = true;
        static int8_t i8 = -5;
        static uint16_t u16 = 60000;
        static volatile int i32 = -7;
        static uint64_t u64 = 18000000000000000000u;
        static long zero;
        static float ratio = 0.5f;
        static double gravity = -9.81;
        static fbtweak_color ink = {1, 2, 3, 255};
        static enum mode mode = fast;
        static struct ball ball = {0.2, {1, 0, 0.25f}};
        static float table[] = {0.1f, 0.4f, 0.9f};
        static int matrix[2][2] = {{1, 2}, {3, 4}};
        extern int later;
        VARIABLE(on, "On")
        VARIABLE(i8, "I8", -100, 100)
        VARIABLE(u16, "U16", FBTweakReadOnly)
        VARIABLE(i32, "I32", FBTweakChoices(-7, (8, "eight")))
        VARIABLE(u64, "U64")
        VARIABLE(zero, "Zero", FBTweakNeedsRestart)
        VARIABLE(ratio, "Ratio", 0, 1, FBTweakStep(0.1), FBTweakPrecision(2))
        VARIABLE(gravity, "Gravity", -50, 0, FBTweakUnit("m/s2"), FBTweakDescription("SecretText"))
        VARIABLE(ink, "Ink")
        VARIABLE(mode, "Mode")
        VARIABLE(ball.mass, "Mass", 0.01, 10, FBTweakScale("log"))
        VARIABLE(ball.spin, "Spin")
        VARIABLE(ball.spin[2], "Third", FBTweakOwner("us"))
        VARIABLE(table, "Point", FBTweakChoices(0.1f, 0.4f, 0.9f))
        VARIABLE(matrix[1], "Row")
        VARIABLE(later, "Later")
        int later = 6;
        double all(int index);
        double all(int index) {
          return on + i8 + u16 + i32 + (double)u64 + (double)zero + (double)ratio + gravity + ink.red + (int)mode +
                 ball.mass + (double)ball.spin[0] + (double)table[index] + matrix[1][0];
        }

        """
    private static let prefix =
        #"#define VARIABLE(object_, ...) FBTweakVariable(object_, "A", "B", __VA_ARGS__)"#

    private static let inCPlusPlus = """
        namespace game {
        double wind = 3.5;
        class Ball {
          inline static float bounce = 2.5f;
          VARIABLE(bounce, "Bounce")
        public:
          static double drag;
        };
        double Ball::drag = 1.25;
        namespace { int hidden = 4; }
        VARIABLE(hidden, "Hidden")
        }
        enum class Curve { linear, eased };
        static Curve curve = Curve::eased;
        VARIABLE(game::wind, "Wind")
        VARIABLE(game::Ball::drag, "Drag", 0, 2)
        VARIABLE(curve, "Curve", FBTweakChoices((Curve::linear, "linear"), (Curve::eased, "eased")))
        #if __cplusplus >= 202002L
        static constinit int lives = 3;
        VARIABLE(lives, "Lives")
        #endif

        """

    /// The names, types and defaults of the tweaks in an object.
    private func dumped(_ object: String) throws -> Set<String> {
        let tweaks = try dumpedJSON([object]).images.flatMap(\.tweaks)
        return Set(
            tweaks.map { tweak in
                let value =
                    switch tweak.default {
                    case .bool(let flag): "\(flag)"
                    case .number(let number): "\(number)"
                    case .text(let text): text
                    case .nothing: "unknown"
                    }
                return "\(tweak.name) \(tweak.type) \(value)"
            })
    }

    private static let expected: Set<String> = [
        "On bool true", "I8 int8 -5.0", "U16 uint16 60000.0", "I32 int32 -7.0", "U64 uint64 1.8e+19",
        "Zero int64 0.0", "Ratio float 0.5", "Gravity double -9.81", "Ink color #010203", "Mode uint32 7.0",
        "Mass double 0.2", "Spin[0] float 1.0", "Spin[1] float 0.0", "Spin[2] float 0.25", "Third float 0.25",
        "Point[0] float 0.1", "Point[1] float 0.4", "Point[2] float 0.9", "Row[0] int32 3.0",
        "Row[1] int32 4.0",
        "Later int32 6.0",
    ]

    @Test(arguments: Compiler.present, ["-O0", "-O2"])
    func `Their types and defaults are the variables', without a warning`(compiler: Compiler, level: String)
        throws
    {
        let flags = [
            "-DDEBUG", level, "-shared", "-fPIC", "-Wall", "-Wextra", "-Wpedantic", "-Wconversion",
            "-Wshadow",
        ]
        let file = try home.write("all.c", Self.prefix + "\n" + Self.source)
        for standard in ["c11", "gnu17", "c2x"] {
            let output = try compiler.compile(
                [file], to: home("all.so"), flags + ["-std=\(standard)"], home: home)
            #expect(output == "", "\(standard)")
            #expect(try dumped(home("all.so")) == Self.expected)
        }
        let text = Self.prefix + "\n" + Self.source + Self.inCPlusPlus
        let file2 = try home.write("all.cpp", text)
        for standard in ["c++17", "c++20"] {
            let output = try compiler.compile(
                [file2], as: .cPlusPlus, to: home("all.so"), flags + ["-std=\(standard)"], home: home)
            #expect(output == "", "\(standard)")
            var expected = Self.expected.union([
                "Bounce float 2.5", "Hidden int32 4.0", "Wind double 3.5", "Drag double 1.25",
                "Curve int32 1.0",
            ])
            if standard == "c++20" { expected.insert("Lives int32 3.0") }
            #expect(try dumped(home("all.so")) == expected, "\(standard)")
        }
    }

    @Test(arguments: Compiler.allCases, ["-O0", "-O2"])
    func `In a release nothing is left of the declaration`(compiler: Compiler, level: String) throws {
        let nothing = "#define VARIABLE(...) _Static_assert(1, \"\");"
        let release = try cObject(Self.prefix + "\n" + Self.source, with: compiler, [level], home: home)
        let without = try cObject(nothing + "\n" + Self.source, with: compiler, [level], home: home)
        #expect(release.bytes == without.bytes)
        #expect(!release.sections.contains { $0.contains("fbtweak") } && !release.contains("Secret"))
    }

    @Test(arguments: Compiler.allCases, ["-O2", "-O3"])
    func `A program without another store reads the variable`(compiler: Compiler, level: String) throws {
        let object = try cObject(
            Self.prefix + "\n" + Self.source, with: compiler, ["-DDEBUG", level, "-std=gnu11"], home: home)
        #expect(!object.function("all").isEmpty)
        let one = try cObject(
            #"#include <fbtweak.h>"# + "\nstatic int level = 3;\n"
                + #"FBTweakVariable(level, "A", "B", "Level")"# + "\nint read_it(void) { return level; }\n",
            with: compiler, ["-DDEBUG", level], home: home)
        #expect(one.function("read_it").contains { $0.text.contains("%rip") || $0.text.contains("level") })
    }

    private static let mistakes = [
        ("static const double d = 1; VARIABLE(d, \"C\")", "the object is const; remove const"),
        ("static const int d[2] = {1}; VARIABLE(d, \"C\")", "the object is const; remove const"),
        ("static double d[257]; VARIABLE(d, \"C\")", "an array has at most 256 elements"),
        ("static struct s { int a; } d; VARIABLE(d, \"C\")", "the object must be a bool, an integer"),
        ("static const char *d = \"x\"; VARIABLE(d, \"C\")", "no text or array of char"),
        ("static char d[] = \"x\"; VARIABLE(d, \"C\")", "no text or array of char"),
        ("static int d[2][2]; VARIABLE(d, \"C\")", "the object must be a bool, an integer"),
        ("static int *d; VARIABLE(d, \"C\")", "the object must be a bool, an integer"),
        ("static long double d; VARIABLE(d, \"C\")", "the object must be a bool, an integer"),
        ("static int d; FBTweakVariable(d, \"A\", \"B\", )", "FBTweakVariable: the name is missing"),
        ("static int d; VARIABLE(d, \"\")", "only a collection may be empty"),
        ("static int d; VARIABLE(d, \"C\", 5, 1)", "the minimum is above the maximum"),
        ("static int d; VARIABLE(d, \"C\", 5)", "minimum and maximum come together"),
        ("static int d; VARIABLE(d, \"C\", 0.5, 1)", "minimum and maximum of an integer are integers"),
        ("static bool d; VARIABLE(d, \"C\", 0, 1)", "only a number has a minimum and a maximum"),
        ("static int d; VARIABLE(d, \"C\", FBTweakChoices(1, 2.5))", "a choice does not fit the type"),
        ("static int d; VARIABLE(d, \"C\", 0, 5, FBTweakChoices(1))", "choices come instead of minimum"),
        (
            "static int d; VARIABLE(d, \"C\", FBTweakUnit(\"m\"), FBTweakUnit(\"m\"))",
            "an option is given twice"
        ),
    ]

    @Test(arguments: Compiler.present, Language.allCases)
    func `Other objects and wrong options are refused with the reason`(
        compiler: Compiler, language: Language
    ) throws {
        for (source, message) in Self.mistakes + (language == .c ? [] : Self.mistakesInCPlusPlus) {
            let file = try home.write(
                "mistake.\(language.suffix)", "#include <fbtweak.h>\n\(Self.prefix)\n\(source)\n")
            let error = #expect(throws: CompilationError.self, "\(source)") {
                try compiler.compile(
                    [file], as: language, to: home("mistake.o"),
                    ["-DDEBUG", "-fsyntax-only", language == .c ? "-std=c11" : "-std=c++17"], home: home)
            }
            #expect(error?.description.contains(message) == true, "\(source): \(error?.description ?? "")")
        }
    }

    private static let mistakesInCPlusPlus = [
        ("int *pointer; VARIABLE(*pointer, \"C\")", "the object has no static storage")
    ]

    @Test(arguments: Compiler.present, Language.allCases)
    func `The compiler refuses bit fields, thread-local objects and functions`(
        compiler: Compiler, language: Language
    ) throws {
        let local = language == .c ? "_Thread_local" : "thread_local"
        for source in [
            "static struct { int a : 3; } d; VARIABLE(d.a, \"C\")",
            "static \(local) int d; VARIABLE(d, \"C\")",
            "int d(void); VARIABLE(d, \"C\")", "VARIABLE(5, \"C\")", "extern int d[]; VARIABLE(d, \"C\")",
        ] {
            let file = try home.write(
                "mistake.\(language.suffix)", "#include <fbtweak.h>\n\(Self.prefix)\n\(source)\n")
            #expect(throws: CompilationError.self, "\(source)") {
                try compiler.compile(
                    [file], as: language, to: home("mistake.o"),
                    ["-DDEBUG", "-c", language == .c ? "-std=c11" : "-std=c++17"], home: home)
            }
        }
    }
}
