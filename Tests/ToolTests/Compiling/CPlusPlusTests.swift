// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

@Suite struct `fbtweak.h in C++` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private static let header = """
        #include <fbtweak.h>
        inline int in_inline() { return FBTweakValue("X", "Inline", "Function", 2); }
        struct Shape {
          virtual ~Shape() = default;
          int member() { return FBTweakValue("X", "Inline", "Member", 4, 0, 10); }
          virtual float virtual_member() { return FBTweakValue("X", "Inline", "Virtual", 1.5f, 0, 2); }
        };
        int other_unit();
        inline int in_inline_with_all() {
          static int bound;
          FBTweakBind(bound, "X", "Inline", "Bound", 30, FBTweakChoices((20, "twenty"), 30));
          FBTweakAction("X", "Inline", "Action", [] { bound++; }, FBTweakDescription("one more"));
          return bound;
        }
        """

    private static let main = """
        #include "shared.hpp"
        #include <cstdio>
        enum Plain { first, second };
        enum class Scoped : unsigned char { third = 5 };
        constexpr double ratio = 2.5;
        static int in_static() { return FBTweakValue("X", "Plain", "Static", 1); }
        bool of_bool() { return FBTweakValue("X", "Plain", "Bool", true); }
        const char *of_text() { return FBTweakValue("X", "Plain", "Text", "text"); }
        unsigned long long of_wide() { return FBTweakValue("X", "Plain", "Wide", 18000000000000000000ull); }
        Plain of_enumeration() { return FBTweakValue("X", "Plain", "Enumeration", second); }
        Scoped of_scoped() { return FBTweakValue("X", "Plain", "Scoped", Scoped::third); }
        double of_constant() { return FBTweakValue("X", "Plain", "Constant", ratio, 0, 10); }
        Scoped of_choice() {
          return FBTweakValue("X", "Plain", "Choice", Scoped::third, FBTweakChoices(Scoped::third, (Scoped{6}, "6")));
        }
        static void act() {}
        FBTweakAction("X", "Plain", "Action", act);
        namespace { FBTweakAction("X", "Plain", "Action", [] { act(); }, FBTweakOwner("us")); }
        Scoped bound;
        int in_lambda() { return [] { return FBTweakValue("X", "Plain", "Lambda", 6); }(); }
        int main() {
          Shape shape;
          FBTweakBind(bound, "X", "Plain", "Bound", Scoped::third);
          if (bound != Scoped::third || in_inline_with_all() != 30 || of_choice() != bound)
            return 1;
          std::printf("%d %d %s %llu %d %d %g %d %d %d %g %d\\n", in_static(), of_bool(), of_text(), of_wide(),
                      of_enumeration(), static_cast<int>(of_scoped()), of_constant(), in_lambda(), in_inline(),
                      shape.member(), shape.virtual_member(), other_unit());
        }
        """

    private static let other = """
        #include "shared.hpp"
        int other_unit() { Shape shape; return in_inline() + shape.member(); }
        """

    private static let names = [
        "Action", "Bool", "Bound", "Choice", "Constant", "Enumeration", "Function", "Lambda", "Member",
        "Scoped",
        "Static", "Text",
        "Virtual",
        "Wide",
    ]

    @Test(arguments: Compiler.allCases, ["c++17", "c++20", "c++2b"])
    func `A program of several units has each tweak, and the right values`(
        compiler: Compiler, standard: String
    ) throws {
        try home.write("shared.hpp", Self.header)
        let sources = [try home.write("main.cpp", Self.main), try home.write("other.cpp", Self.other)]
        let warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"]
        for level in ["-O0", "-O2"] {
            let flags = ["-std=\(standard)", level, "-DDEBUG", "-ffunction-sections", "-fdata-sections"]
            try compiler.compile(
                sources, as: .cPlusPlus, to: home("program"), flags + warnings + ["-Wl,--gc-sections"],
                home: home)
            let result = try run(home("program"), home: home)
            #expect(result.output == "1 1 text 18000000000000000000 1 5 2.5 6 2 4 1.5 6\n")
            let dump = try DumpedJSON(dump(["--format", "json", home("program")], home: home).output)
            #expect(Set(dump.images[0].tweaks.map(\.name)).sorted() == Self.names)
        }
    }

    private static let template = """
        #include <fbtweak.h>
        template <class T> int in_template(T) { return FBTweakValue("X", "Template", "Function", 3); }
        template <class T> struct Box { int member() { return FBTweakValue("X", "Template", "Member", 4); } };
        int use() { return in_template(1) + in_template('c') + Box<long>().member(); }
        """

    @Test func `In a template clang keeps the tweak`() throws {
        let object = try home.write("template.cpp", Self.template)
        try Compiler.clang.compile(
            [object], as: .cPlusPlus, to: home("template.o"), ["-c", "-DDEBUG"], home: home)
        let dump = try DumpedJSON(dump(["--format", "json", home("template.o")], home: home).output)
        #expect(Set(dump.images[0].tweaks.map(\.name)) == ["Function", "Member"])
    }

    private static let reads = """
        #include <fbtweak.h>
        extern "C" {
        #ifdef AS_CONSTANTS
        #define VALUE(name_, default_, ...) (default_)
        #define BIND(lvalue_, default_, ...) (lvalue_) = (default_)
        #define ACTION(...) static_assert(true, "")
        #else
        #define VALUE(...) FBTweakValue("SecretCategory", "B", __VA_ARGS__)
        #define BIND(lvalue_, ...) FBTweakBind(lvalue_, "SecretCategory", "B", "C", __VA_ARGS__)
        #define ACTION(...) FBTweakAction("SecretCategory", "B", "C", __VA_ARGS__)
        #endif
        bool read_bool() { return VALUE("Bool", true); }
        unsigned char read_uint8() { return VALUE("UInt8", (unsigned char)200, 100, 255); }
        long long read_int64() { return VALUE("Int64", -5000000000ll); }
        float read_float() { return VALUE("Float", 1.5f); }
        double read_double() { return VALUE("Double", 1.5, 0, 2); }
        const char *read_text() { return VALUE("Text", "text"); }
        double read_options() {
          return VALUE("Options", 1.5, 0, 2, FBTweakStep(0.5), FBTweakPrecision(1), FBTweakUnit("Secret"),
                       FBTweakDescription("Secret"), FBTweakOwner("Secret"), FBTweakExpires("2027-01-31"));
        }
        int read_choice() { return VALUE("Choice", 2, FBTweakChoices((1, "Secret"), 2), FBTweakReadOnly); }
        const char *read_text_choice() { return VALUE("Text", "a", FBTweakChoices("a", ("b", "B"))); }
        fbtweak_color read_color() { return VALUE("Color", FBTweakRGB(1, 2, 3), FBTweakUnit("m")); }
        void bind(volatile float *ratio, const char **text, fbtweak_color *color, int *(*next)()) {
          BIND(*ratio, 0.5, 0, 1, FBTweakStep(0.1));
          BIND(*text, "text", FBTweakChoices("text", "Secret"));
          BIND(*color, FBTweakRGBA(1, 2, 3, 4));
          BIND(*next(), 5);
        }
        static void act() {}
        ACTION(act);
        void act_in_function() {
          ACTION(act, FBTweakDescription("Secret"));
          ACTION([] { act(); });
        }
        }
        """

    @Test(arguments: Compiler.allCases)
    func `A read is one load and no call`(compiler: Compiler) throws {
        let object = try cObject(
            Self.reads, as: .cPlusPlus, with: compiler, ["-O2", "-DFB_TWEAK_ENABLED=1"], home: home)
        for function in [
            "read_bool", "read_uint8", "read_int64", "read_float", "read_double", "read_text", "read_options",
            "read_choice", "read_text_choice", "read_color",
        ] {
            let code = object.function(function)
            #expect(!code.isEmpty, "\(function)")
            #expect(code.filter(\.isCall).isEmpty, "\(function)")
            #expect(code.filter(\.readsRecord).count == 1, "\(function)")
        }
    }

    @Test(arguments: Compiler.allCases, ["-O0", "-O2"])
    func `A disabled tweak is the constant, byte for byte`(compiler: Compiler, level: String) throws {
        let tweaks = try cObject(Self.reads, as: .cPlusPlus, with: compiler, [level], home: home)
        let constants = try cObject(
            Self.reads, as: .cPlusPlus, with: compiler, [level, "-DAS_CONSTANTS"], home: home)
        #expect(tweaks.bytes == constants.bytes)
        #expect(!tweaks.contains("Secret") && !tweaks.contains("fbtweak"))
    }

    private static let binding = """
        #include <fbtweak.h>
        extern "C" {
        #ifdef AS_CONSTANTS
        void bind(int *level, const char **text) { *level = 5; *text = "text"; }
        int after_reset() { return 3; }
        #else
        void bind(int *level, const char **text) {
          auto first = FBTweakBinding(*level, "SecretCategory", "B", "C", 5, 0, 10, FBTweakStep(1));
          fbtweak_binding moved = static_cast<fbtweak_binding &&>(first), assigned;
          assigned = FBTweakBinding(*text, "SecretCategory", "B", "C", "text");
          assigned.reset();
        }
        int after_reset() { fbtweak_binding none; none.reset(); return 3; }
        #endif
        }
        """

    @Test(arguments: Compiler.allCases, ["-O1", "-O2"])
    func `A disabled binding is the assignment, byte for byte`(compiler: Compiler, level: String) throws {
        let flags = [level, "-std=c++17"]
        let tweaks = try cObject(Self.binding, as: .cPlusPlus, with: compiler, flags, home: home)
        let constants = try cObject(
            Self.binding, as: .cPlusPlus, with: compiler, flags + ["-DAS_CONSTANTS"], home: home)
        #expect(tweaks.bytes == constants.bytes)
        #expect(!tweaks.contains("Secret") && !tweaks.contains("fbtweak"))
    }

    @Test(arguments: Compiler.present, ["c++17", "c++20", "c++2b"])
    func `A binding moves and is not copied, and is nothing when tweaks are disabled`(
        compiler: Compiler, standard: String
    ) throws {
        let source = try home.write(
            "binding.cpp",
            """
            #include <fbtweak.h>
            #include <type_traits>
            using binding = fbtweak_binding;
            static_assert(std::is_nothrow_default_constructible_v<binding>);
            static_assert(std::is_nothrow_move_constructible_v<binding> && std::is_nothrow_move_assignable_v<binding>);
            static_assert(!std::is_copy_constructible_v<binding> && !std::is_copy_assignable_v<binding>);
            static_assert(FB_TWEAK_ENABLED || (std::is_trivial_v<binding> && std::is_empty_v<binding>));
            struct Mixer {
              float volume = 0;
              volatile int rate = 0;
              fbtweak_binding volumeBinding, rateBinding;
              Mixer() : volumeBinding(FBTweakBinding(volume, "A", "B", "Volume", 0.5, 0, 1)) {
                rateBinding = FBTweakBinding(rate, "A", "B", "Rate", 2, FBTweakChoices(1, (2, "two")));
              }
            };
            binding global;
            void use() {
              Mixer mixer;
              auto unused = FBTweakBinding(mixer.rate, "A", "B", "Rate", 2);
            }
            """)
        for flag in ["-DDEBUG", "-DDEBUG=0"] {
            let output = try compiler.compile(
                [source], as: .cPlusPlus, to: home("binding.o"),
                ["-c", flag, "-std=\(standard)", "-Wall", "-Wextra", "-Wpedantic"], home: home)
            #expect(output == "")
        }
    }
}
