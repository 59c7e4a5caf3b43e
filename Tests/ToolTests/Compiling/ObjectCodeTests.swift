// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

@Suite struct `Object code of a read` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private static let cSource = """
        #include <fbtweak.h>
        #include <stdbool.h>
        #define VALUE(...) FBTweakValue("A", "B", __VA_ARGS__)
        bool read_bool(void) { return VALUE("Bool", true); }
        signed char read_int8(void) { return VALUE("Int8", (signed char)-5, -100, 100); }
        unsigned char read_uint8(void) { return VALUE("UInt8", (unsigned char)200); }
        short read_int16(void) { return VALUE("Int16", (short)-300); }
        unsigned short read_uint16(void) { return VALUE("UInt16", (unsigned short)60000); }
        unsigned read_uint32(void) { return VALUE("UInt32", 4000000000u); }
        long long read_int64(void) { return VALUE("Int64", -5000000000ll, -6000000000ll, 6000000000ll); }
        unsigned long long read_uint64(void) { return VALUE("UInt64", 18000000000000000000ull); }
        float read_float(void) { return VALUE("Float", 1.5f, 0, 2); }
        int read_int(void) { return FBTweakValue("A", "B", "Int", 42); }
        int read_limited_int(void) { return FBTweakValue("A", "B", "Limited Int", 42, 0, 100); }
        double read_double(void) { return FBTweakValue("A", "B", "Double", 1.5); }
        double read_limited_double(void) { return FBTweakValue("A", "B", "Limited Double", 1.5, 0, 2); }
        const char *read_string(void) { return FBTweakValue("A", "B", "String", "text"); }
        int read_in_loop(int count) {
          int sum = 0;
          while (count-- > 0) sum += FBTweakValue("A", "B", "Turn", 3);
          return sum;
        }
        double read_options(void) {
          return VALUE("Options", 1.5, 0, 2, FBTweakStep(0.5), FBTweakPrecision(1), FBTweakUnit("m"),
                       FBTweakDescription("all"), FBTweakOwner("us"), FBTweakExpires("2027-01-31"),
                       FBTweakReadOnly, FBTweakNeedsRestart);
        }
        int read_choice(void) { return VALUE("Choice", 2, FBTweakChoices((1, "one"), 2), FBTweakUnit("m")); }
        const char *read_text_choice(void) { return VALUE("Text choice", "a", FBTweakChoices("a", ("b", "B"))); }
        fbtweak_color read_color(void) { return VALUE("Color", FBTweakRGB(1, 2, 3), FBTweakReadOnly); }
        """

    @Test(
        arguments: Compiler.allCases,
        [
            "read_bool", "read_int", "read_limited_int", "read_double", "read_limited_double", "read_string",
            "read_int8", "read_uint8", "read_int16", "read_uint16", "read_uint32", "read_int64",
            "read_uint64", "read_float", "read_options", "read_choice", "read_text_choice", "read_color",
        ])
    func `In C it is one load and no call`(compiler: Compiler, function: String) throws {
        let object = try cObject(Self.cSource, with: compiler, ["-O2", "-DFB_TWEAK_ENABLED=1"], home: home)
        let code = object.function(function)
        #expect(!code.isEmpty)
        #expect(code.filter(\.isCall).isEmpty)
        #expect(code.filter(\.readsRecord).count == 1)
    }

    @Test(arguments: Compiler.allCases)
    func `In C a text takes no more than the address of its default besides`(compiler: Compiler) throws {
        let object = try cObject(Self.cSource, with: compiler, ["-O2", "-DFB_TWEAK_ENABLED=1"], home: home)
        let touching = object.function("read_string").filter { $0.relocation != nil }
        #expect(touching.map(\.mnemonic).sorted() == ["lea", "mov"])
    }

    @Test(arguments: Compiler.allCases)
    func `In C a colour is read in one piece`(compiler: Compiler) throws {
        let object = try cObject(Self.cSource, with: compiler, ["-O2", "-DFB_TWEAK_ENABLED=1"], home: home)
        let load = object.function("read_color").filter(\.readsRecord)
        #expect(load.map { $0.text.contains(",%eax") } == [true])
    }

    @Test(arguments: Compiler.allCases)
    func `In C every turn of a loop reads again`(compiler: Compiler) throws {
        let object = try cObject(Self.cSource, with: compiler, ["-O2", "-DFB_TWEAK_ENABLED=1"], home: home)
        #expect(readsInLoop(object.function("read_in_loop")))
    }

    private static let swiftLoops = """
        import Tweaks
        public func readInLoop(_ count: Int) -> Int {
            var sum = 0
            for _ in 0..<count { sum &+= #tweak("A", "B", "Turn", default: 3) }
            return sum
        }
        public func readAsCondition() { while #tweak("A", "B", "Wait", default: true) {} }
        """

    @Test func `In Swift it is one load and no call`() throws {
        let object = try swiftObject(MacroSources.functions(), ["-DFB_TWEAK_ENABLED"], home: home)
        // A text is made of what is loaded, by the standard library.
        for read in MacroSources.reads
        where !["String", "String?", "Curve", "Font"].contains(read.type) && !read.type.hasPrefix("[") {
            expectOneLoad(object.function("5Reads\(read.name.utf8.count)\(read.name)"), read.name)
        }
    }

    @Test func `In Swift a variable is one load and no call`() throws {
        let object = try swiftObject(MacroSources.properties, ["-DFB_TWEAK_ENABLED"], home: home)
        for name in [
            "gain", "float", "width", "small", "on", "ink", "level", "angle", "mark", "limit", "retries",
            "quiet",
        ] {
            expectOneLoad(object.getter("5Reads6SpringO\(name.utf8.count)\(name)"), name)
            expectOneLoad(object.getter("5Reads\(name.utf8.count)\(name)"), name)
        }
    }

    @Test func `In Swift a group is one load for each of its tweaks and no call`() throws {
        let object = try swiftObject(MacroSources.properties, ["-DFB_TWEAK_ENABLED"], home: home)
        for (name, count) in [("shadow", 5), ("spring", 4), ("insets", 4)] {
            expectLoads(count, object.getter("5Reads6SpringO\(name.utf8.count)\(name)"), name)
        }
    }

    @Test func `In Swift a handle reads with a few instructions and no call`() throws {
        let types = ["Bool", "Int", "UInt8", "Int16", "Float", "Double", "TweakColor"]
        let source =
            "import Tweaks\n"
            + types.map { "public func read\($0)(_ tweak: Tweak<\($0)>) -> \($0) { tweak.value }\n" }.joined()
            + "public func readRecord(_ record: UnsafeRawPointer) -> Int { Tweak(__record: record, default: 5).value }"
        // Without optimisation, as that of the example is, the library looks for values in scopes.
        let object = try swiftObject(source, [], with: Installation.compilerFlags, home: home)
        for type in types {
            let code = object.function("5Reads\(type.utf8.count + 4)read\(type)")
            #expect(2...12 ~= code.count, "\(type): \(code.map(\.text))")
            // A read of a private store's tweak goes on elsewhere.
            let left = code.filter { $0.relocation?.contains("valueInTask") == false || $0.isCall }
            #expect(left.isEmpty, "\(type): \(left)")
        }
        #expect(object.function("5Reads10readRecord").map(\.mnemonic) == ["mov", "ret"])
    }

    private func expectOneLoad(_ code: [ObjectFile.Instruction], _ name: String) {
        expectLoads(1, code, name)
    }

    private func expectLoads(_ count: Int, _ code: [ObjectFile.Instruction], _ name: String) {
        #expect(!code.isEmpty, "\(name)")
        #expect(code.filter(\.isCall).isEmpty, "\(name)")
        #expect(code.filter(\.readsRecord).count == count, "\(name)")
    }

    #if arch(x86_64)
    @Test(arguments: Compiler.present)
    func
        `A loop is vectorized if a tweak is read before it, and if a bound variable is, but not with a tweak in it`(
            compiler: Compiler
        ) throws
    {
        let source = """
            #include <fbtweak.h>
            float bound;
            void bind(void) { FBTweakBind(bound, "A", "B", "Bound", 0.5); }
            #define SCALE(name_, before_, gain_)                                                    \\
              void name_(float *restrict out, const float *restrict in, unsigned long count) {      \\
                before_;                                                                            \\
                for (unsigned long i = 0; i < count; i++) out[i] = in[i] * (gain_);                 \\
              }
            SCALE(by_constant, (void)0, 0.5f)
            SCALE(by_tweak, (void)0, FBTweakValue("A", "B", "Gain", 0.5f))
            SCALE(by_tweak_before, float gain = FBTweakValue("A", "B", "Before", 0.5f), gain)
            SCALE(by_bound, (void)0, bound)

            """
        let file = try home.write("scale.c", source)
        try compiler.compile([file], to: home("scale.o"), ["-c", "-O3", "-DDEBUG"], home: home)
        let object = try ObjectFile(home("scale.o"), home: home)
        for (name, isVectorized) in [
            ("by_constant", true), ("by_tweak", false), ("by_tweak_before", true), ("by_bound", true),
        ] {
            let code = object.function(name)
            #expect(!code.isEmpty)
            #expect(code.contains { $0.mnemonic == "mulps" } == isVectorized, "\(name)")
        }
    }
    #endif

    @Test(arguments: ["readInLoop", "readAsCondition"])
    func `In Swift every turn of a loop reads again`(function: String) throws {
        let object = try swiftObject(Self.swiftLoops, ["-DFB_TWEAK_ENABLED"], home: home)
        #expect(readsInLoop(object.function("5Reads\(function.utf8.count)\(function)")))
    }

    /// Whether there are loops, and a read inside each: between a backward jump and its target.
    private func readsInLoop(_ code: [ObjectFile.Instruction]) -> Bool {
        let loops = code.compactMap { jump in
            jump.target.flatMap { $0 <= jump.address ? $0...jump.address : nil }
        }
        return !loops.isEmpty
            && loops.allSatisfy { loop in code.contains { $0.readsRecord && loop.contains($0.address) } }
    }
}
