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
        int in_lambda() { return [] { return FBTweakValue("X", "Plain", "Lambda", 6); }(); }
        int main() {
          Shape shape;
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
        "Bool", "Constant", "Enumeration", "Function", "Lambda", "Member", "Scoped", "Static", "Text",
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

    @Test func `In a template GCC refuses the tweak and says what to do`() throws {
        let source = try home.write("template.cpp", Self.template)
        let error = #expect(throws: CompilationError.self) {
            try Compiler.gcc.compile(
                [source], as: .cPlusPlus, to: home("template.o"), ["-c", "-DDEBUG"], home: home)
        }
        #expect(
            error?.description.contains(
                "GCC loses a tweak in a template; put it into a function that is none, and call that") == true
        )
    }

    @Test(
        arguments: Compiler.allCases,
        [
            ("1.0L", "the default must be a bool, an integer, a float, a double or a string literal"),
            ("true, 0, 1", "only a number has a minimum and a maximum"),
            ("5, 0", "minimum and maximum come together"),
            ("5, 6, 7", "the default is not between minimum and maximum"),
            ("5.5, 1, 5", "the default is not between minimum and maximum"),
            (#""te\0xt""#, "a string default cannot contain a NUL"),
            ("number", "constant"), ("name", "constant"),
        ])
    func `A tweak that cannot be is a compile error that says why`(
        compiler: Compiler, tweak: (tail: String, message: String)
    ) throws {
        let source = try home.write(
            "wrong.cpp",
            """
            #include <fbtweak.h>
            void use(int number, const char *name) { (void)number, (void)name, (void)FBTweakValue("A", "B", "C", \(tweak.tail)); }
            """)
        let error = #expect(throws: CompilationError.self) {
            try compiler.compile(
                [source], as: .cPlusPlus, to: home("wrong.o"), ["-c", "-DDEBUG"], home: home)
        }
        #expect(error?.description.contains(tweak.message) == true)
    }

    private static let reads = """
        #include <fbtweak.h>
        extern "C" {
        #ifdef AS_CONSTANTS
        #define VALUE(name_, default_, ...) (default_)
        #else
        #define VALUE(...) FBTweakValue("SecretCategory", "B", __VA_ARGS__)
        #endif
        bool read_bool() { return VALUE("Bool", true); }
        unsigned char read_uint8() { return VALUE("UInt8", (unsigned char)200, 100, 255); }
        long long read_int64() { return VALUE("Int64", -5000000000ll); }
        float read_float() { return VALUE("Float", 1.5f); }
        double read_double() { return VALUE("Double", 1.5, 0, 2); }
        const char *read_text() { return VALUE("Text", "text"); }
        }
        """

    @Test(arguments: Compiler.allCases)
    func `A read is one load and no call`(compiler: Compiler) throws {
        let object = try cObject(
            Self.reads, as: .cPlusPlus, with: compiler, ["-O2", "-DFB_TWEAK_ENABLED=1"], home: home)
        for function in ["read_bool", "read_uint8", "read_int64", "read_float", "read_double", "read_text"] {
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
}
