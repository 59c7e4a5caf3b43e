// SPDX-License-Identifier: BSD-3-Clause
import Foundation
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

    /// Declarations with a tweak that a compiler instantiates, and their uses.
    private static let instantiated = [
        ("template <class T> int a(T) { return VALUE; }", "a(1) + a('c')"),
        ("template <class T> struct B { int member() { return VALUE; } };", "B<long>().member()"),
        ("template <class T> int c(T x) { return [](int y) { return y + VALUE; }(x); }", "c(1)"),
        ("template <class T> struct D { friend int d(D) { return VALUE; } };", "d(D<int>())"),
        ("template <class T> struct E { int e = [] { return VALUE; }(); };", "E<int>().e"),
        ("template <class T> int f(T x = [] { return VALUE; }()) { return x; }", "f<int>()"),
        ("template <class T> int g = [] { return VALUE; }();", "g<int>"),
        (
            "template <int n> int h() { struct H { int h() { return VALUE + n; } }; return H().h(); }",
            "h<2>()"
        ),
        ("inline auto i = [](auto x) { return x + VALUE; };", "i(1)"),
        ("template <class T> struct J { struct K { operator int() { return VALUE; } }; };", "J<int>::K()"),
        (
            "template <class T> struct L { static int l; }; template <class T> int L<T>::l = [] { return VALUE; }();",
            "L<int>::l"
        ),
        (
            "template <class T> struct M; template <class T> struct M<T *> { int m() { return VALUE; } };",
            "M<int *>().m()"
        ),
    ]

    @Test(arguments: Compiler.present)
    func `A tweak in what is instantiated is found, or refused where it stands`(compiler: Compiler) throws {
        for (declaration, use) in Self.instantiated {
            let source = try home.write(
                "template.cpp",
                """
                #include <fbtweak.h>
                #define VALUE FBTweakValue("X", "Template", "Value", 3)
                \(declaration)
                int use() { return \(use); }
                """)
            do {
                try compiler.compile(
                    [source], as: .cPlusPlus, to: home("template.o"), ["-c", "-DDEBUG"], home: home)
                #expect(compiler != .gcc, "\(declaration)")
                let dump = try DumpedJSON(dump(["--format", "json", home("template.o")], home: home).output)
                #expect(Set(dump.images[0].tweaks.map(\.name)) == ["Value"], "\(declaration)")
            } catch let error as CompilationError {
                #expect(compiler == .gcc, "\(error)")
                #expect(
                    error.description.contains("template.cpp:3:")
                        && error.description.contains("GCC loses a tweak in a template"), "\(error)")
            }
        }
    }

    @Test(arguments: Compiler.present)
    func `A tweak in a full specialization is found`(compiler: Compiler) throws {
        let source = try home.write(
            "specialization.cpp",
            """
            #include <fbtweak.h>
            template <class T> int function() { return 1; }
            template <> int function<int>() { return FBTweakValue("X", "Full", "Function", 3); }
            template <class T> struct Box;
            template <> struct Box<int> { int member() { return FBTweakValue("X", "Full", "Member", 4); } };
            int use() { return function<int>() + Box<int>().member(); }
            """)
        try compiler.compile([source], as: .cPlusPlus, to: home("full.o"), ["-c", "-DDEBUG"], home: home)
        let dump = try DumpedJSON(dump(["--format", "json", home("full.o")], home: home).output)
        #expect(Set(dump.images[0].tweaks.map(\.name)) == ["Function", "Member"])
    }

    @Test(arguments: Compiler.present)
    func `Plug-ins with the same inline function have their own records and are unloaded`(
        compiler: Compiler
    ) throws {
        let plugIn = try home.write(
            "plug-in.cpp",
            """
            #include <fbtweak.h>
            #define EXPORTED __attribute__((visibility("default")))
            static double bound;
            inline TYPE speed() { return FBTweakValue("Plug", "Game", "Speed", (TYPE)DEFAULT); }
            EXPORTED inline TYPE exported() {
              FBTweakMonitor("Plug", "Game", "Monitor", 1);
              FBTweakGate("Plug");
              auto lambda = [] { bound = 1; };
              FBTweakAction("Plug", "Game", "Action", [] {});
              FBTweakAction("Plug", "Game", "Same", lambda);
              FBTweakBind(bound, "Plug", "Game", "Bound", 2);
              return FBTweakValue("Plug", "Game", "Exported", (TYPE)DEFAULT, FBTweakStep(1));
            }
            struct EXPORTED Game {
              virtual ~Game() = default;
              TYPE member() { return FBTweakValue("Plug", "Game", "Member", (TYPE)DEFAULT, 0, 100); }
              virtual TYPE virtual_member() {
                return [] { return FBTweakValue("Plug", "Game", "Virtual", (TYPE)DEFAULT, FBTweakChoices((TYPE)DEFAULT)); }();
              }
            };
            EXPORTED inline int uncalled() { return FBTweakValue("Plug", "Game", "Uncalled", 5); }
            extern "C" EXPORTED int run() {
              Game game;
              return static_cast<int>((speed() + exported() + game.member() + game.virtual_member()) * 1000);
            }
            """)
        let host = try home.write(
            "host.cpp",
            """
            #include <dlfcn.h>
            #include <cstdio>
            int main(int count, char **arguments) {
              for (int i = 1; i < count; i++) {
                void *plug_in = dlopen(arguments[i], RTLD_NOW | RTLD_LOCAL);
                std::printf("%d ", reinterpret_cast<int (*)()>(dlsym(plug_in, "run"))());
                dlclose(plug_in);
                std::printf("%d ", dlopen(arguments[i], RTLD_NOW | RTLD_NOLOAD) != nullptr);
              }
              // The first stays, and its symbols come first.
              for (int i = 1; i < count; i++) {
                void *plug_in = dlopen(arguments[i], RTLD_NOW | RTLD_GLOBAL);
                std::printf("%d ", reinterpret_cast<int (*)()>(dlsym(plug_in, "run"))());
              }
            }
            """)
        try Compiler.gcc.compile([host], as: .cPlusPlus, to: home("host"), ["-ldl"], home: home)
        let optimization = compiler == .gcc ? ["-O2", "-flto"] : ["-O2", "-flto", "-fuse-ld=lld"]
        for visibility in ["default", "hidden", "internal", "protected"] {
            for flags in [["-O0"], ["-O2"], optimization] {
                var libraries: [String] = []
                for (type, value) in [("int", "7"), ("int", "9"), ("double", "0.5")] {
                    libraries.append(home("\(value).so"))
                    try compiler.compile(
                        [plugIn], as: .cPlusPlus, to: home("\(value).so"),
                        flags + [
                            "-fPIC", "-shared", "-DDEBUG", "-DTYPE=\(type)", "-DDEFAULT=\(value)",
                            "-fvisibility=\(visibility)",
                        ], home: home)
                    let exported = try run(
                        Locations.program("nm"), ["-D", "--defined-only", home("\(value).so")], home: home
                    ).output.split(separator: "\n").filter {
                        // GCC's LTO keeps those of actions, which no code reads.
                        $0.contains("fbtweak__") && !(compiler == .gcc && $0.contains("fbtweak__action"))
                    }
                    #expect(exported.isEmpty, "\(visibility), \(flags)")
                }
                let dump = try DumpedJSON(dump(["--format", "json", libraries[0]], home: home).output)
                #expect(
                    dump.images[0].tweaks.map(\.name).sorted() == [
                        "Action", "Bound", "Exported", "Member", "Monitor", "Same", "Speed", "Virtual",
                    ])
                let result = try run(home("host"), libraries, home: home)
                let each = "28000 0 36000 0 2000 0 "
                #expect(result.output.hasPrefix(each), "\(visibility), \(flags): \(result.output)")
                // Where nothing is inlined, the linker joins the functions, with their tweaks.
                #expect(
                    flags == ["-O0"] || result.output == each + "28000 36000 2000 ",
                    "\(visibility), \(flags): \(result.output)")
            }
        }
    }

    @Test(arguments: Compiler.present)
    func `Tweaks of a precompiled header are found, and those of one that two units share once`(
        compiler: Compiler
    ) throws {
        let header = try home.write(
            "shared.hpp",
            """
            #ifndef SHARED_HPP
            #define SHARED_HPP
            #include <fbtweak.h>
            extern int acted;
            inline int shared() {
              FBTweakAction("X", "Shared", "Action", [] { acted++; });
              return FBTweakValue("X", "Shared", "Value", 3, 0, 9);
            }
            #endif
            """)
        let main = try home.write(
            "main.cpp",
            """
            #include "shared.hpp"
            int acted, other();
            int main() { return shared() + other() - 6; }
            """)
        let other = try home.write("other.cpp", "#include \"shared.hpp\"\nint other() { return shared(); }")
        let precompiled = home("shared.hpp.\(compiler == .gcc ? "gch" : "pch")")
        try compiler.compile(
            [header], as: .cPlusPlus, to: precompiled, ["-x", "c++-header", "-fPIE", "-DDEBUG"], home: home)
        let include = compiler == .gcc ? [] : ["-include-pch", precompiled]
        try compiler.compile(
            [main, other], as: .cPlusPlus, to: home("program"), ["-fPIE", "-pie", "-DDEBUG"] + include,
            home: home)
        #expect(try run(home("program"), home: home).succeeded)
        let dump = try DumpedJSON(dump(["--format", "json", home("program")], home: home).output)
        #expect(dump.images[0].tweaks.map(\.name).sorted() == ["Action", "Value"])
    }

    /// Code that a compiler may evaluate or leave out.
    private static let reached = """
        #include <fbtweak.h>
        static int after(bool is_on) { return is_on ? FBTweakValue("X", "Reached", "Never true", 1) : 0; }
        constexpr int in_constant(bool is_on) { return is_on ? 3 : FBTweakValue("X", "Reached", "Constant", 3); }
        struct Box { int friendly = [] { return FBTweakValue("X", "Reached", "Initializer", 4); }(); };
        inline int uncalled() { return FBTweakValue("X", "Reached", "Uncalled", 5); }
        int use() {
          const int local = 5;
          constexpr double ratio = 0.5;
          (void)FBTweakValue("X", "Reached", "Discarded", 6);
          double sum = FBTweakValue("X", "Reached", "Local", local, 0, local + 1) * 0 +
                       FBTweakValue("X", "Reached", "Chosen", ratio, FBTweakChoices(ratio, (1, "one")));
          return after(false) + in_constant(true) + in_constant(false) + Box().friendly + static_cast<int>(sum);
        }
        """

    @Test(arguments: Compiler.present, ["-O0", "-O2"])
    func `A tweak is in an object file if code was generated for it`(compiler: Compiler, level: String) throws
    {
        let source = try home.write("reached.cpp", Self.reached)
        try compiler.compile(
            [source], as: .cPlusPlus, to: home("reached.o"), ["-c", "-std=c++20", "-DDEBUG", level],
            home: home)
        let result = try dump(["--format", "json", home("reached.o")], home: home)
        #expect(result.succeeded, "\(result.error)")
        #expect(
            try DumpedJSON(result.output).images[0].tweaks.map(\.name).sorted() == [
                "Chosen", "Constant", "Discarded", "Initializer", "Local", "Never true",
            ])
    }

    @Test(arguments: Compiler.present)
    func `Tweaks in a coroutine are found, and draw no warning`(compiler: Compiler) throws {
        let source = try home.write(
            "coroutine.cpp",
            """
            #include <fbtweak.h>
            #include <coroutine>
            struct Task {
              struct promise_type {
                Task get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
                std::suspend_never initial_suspend() noexcept { return {}; }
                std::suspend_always final_suspend() noexcept { return {}; }
                void return_value(int result) { value = result; }
                void unhandled_exception() {}
                int value;
              };
              std::coroutine_handle<promise_type> handle;
            };
            static int bound;
            inline Task task() {
              FBTweakGate("X");
              FBTweakBind(bound, "X", "Coroutine", "Bound", 4);
              FBTweakMonitor("X", "Coroutine", "Monitor", bound);
              co_await std::suspend_never{};
              co_return FBTweakValue("X", "Coroutine", "Value", 3);
            }
            int main() { return task().handle.promise().value - 3; }
            """)
        try compiler.compile(
            [source], as: .cPlusPlus, to: home("program"),
            ["-std=c++20", "-DDEBUG", "-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Werror"], home: home)
        #expect(try run(home("program"), home: home).succeeded)
        let dump = try DumpedJSON(dump(["--format", "json", home("program")], home: home).output)
        #expect(dump.images[0].tweaks.map(\.name).sorted() == ["Bound", "Monitor", "Value"])
    }

    @Test func `Tweaks of a module are found, with the note that locates them`() throws {
        let module = try home.write(
            "module.cppm",
            """
            module;
            #include <fbtweak.h>
            export module probe;
            export inline int in_inline() { return FBTweakValue("X", "Module", "Inline", 3); }
            export int ordinary() { return FBTweakValue("X", "Module", "Ordinary", 4); }
            export template <class T> int of_template(T) { return FBTweakValue("X", "Module", "Template", 5); }
            """)
        let main = try home.write(
            "main.cpp",
            "import probe;\nint main() { return in_inline() + ordinary() + of_template(1) - 12; }")
        let flags = ["-std=c++20", "-DDEBUG"]
        try Compiler.clang.compile(
            [module], as: .cPlusPlus, to: home("probe.pcm"), flags + ["--precompile"], home: home)
        try Compiler.clang.compile(
            [home("probe.pcm")], as: .cPlusPlus, to: home("probe.o"), ["-c"], home: home)
        try Compiler.clang.compile(
            [main, home("probe.o")], as: .cPlusPlus, to: home("program"),
            flags + ["-fmodule-file=probe=\(home("probe.pcm"))"], home: home)
        #expect(try run(home("program"), home: home).succeeded)
        let dump = try DumpedJSON(dump(["--format", "json", home("program")], home: home).output)
        #expect(dump.images[0].tweaks.map(\.name).sorted() == ["Inline", "Ordinary", "Template"])
        #expect(try ObjectFile(home("program"), home: home).sections.contains(".note.fbtweak"))
    }

    @Test func `The header is a header unit`() throws {
        let main = try home.write(
            "main.cpp",
            """
            import <fbtweak.h>;
            static void act() {}
            FBTweakAction("X", "Unit", "Action", act);
            inline int in_inline() { return FBTweakValue("X", "Unit", "Inline", 3); }
            int main() { FBTweakGate("X"); return in_inline() + FBTweakValue("X", "Unit", "Value", -3); }
            """)
        let flags = ["-std=c++20", "-DDEBUG"]
        try Compiler.clang.compile(
            ["fbtweak.h"], as: .cPlusPlus, to: home("fbtweak.pcm"),
            flags + ["-fmodule-header=system", "-xc++-system-header"], home: home)
        try Compiler.clang.compile(
            [main], as: .cPlusPlus, to: home("program"), flags + ["-fmodule-file=\(home("fbtweak.pcm"))"],
            home: home)
        #expect(try run(home("program"), home: home).succeeded)
        let dump = try DumpedJSON(dump(["--format", "json", home("program")], home: home).output)
        #expect(dump.images[0].tweaks.map(\.name).sorted() == ["Action", "Inline", "Value"])
        #expect(try ObjectFile(home("program"), home: home).sections.contains(".note.fbtweak"))
    }

    @Test func `The header compiles among macros with the names that it uses`() throws {
        let result = try run(
            Locations.package + "/tools/development/foreign-macros", ["--quick"], home: home,
            environment: ["PATH": ProcessInfo.processInfo.environment["PATH"] ?? ""])
        #expect(result.succeeded, "\(result.error)")
    }

    @Test(arguments: Compiler.present)
    func `The header can be included in a block of C linkage`(compiler: Compiler) throws {
        let source = try home.write(
            "linkage.cpp",
            """
            extern "C" {
            #include <fbtweak.h>
            }
            int use() { FBTweakGate("A"); return FBTweakValue("A", "B", "C", 3); }
            """)
        try compiler.compile([source], as: .cPlusPlus, to: home("linkage.o"), ["-c", "-DDEBUG"], home: home)
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
