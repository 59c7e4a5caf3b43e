// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

/// Where the programs and models of these tests are.
private let programs = Locations.package + "/Tests/Programs"

@Suite struct `Object code of a gate` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private static let source = """
        #include <fbtweak.h>
        #ifdef AS_NOTHING
        #define GATE(...) ((void)0)
        #define TAKE(set_, copy_) (*(copy_) = (set_))
        #else
        #define GATE(...) FBTweakGate(__VA_ARGS__)
        #define TAKE(set_, copy_) (void)FBTweakTake(set_, copy_)
        #endif
        #ifdef __cplusplus
        extern "C" {
        #endif
        struct set { double first, second; };
        static inline struct set read_set(void) {
          struct set set = {FBTweakValue("SecretCategory", "B", "First", 1.0), FBTweakValue("SecretCategory", "B", "Second", 2.0)};
          return set;
        }
        void pass(void);
        void pass(void) { GATE("SecretCategory"); }
        void pass_collection(void);
        void pass_collection(void) { GATE("SecretCategory", "SecretCollection"); }
        struct set copy;
        void take(void);
        void take(void) { TAKE(read_set(), &copy); }
        #ifdef __cplusplus
        }
        #endif

        """

    @Test(arguments: Compiler.present, Language.allCases)
    func `An idle gate is one load and a branch, and the pass is elsewhere`(
        compiler: Compiler, language: Language
    ) throws {
        let flags = ["-O2", "-DDEBUG", language == .c ? "-std=c11" : "-std=c++17"]
        let object = try cObject(Self.source, as: language, with: compiler, flags, home: home)
        for name in ["pass", "pass_collection"] {
            let code = object.function(name)
            #expect(code.filter(\.readsRecord).count == 1, "\(code.map(\.text))")
            let idle = code.prefix { $0.mnemonic != "ret" }.map(\.mnemonic)
            #expect(idle == ["mov", "test", "jne"] || idle == ["cmpq", "jne"], "\(idle)")
        }
        #expect(object.functions.contains { $0.key.contains("fbtweak__pass") })
    }

    @Test(arguments: Compiler.allCases, ["-O0", "-O2"])
    func `Where tweaks are disabled a gate is nothing, byte for byte`(compiler: Compiler, level: String)
        throws
    {
        let source = Self.source.replacing("struct set copy;", with: "#if 0\nstruct set copy;")
            .replacing("TAKE(read_set(), &copy); }\n", with: "TAKE(read_set(), &copy); }\n#endif\n")
        let gates = try cObject(source, with: compiler, [level], home: home)
        let nothing = try cObject(source, with: compiler, [level, "-DAS_NOTHING"], home: home)
        #expect(gates.bytes == nothing.bytes)
        #expect(!gates.contains("Secret") && !gates.contains("fbtweak"))
    }

    @Test(arguments: Compiler.allCases)
    func `Where tweaks are disabled a take is an assignment`(compiler: Compiler) throws {
        let takes = try cObject(Self.source, with: compiler, ["-O2"], home: home)
        let assignments = try cObject(Self.source, with: compiler, ["-O2", "-DAS_NOTHING"], home: home)
        #expect(takes.code == assignments.code)
        #expect(takes.sections == assignments.sections)
    }

    @Test(arguments: Compiler.present, Language.allCases)
    func `A unit that has no gate and takes no set has nothing of them`(
        compiler: Compiler, language: Language
    ) throws {
        let source = "#include <fbtweak.h>\nint read(void) { return FBTweakValue(\"A\", \"B\", \"C\", 1); }\n"
        for level in ["-O0", "-O2"] {
            let flags = [level, "-DDEBUG", language == .c ? "-std=c11" : "-std=c++17"]
            let object = try cObject(source, as: language, with: compiler, flags, home: home)
            #expect(!object.contains("fbtweak__pass") && !object.contains("fbtweak__image_sequence"))
        }
    }

    private static let swiftSource = """
        import Tweaks
        public func pass() { #tweakGate("SecretCategory") }
        public func passCollection() { #tweakGate("SecretCategory", "SecretCollection") }
        """

    @Test func `In Swift it is one load, a branch and a call behind it`() throws {
        let object = try swiftObject(
            Self.swiftSource, ["-DFB_TWEAK_ENABLED", "-warnings-as-errors", "-swift-version", "6"], home: home
        )
        for name in ["4pass", "14passCollection"] {
            let code = object.function("5Reads" + name)
            let reads = code.filter { $0.readsRecord && !$0.isCall && !$0.mnemonic.hasPrefix("j") }
            #expect(reads.count == 1, "\(code.map(\.text))")
            #expect(
                code.count { $0.mnemonic.hasPrefix("j") && $0.mnemonic != "jmp" } == 1, "\(code.map(\.text))")
            #expect(code.contains { $0.relocation?.contains("fbtweak__pass_gate") == true })
        }
    }

    @Test func `In Swift nothing is left where there are no tweaks`() throws {
        let object = try swiftObject(
            Self.swiftSource, ["-warnings-as-errors", "-swift-version", "6"], home: home)
        #expect(!object.contains("Secret") && !object.sections.contains("fbtweak"))
        #expect(object.function("5Reads4pass").map(\.mnemonic).first == "ret")
    }

    @Test(arguments: [
        (#"#tweakGate("")"#, "a category or collection cannot be empty"),
        (#"#tweakGate("A\0")"#, "a category or collection cannot contain a NUL character"),
        (#"#tweakGate("A", "")"#, "a category or collection cannot be empty"),
    ])
    func `In Swift the compiler reports a name that no tweak has`(gate: String, message: String) throws {
        let error = try #require(throws: CompilationError.self) {
            try swiftObject("import Tweaks\nfunc pass() { \(gate) }\n", ["-DDEBUG"], home: home)
        }
        #expect(error.description.contains(message))
    }
}

@Suite struct `Sets of tweaks` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func build(
        _ name: String, with compiler: Compiler, _ flags: [String], libraries: [String] = []
    ) throws -> String {
        let path = home("\(name)-\(compiler)-" + flags.joined().filter { $0.isLetter || $0.isNumber })
        let said = try compiler.compile(
            ["\(programs)/gate/\(name).c"] + libraries, to: path,
            ["-std=gnu11", "-Wall", "-Wextra", "-DDEBUG", "-pthread"] + flags, home: home)
        #expect(said == "")
        return path
    }

    /// The numbers in a line of `torn`.
    private func counts(_ line: String) -> [String: Int] {
        let words = line.split(whereSeparator: \.isWhitespace).map(String.init)
        return Dictionary(
            uniqueKeysWithValues: stride(from: 0, to: words.count - 1, by: 2).map {
                (words[$0], Int(words[$0 + 1]) ?? -1)
            })
    }

    private static let levels = isLong ? ["-O0", "-O1", "-O2", "-O3"] : ["-O0", "-O2"]

    @Test(arguments: [Compiler.gcc, .clang], [3, 16, 64])
    func `None is torn by a writer that never stops, through a gate or by a take`(
        compiler: Compiler, size: Int
    ) throws {
        // With --long a size has 10⁹ reads of each compiler.
        let reads = isLong ? 1_000_000_000 / (12 * Self.levels.count) : 100_000
        for level in Self.levels {
            let program = try build("torn", with: compiler, [level, "-DSIZE=\(size)"])
            for (way, writer) in [
                ("gate", "threads"), ("gate", "processes"), ("take", "threads"), ("take", "processes"),
                ("changed", "threads"), ("changed", "processes"),
            ] {
                for cores in isLong ? ["0", "0-1"] : ["0-1"] {
                    let result = try run(
                        Locations.program("taskset"), ["-c", cores, program, way, writer, "\(reads)", "20"],
                        home: home)
                    let counts = counts(result.output)
                    #expect(result.succeeded && counts["reads", default: 0] >= reads)
                    #expect(counts["torn"] == 0, "\(level) \(way) \(writer) \(cores): \(result.output)")
                    if isLong {
                        print(compiler, level, size, way, writer, cores, result.output, terminator: "")
                    }
                }
            }
        }
    }

    @Test(arguments: [Compiler.gcc, .clang])
    func `Without a gate and a take some are torn, so that the program can tell`(compiler: Compiler) throws {
        let program = try build("torn", with: compiler, ["-O2", "-DSIZE=64"])
        let result = try run(program, ["none", "processes", "100000", "200"], home: home)
        #expect(counts(result.output)["torn", default: 0] > 0)
    }

    // The runtime of Swift's clang needs libdispatch.
    @Test(arguments: Compiler.present.filter { $0 != .clang }, ["gate", "take", "changed"])
    func `The thread sanitizer finds no race`(compiler: Compiler, way: String) throws {
        let program = try build("torn", with: compiler, ["-g", "-O1", "-fsanitize=thread", "-DSIZE=16"])
        // Older runtimes refuse the addresses that newer kernels choose, some of the time.
        let result = try run(
            Locations.program("setarch"),
            ["-R", program, way, "threads", isLong ? "20000000" : "200000", "20"], home: home)
        #expect(result.succeeded && result.error == "")
        #expect(counts(result.output)["torn"] == 0)
    }

    @Test(arguments: [Compiler.gcc, .clang])
    func
        `A quadrotor stays in its bounds if its gains come through a gate, and leaves them if they come singly`(
            compiler: Compiler
        ) throws
    {
        let program = try build("quadrotor", with: compiler, ["-O1"], libraries: ["-lm"])
        let gate = try run(program, ["gate"], home: home).output
        #expect(gate == "0 of 200 flights left the bounds\n")
        let single = try run(program, ["single"], home: home).output
        #expect((Int(single.prefix { $0 != " " }) ?? 0) > 50, "\(single)")
    }

    @Test(arguments: Compiler.present)
    func `A sequence is in an image once, however many units take`(compiler: Compiler) throws {
        let unit = """
            #include <fbtweak.h>
            struct set { double first, second; };
            static inline struct set read_set(void) {
              struct set set = {FBTweakValue("A", "B", "C", 1.0), FBTweakValue("A", "B", "D", 2.0)};
              return set;
            }
            struct set NAME(void);
            struct set NAME(void) {
              struct set set = {0, 0};
              FBTweakGate("A");
              if (!FBTweakTake(read_set(), &set) || !FBTweakTake(read_set(), &set)) set.first = 0;
              return set;
            }

            """
        let main = """
            #include <fbtweak.h>
            #include <stdio.h>
            #include <string.h>
            struct set { double first, second; };
            struct set once(void);
            struct set again(void);
            extern unsigned char __start_fbtweak[], __stop_fbtweak[];
            int main(void) {
              int sequences = 0, gates = 0;
              uint32_t size;
              for (unsigned char *record = __start_fbtweak; record < __stop_fbtweak; record += size ? size : 8) {
                memcpy(&size, record, sizeof size);
                sequences += size && record[5] == FBTWEAK_KIND_SEQUENCE;
                gates += size && record[5] == FBTWEAK_KIND_GATE;
              }
              printf("%g %g %d %d\\n", once().first, again().second, sequences, gates);
            }
            """
        let files = try ["once", "again"].map {
            try home.write("\($0).c", unit.replacing("NAME", with: $0))
        }
        let program = home("program")
        // Swift comes without the plug-in of gold for LTO.
        let linker = compiler == .clang ? ["-fuse-ld=lld"] : []
        for flags in [["-O0"], ["-O2", "-flto"] + linker, ["-O2", "-fPIC", "-pie", "-fsanitize=address"]] {
            try compiler.compile(
                files + [home.write("main.c", main)], to: program, ["-DDEBUG"] + flags, home: home)
            #expect(try run(program, home: home).output == "1 2 1 2\n", "\(flags)")
        }
    }
}

