// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

/// A tweak that is disabled is the constant: nothing in the object tells that there was one.
@Suite struct `Disabled tweaks` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private static let cSource = """
        #include <fbtweak.h>
        #include <stdbool.h>
        #ifdef AS_CONSTANTS
        #define VALUE(name_, default_, ...) (default_)
        #define BIND(lvalue_, default_, ...) (lvalue_) = (default_)
        #define UNBIND(lvalue_)
        #define ACTION(function_, ...) _Static_assert(1, "")
        #define INLINE(...) (const fbtweak *)0
        #else
        #define VALUE(name_, ...) FBTweakValue("SecretCategory", "SecretCollection", name_, __VA_ARGS__)
        #define BIND(lvalue_, ...) FBTweakBind(lvalue_, "SecretCategory", "B", "SecretBound", __VA_ARGS__)
        #define UNBIND(lvalue_) FBTweakUnbind(lvalue_)
        #define ACTION(...) FBTweakAction("SecretCategory", "B", "SecretAction", __VA_ARGS__)
        #define INLINE(...) FBTweakInline("SecretCategory", "B", "SecretHandle", __VA_ARGS__)
        #endif
        bool read_bool(void) { return VALUE("SecretBool", true); }
        signed char read_int8(void) { return VALUE("SecretInt8", (signed char)-5, -100, 100); }
        unsigned char read_uint8(void) { return VALUE("SecretUInt8", (unsigned char)200); }
        short read_int16(void) { return VALUE("SecretInt16", (short)-300); }
        unsigned short read_uint16(void) { return VALUE("SecretUInt16", (unsigned short)60000); }
        unsigned read_uint32(void) { return VALUE("SecretUInt32", 4000000000u); }
        long long read_int64(void) { return VALUE("SecretInt64", -5000000000ll, -6000000000ll, 6000000000ll); }
        unsigned long long read_uint64(void) { return VALUE("SecretUInt64", 18000000000000000000ull); }
        float read_float(void) { return VALUE("SecretFloat", 1.5f, 0, 2); }
        int read_int(void) { return VALUE("SecretInt", 42); }
        int read_limited_int(void) { return VALUE("SecretInt", 42, 0, 100); }
        double read_double(void) { return VALUE("SecretDouble", 1.5); }
        double read_limited_double(void) { return VALUE("SecretDouble", 1.5, 0, 2); }
        const char *read_string(void) { return VALUE("SecretString", "text"); }
        int read_in_loop(int count) {
          int sum = 0;
          while (count-- > 0) sum += VALUE("SecretTurn", 3);
          return sum;
        }
        double read_options(void) {
          return VALUE("SecretOptions", 1.5, 0, 2, FBTweakStep(0.5), FBTweakPrecision(1), FBTweakUnit("Secret"),
                       FBTweakScale("linear"), FBTweakPair("Secret"), FBTweakDescription("Secret"), FBTweakOwner("Secret"), FBTweakExpires("2027-01-31"));
        }
        int read_choice(void) { return VALUE("SecretChoice", 2, FBTweakChoices((1, "Secret"), 2)); }
        fbtweak_color read_color(void) { return VALUE("SecretColor", FBTweakRGB(1, 2, 3), FBTweakReadOnly); }
        const fbtweak *read_handle(void) { return INLINE(5, 0, 10, FBTweakUnit("Secret")); }
        int bind(volatile float *ratio, const char **text, fbtweak_color *color, int *(*next)(void)) {
          BIND(*ratio, 0.5, 0, 1, FBTweakStep(0.1));
          BIND(*text, "text", FBTweakChoices("text", "Secret"));
          BIND(*color, FBTweakRGBA(1, 2, 3, 4));
          BIND(*next(), 5);
          UNBIND(*ratio);
          return 1;
        }
        static void act(void) {}
        ACTION(act);
        void act_in_function(void) {
          ACTION(act, FBTweakDescription("Secret"));
          ACTION(&act, FBTweakOwner("Secret"));
        }
        """

    @Test(arguments: Compiler.allCases, ["-O0", "-O2"])
    func `In C the object is the same, byte for byte, as with constants`(compiler: Compiler, level: String)
        throws
    {
        for switches in [[], ["-DDEBUG=0"], ["-DDEBUG", "-DFB_TWEAK_ENABLED=0"]] {
            let flags = [level] + switches
            let tweaks = try cObject(Self.cSource, with: compiler, flags, home: home)
            let constants = try cObject(
                Self.cSource, with: compiler, flags + ["-DAS_CONSTANTS"], home: home)
            #expect(tweaks.bytes == constants.bytes, "\(switches)")
        }
    }

    @Test(arguments: Compiler.allCases, ["-O0", "-O2"])
    func `In C no section and no name is left`(compiler: Compiler, level: String) throws {
        let object = try cObject(Self.cSource, with: compiler, [level], home: home)
        #expect(object.functions.count > 15)
        #expect(!object.sections.contains { $0.contains("fbtweak") })
        #expect(!object.contains("Secret") && !object.contains("fbtweak"))
    }

    @Test(arguments: Compiler.allCases, Language.allCases)
    func `A static function that only an action names is not found unused`(
        compiler: Compiler, language: Language
    ) throws {
        let source = """
            #include <fbtweak.h>
            static void act(void) {}
            static void act_again(void) {}
            FBTweakAction("A", "B", "C", act);
            void act_in_function(void);
            void act_in_function(void) { FBTweakAction("A", "B", "C", act_again); }
            """
        let file = try home.write("action.\(language.suffix)", source)
        let output = try compiler.compile(
            [file], as: language, to: home("action.o"), ["-c", "-O2", "-Wall", "-Wextra", "-Wpedantic"],
            home: home)
        #expect(output == "")
        let object = try ObjectFile(home("action.o"), home: home)
        #expect(object.functions.count == 1)
    }

    @Test(arguments: Compiler.allCases)
    func `In C the sections and the names are there when tweaks are enabled`(compiler: Compiler) throws {
        let object = try cObject(Self.cSource, with: compiler, ["-DDEBUG"], home: home)
        #expect(object.sections.isSuperset(of: ["fbtweak", ".note.fbtweak"]))
        #expect(object.contains("SecretBool"))
    }

    @Test(arguments: [
        [], ["-DDEBUG", "-DFB_TWEAK_DISABLED"], ["-DFB_TWEAK_ENABLED", "-DFB_TWEAK_DISABLED"],
    ])
    func `In Swift the code is the same as with constants, and nothing else is left`(switches: [String])
        throws
    {
        let loop = { (value: String) in
            """
            public func readInLoop(_ count: Int) -> Int {
                var sum = 0
                for _ in 0..<count { sum &+= \(value) }
                return sum
            }
            """
        }
        let tweaks = try swiftObject(
            MacroSources.functions() + loop("#tweak(\"SecretCategory\", \"B\", \"SecretTurn\", default: 3)"),
            switches,
            home: home)
        let constants = try swiftObject(
            MacroSources.functions(asConstants: true) + loop("3"), switches, home: home)
        #expect(tweaks.functions.count >= 23)
        #expect(tweaks.code == constants.code)
        #expect(tweaks.sections == constants.sections)
        #expect(!tweaks.contains("Secret"))
        #expect(!tweaks.sections.contains("fbtweak"))
    }

    @Test(arguments: [(.gcc, []), (.gcc, ["-flto"]), (.clang, [])] as [(Compiler, [String])])
    func `In C a release that makes tweaks at run time has a note, unless they are disabled`(
        compiler: Compiler, flags: [String]
    ) throws {
        let source = """
            #include <fbtweak.h>
            #include <stdio.h>
            int main(void) {
              if (!fbtweak_make_action("A", "B", "C", 0, 0))
                puts(fbtweak_error());
              return FBTweakValue("A", "B", "Status", 0);
            }
            """
        let file = try home.write("made.c", source)
        func forbid(_ switches: [String]) throws -> String {
            try compiler.compile([file], as: .c, to: home("made"), ["-O2"] + flags + switches, home: home)
            _ = try run(Locations.program("strip"), [home("made")], home: home)
            return try dump(["--forbid", home("made")], home: home).output
        }
        let found =
            "\(home("made")): code that uses the tweaks of the process, such as some made at run time\n"
        #expect(try forbid([]) == found)
        #expect(try forbid(["-DDEBUG"]).hasSuffix(found))
        for disabled in ["-DFB_TWEAK_DISABLED", "-DFB_TWEAK_DISABLED="] {
            for enabled in [[], ["-DDEBUG"], ["-DFB_TWEAK_ENABLED=1"]] {
                #expect(try forbid([disabled] + enabled) == "")
                let said = try run(home("made"), home: home).output
                #expect(said == "FB_TWEAK_DISABLED disables tweaks in this unit\n")
            }
        }
        #expect(try forbid(["-DFB_TWEAK_DISABLED=0"]) == found)
    }

    @Test
    func `In Swift a release that uses the store of the process has a note, and one with macros has none`()
        throws
    {
        let uses = [
            "public func make() throws { _ = try TweakStore.shared.make(\"A\", \"B\", \"C\", default: 1) }",
            "public func isOn() -> Bool { TweakStore.shared.feature(\"search\").isEnabled }",
            "public struct Search { @FeatureVariable(\"search\", \"limit\") var limit = 20 }",
            "public struct Search { @FeatureVariable(\"search\", \"limit\", fallback: 20) var limit: Int }",
            "public struct Search { @OptionalFeatureVariable(\"search\", \"limit\") var limit: Int? }",
        ]
        for use in uses {
            for optimization in ["-O", "-Onone"] {
                let object = try swiftObject("import Tweaks\n" + use, [optimization], home: home)
                #expect(object.sections.contains(".note.fbtweak.use"), "\(use) \(optimization)")
            }
        }
        let macros = try swiftObject(MacroSources.properties, [], home: home)
        #expect(!macros.sections.contains(".note.fbtweak.use"))
    }

    @Test func `In Swift records without places are a choice`() throws {
        let enabled = ["-DFB_TWEAK_ENABLED"]
        for source in [MacroSources.functions(), MacroSources.properties, MacroSources.actions] {
            #expect(try swiftObject(source, enabled, home: home).contains("Reads.swift:"))
            let object = try swiftObject(source, enabled + ["-DFB_TWEAK_NO_LOCATIONS"], home: home)
            #expect(object.sections.contains("fbtweak") && !object.contains("Reads.swift:"))
        }
    }

    @Test func `In Swift a disabled variable is the constant, and an action is nothing`() throws {
        let variables = try swiftObject(MacroSources.properties, [], home: home)
        let actions = try swiftObject(
            MacroSources.actions.replacing("{ print(\"SecretClear\") }", with: "{}"), [], home: home)
        let gain = variables.function("5Reads6SpringO4gainSdvgZ")
        #expect(gain.map(\.mnemonic).last == "ret" && gain.filter(\.isCall).isEmpty)
        for object in [variables, actions] {
            #expect(!object.sections.contains("fbtweak"))
            for text in ["SecretCategory", "SecretUnit", "__tweak", "tweakAction", "cleared"] {
                #expect(!object.contains(text), "\(text)")
            }
        }
    }

    @Test func `In Swift they are disabled where the object format is not ELF`() throws {
        let source =
            MacroSources.functions() + MacroSources.properties.dropFirst(MacroSources.types.count)
            + MacroSources.actions.dropFirst("import Tweaks\n".count)
        let file = try home.write("Expanded.swift", source)
        let result = try run(
            Locations.program("swiftc"),
            ["-parse-as-library", "-typecheck", file, "-Xfrontend", "-dump-macro-expansions"]
                + Example.compilerFlags, home: home, environment: ["TMPDIR": home.path])
        // Within a branch a record has a second form without its place.
        let places = #/ *#if FB_TWEAK_NO_LOCATIONS\n(?:.*\n)*? *#else\n((?:.*\n)*?) *#endif\n/#
        let expansions = (result.output + result.error).replacing(places) { $0.1 }
        let branches = expansions.matches(of: #/#if (.*)\n((?:.*\n)*?) *(?:#else\n(?:.*\n)*?)? *#endif/#)
        #expect(branches.count { $0.2.contains("@section(\"fbtweak\")") } > 40)
        // All that has to do with records is in the first branch, and its condition is always the same.
        let conditions = Set(branches.map(\.1))
        let rest = branches.reduce(expansions) { $0.replacing($1.2, with: "") }
        for word in ["fbtweak", "__tweak", "__record:"] { #expect(!rest.contains(word), "\(word)") }
        let condition = try #require(conditions.count == 1 ? conditions.first : nil)

        // The compiler has the standard library of this machine alone, and so gets a file without it.
        let probe = try home.write("Probe.swift", "#if \(condition)\n#warning(\"enabled\")\n#endif\n")
        let targets = [
            "x86_64-unknown-linux-gnu": true, "aarch64-unknown-linux-android28": true,
            "x86_64-unknown-freebsd14": true, "arm64-apple-macosx15": false,
            "x86_64-unknown-windows-msvc": false, "wasm32-unknown-wasi": false,
        ]
        for (target, isEnabled) in targets {
            let said = try run(
                Locations.program("swiftc"),
                ["-frontend", "-typecheck", "-parse-stdlib", "-DDEBUG", "-target", target, probe], home: home
            ).error
            #expect(said.contains("warning: enabled") == isEnabled, "\(target): \(said)")
        }
    }

    @Test(arguments: ["-DDEBUG", "-DFB_TWEAK_ENABLED"])
    func `In Swift the records are there when tweaks are enabled`(flag: String) throws {
        let object = try swiftObject(MacroSources.functions(), [flag], home: home)
        #expect(object.sections.contains("fbtweak"))
        #expect(object.contains("SecretCategory"))
    }
}