@Suite struct `Models of gates and takes` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    /// Checks a model in all its states, and returns what the checker says.
    private func check(_ model: String, _ mistake: String? = nil) throws -> String {
        _ = try home.write("\(mistake ?? "right")/empty", "")
        let folder = home(mistake ?? "right")
        let arguments = (mistake.map { ["-D\($0)"] } ?? []) + ["-a", "\(programs)/models/\(model).pml"]
        let spin = try run(Locations.program("spin"), arguments, home: home, in: folder)
        try #require(spin.succeeded, "\(spin.output)\(spin.error)")
        try Compiler.gcc.compile(
            [folder + "/pan.c"], to: folder + "/pan", ["-O1", "-w", "-DSAFETY"], home: home)
        return try run(folder + "/pan", ["-m100000"], home: home, in: folder).output
    }

    @Test(arguments: ["mailbox", "taking"])
    func `No killed writer and no order of steps leaves a part of a set to a reader`(model: String) throws {
        let said = try check(model)
        #expect(said.contains("errors: 0"))
        #expect(!said.contains("max search depth too small") && !said.contains("out of memory"))
        let states = try #require(said.firstMatch(of: /(\d+) states, stored/).flatMap { Int($0.1) })
        #expect(states > 10_000)
        if isLong { print(model, states, "states") }
    }

    @Test(arguments: [
        ("mailbox", "COUNT_FIRST"), ("mailbox", "NOT_EMPTY"), ("mailbox", "NO_LOCK"),
        ("mailbox", "NOT_TAKEN"), ("mailbox", "FORCED"), ("taking", "NOT_ODD"), ("taking", "NO_REPAIR"),
        ("taking", "NO_LOCK"), ("taking", "ONE_LOOK"), ("taking", "ODD_TOO"),
    ])
    func `With a mistake the model fails`(model: String, mistake: String) throws {
        let said = try check(model, mistake)
        #expect(said.contains("errors: 1") && said.contains("assertion violated"))
    }
}
