// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakDWARF
import TweakRecords

@Suite struct `Variables in debug information` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func program(
        _ language: Language = .c, _ compiler: Compiler = .gcc, _ flags: [String] = ["-O0"]
    ) throws -> ProgramVariables {
        try ProgramVariables(path: VariableSources.build(language, compiler, flags, in: home))
    }

    /// Why a variable cannot be set; empty if it can.
    private func obstacle(_ name: String, in program: ProgramVariables) throws -> String {
        let part = try program.part(named: name)
        switch program.place(of: part) {
        case .none(let reason): return reason
        case .address: return program.obstacleToWriting(part) ?? ""
        }
    }

    @Test func `have the values that the file has`() throws {
        let program = try program()
        let expected: [(String, TweakValue)] = [
            ("gravity", 9.81), ("player.speed", 2.5), ("mode", 3), ("on", true), ("letter", 120),
            ("byte", 200),
            ("one.c:damped", 0.5), ("two.c:damped", 0.75), ("'two.c'::damped", 0.75), ("work::inner", 7),
            ("inner", 7),
            ("incomplete[0]", 1), ("incomplete[4]", 0), ("table[3].k[1][2]", 0), ("height", 3.0),
        ]
        for (name, value) in expected {
            #expect(try program.initialValue(of: program.part(named: name)) == value, "\(name)")
        }
    }

    @Test(arguments: [
        ("fixed", "it is const"), ("table_const[1]", "it is const"), ("fixed_text", "it is const"),
        ("seen", "it is const"), ("perthread", "it is thread-local"), ("player.flag", "it is a bit field"),
        ("wide", "no tweak can have the type long double"), ("pointer", "it is a pointer"),
        ("function", "it is a pointer"), ("text", "a text can only be watched"), ("relro", "it is a pointer"),
        ("player", "it is a structure"), ("table", "it is an array"), ("table[0].k", "it is an array"),
    ])
    func `cannot all be set`(name: String, reason: String) throws {
        let program = try program(.c, .gcc, ["-O2"])
        #expect(try obstacle(name, in: program).hasPrefix(reason))
    }

    @Test(arguments: Compiler.allCases)
    func `that nothing writes are optimized out`(compiler: Compiler) throws {
        let program = try program(.c, compiler, ["-O2"])
        let reason = try obstacle("quiet", in: program)
        #expect(
            reason.contains("puts its value into the code")
                || reason.contains("has put its value into the code"))
        #expect(reason.contains("make it volatile"))
    }

    @Test func `of clang in several pieces or in another form are not set`() throws {
        let program = try program(.c, .clang, ["-O2"])
        #expect(try obstacle("hidden.speed", in: program).hasPrefix("the compiler has split it"))
        // It is true or false, in one byte.
        #expect(try obstacle("two", in: program).hasPrefix("the compiler keeps it in another form"))
    }

    @Test func `static in a function in another form are listed with the reason`() throws {
        let source = """
            volatile int sink;
            __attribute__((noinline)) void work(int c) { static int two = 3; if (c > 0) two = 8; sink += two; }
            int main(int c, char **v) { int local = c; work(c); work(local); return sink; }
            """
        try Compiler.clang.compile([home.write("two.c", source)], to: home("two"), ["-g", "-O2"], home: home)
        let program = try ProgramVariables(path: home("two"))
        #expect(program.variables.map(\.name) == ["sink", "work::two"])
        #expect(try obstacle("work::two", in: program).hasPrefix("the compiler keeps it in another form"))
    }

    /// A bound of one or two bytes that are all ones is not -1, by which compilers describe an array without elements.
    @Test(arguments: Compiler.present, ["-gdwarf-5", "-gdwarf-4", "-gdwarf-3"])
    func `may be arrays of 256 or 65536 elements, or of none`(compiler: Compiler, version: String) throws {
        let source = """
            struct rest { int count; char names[]; };
            char line[256]; short table[65536]; long grid[3][256]; int none[0]; struct rest rest; int counts[255];
            int main(void) { return line[1] + table[1] + grid[0][1] + counts[1] + rest.count; }
            """
        try compiler.compile(
            [home.write("arrays.c", source)], to: home("arrays"), ["-g", version], home: home)
        let program = try ProgramVariables(path: home("arrays"))
        #expect(
            program.variables.flatMap(program.values).map(\.name) == [
                "counts[0..254]", "grid[0..2][0..255]", "line[0..255]", "none", "rest.count", "rest.names",
                "table[0..65535]",
            ])
        guard case .address(let first, size: 1) = try program.place(of: program.part(named: "line[0]")),
            case .address(let last, size: 1) = try program.place(of: program.part(named: "line[255]"))
        else {
            Issue.record("line has no address")
            return
        }
        #expect(last == first + 255)
        #expect(try obstacle("table[65535]", in: program) == "")
        #expect(try obstacle("grid[2][255]", in: program) == "")
        #expect(try obstacle("none", in: program) == "it has no elements")
        #expect(try obstacle("rest.names", in: program).contains("the number of its elements"))
    }

    /// GCC describes their places in a unit of its own then, which has none of the sources.
    @Test(arguments: ["-O0", "-O2"], ["-gdwarf-5", "-gdwarf-4"])
    func `static in functions are in their files when linked with -flto`(
        level: String, version: String
    ) throws {
        let source = """
            static int count(int n) { static int calls = 1; calls += n; return calls; }
            int one(int n) { return count(n); }
            """
        let main = "int one(int), two(int); int main(int c, char **v) { return one(c) + two(c); }"
        let paths = try [
            home.write("one.c", source), home.write("two.c", "\n" + source.replacing("one", with: "two")),
            home.write("main.c", main),
        ]
        try Compiler.gcc.compile(paths, to: home("linked"), ["-g", "-flto", level, version], home: home)
        let program = try ProgramVariables(path: home("linked"))
        #expect(program.variables.map(\.shownName) == ["one.c:count::calls", "two.c:count::calls"])
        #expect(program.variables.map(\.declaredAt) == ["\(paths[0]):1", "\(paths[1]):2"])
    }

    @Test func `in RELRO are not set`() throws {
        let source = """
            __attribute__((section(".data.rel.ro"))) int moved = 5;
            __attribute__((section(".data.rel.ro"))) int *to = &moved;
            int main(void) { return *to; }
            """
        try Compiler.gcc.compile(
            [home.write("relro.c", source)], to: home("relro"), ["-g", "-Wl,-z,relro,-z,now"], home: home)
        let program = try ProgramVariables(path: home("relro"))
        #expect(try obstacle("moved", in: program).hasPrefix("it is in read-only memory"))
    }

    @Test func `that the linker has removed are not set`() throws {
        let source = "int used = 1; int unused = 2; int main(void) { return used; }"
        try Compiler.gcc.compile(
            [home.write("gc.c", source)], to: home("gc"), ["-g", "-fdata-sections", "-Wl,--gc-sections"],
            home: home)
        let program = try ProgramVariables(path: home("gc"))
        #expect(try obstacle("used", in: program) == "")
        #expect(try obstacle("unused", in: program) != "")
    }

    @Test func `are named by scopes, or by the last of them`() throws {
        let program = try program(.cPlusPlus)
        for name in ["game::Physics::gravity", "Physics::gravity", "::game::Physics::gravity"] {
            #expect(try program.part(named: name).name == "game::Physics::gravity")
        }
        // The whole name comes before the end of another one.
        #expect(try program.part(named: "gravity").name == "gravity")
        #expect(try program.part(named: "game::hidden").name == "game::(anonymous namespace)::hidden")
        #expect(try program.part(named: "game::object.hp").name == "game::object.hp")
        #expect(try program.part(named: "Holder<int>::value").name == "game::Holder<int>::value")
        #expect(try program.part(named: "method::calls").name == "game::method::calls")
    }

    @Test(arguments: [
        ("gravty", "gravty: no such global or static variable; did you mean gravity?"),
        ("damped", "damped: 2 variables match; give more of the name"),
        ("player.sped", "player: it has no member sped; did you mean speed?"),
        ("table[4].weight", "table: it has no element 4, its type is struct weight[4]"),
        ("table[1].k[1]", "table[1].k: its type is int[2][3], so it needs an index for each dimension"),
        ("gravity.x", "gravity: it has no parts, its type is double"),
        ("table[x]", "table[x]: a part is named as in player.speed or table[3].weight"),
    ])
    func `with wrong names are not found`(name: String, message: String) throws {
        let program = try program()
        do throws(VariableNameError) {
            _ = try program.part(named: name)
            Issue.record("\(name) is found")
        } catch { #expect("\(error)" == message) }
    }

    @Test func `of enumerations have the names as choices, and the sign that the names need`() throws {
        let program = try program()
        guard case .value(let type, let choices) = try program.part(named: "mode").type.shape else {
            Issue.record("it is no value")
            return
        }
        #expect(type == .int32)
        #expect(choices.map(\.description) == ["0 (OFF)", "3 (SLOW)", "-2 (BACK)"])
    }

    // MARK: - Where debug information is

    private func strip(_ path: String) throws {
        let result = try run(Locations.program("strip"), ["--strip-debug", path], home: home)
        try #require(result.succeeded, "\(result.error)")
    }

    @Test func `are found in a separate file`() throws {
        let path = try VariableSources.build(.c, .gcc, ["-O0"], in: home)
        let objcopy = try Locations.program("objcopy")
        #expect(try run(objcopy, ["--only-keep-debug", path, path + ".debug"], home: home).succeeded)
        try strip(path)
        #expect(
            try run(objcopy, ["--add-gnu-debuglink=\(path).debug", path], home: home, in: home.path).succeeded
        )
        let program = try ProgramVariables(path: path)
        #expect(try program.initialValue(of: program.part(named: "gravity")) == 9.81)
    }

    @Test func `are found where dwz has moved what files have in common`() throws {
        let path = try VariableSources.build(.c, .gcc, ["-O0", "-gdwarf-4"], in: home)
        try FileManager.default.copyItem(atPath: path, toPath: home("copy"))
        let result = try run(
            Locations.program("dwz"), ["-m", home("common"), path, home("copy")], home: home, in: home.path)
        try #require(result.succeeded, "\(result.error)")
        #expect(FileManager.default.fileExists(atPath: home("common")))
        let program = try ProgramVariables(path: path)
        #expect(try program.initialValue(of: program.part(named: "player.speed")) == 2.5)
        #expect(try program.initialValue(of: program.part(named: "two.c:damped")) == 0.75)
    }

    @Test func `are found in split debug information, and missed if it is gone`() throws {
        try Compiler.gcc.compile(
            [home.write("split.c", "int level = 3; int main(void) { return level; }")], to: home("split"),
            ["-g", "-gsplit-dwarf", "-gdwarf-5"], home: home)
        let files = try FileManager.default.contentsOfDirectory(atPath: home.path).filter {
            $0.hasSuffix(".dwo")
        }
        #expect(try ProgramVariables(path: home("split")).variables.map(\.name) == ["level"])
        for file in files { try FileManager.default.removeItem(atPath: home(file)) }
        let program = try ProgramVariables(path: home("split"))
        #expect(program.variables.isEmpty)
        #expect(program.problems.count == 1 && program.problems[0].contains(".dwo cannot be read"))
    }

    @Test func `are missing without debug information`() throws {
        let path = try VariableSources.build(.c, .gcc, ["-O0"], in: home)
        try strip(path)
        #expect(throws: DebugFileError.noInformation(path: path, hasBuildID: true)) {
            try ProgramVariables(path: path)
        }
        let source = try home.write("little.c", "int level = 3; int main(void) { return level; }")
        try Compiler.clang.compile([source], to: home("little"), ["-g1"], home: home)
        #expect(throws: DebugFileError.noVariables(path: home("little"))) {
            try ProgramVariables(path: home("little"))
        }
    }

    // MARK: - Hostile types

    /// Compiles a source to assembly, lets types refer to others, and assembles it.
    private func forge(_ source: String, _ change: (_ tag: String, _ reference: String) -> String?) throws
        -> String
    {
        let path = try home.write("forged.c", source)
        try Compiler.gcc.compile([path], to: home("forged.s"), ["-S", "-dA", "-g", "-gdwarf-5"], home: home)
        var (tag, entry) = ("", "")
        let lines = try String(contentsOfFile: home("forged.s"), encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false
        ).map { line -> String in
            if let match = line.firstMatch(of: /\(DIE \((0x[0-9a-f]+)\) (DW_TAG_\w+)\)/) {
                (entry, tag) = (String(match.1), String(match.2))
            }
            guard line.contains("DW_AT_type"), let reference = change(tag, entry) else { return String(line) }
            return "\t.long\t\(reference)"
        }
        try home.write("forged.s", lines.joined(separator: "\n"))
        try Compiler.gcc.compile([home("forged.s")], to: home("forged"), home: home)
        return home("forged")
    }

    @Test func `may have a typedef of itself`() throws {
        let path = try forge("typedef int loop; loop x = 1; int main(void) { return x; }") {
            $0 == "DW_TAG_typedef" ? $1 : nil
        }
        let program = try ProgramVariables(path: path)
        #expect(try obstacle("x", in: program) == "its type never ends")
    }

    @Test func `may be arrays of themselves`() throws {
        let path = try forge("int x[2][3]; int main(void) { return x[0][1]; }") {
            $0 == "DW_TAG_array_type" ? $1 : nil
        }
        let program = try ProgramVariables(path: path)
        #expect(try obstacle("x", in: program) == "it is an array; name an element")
        #expect(program.variables.flatMap(program.values).count == 1)
    }

    @Test func `may be structures that contain themselves`() throws {
        var first = ""
        let path = try forge(
            "struct s { int a; struct { int b; } t; struct { int c; }; } x; int main(void) { return x.a; }"
        ) { tag, entry in
            if tag == "DW_TAG_structure_type", first.isEmpty { first = entry }
            guard tag == "DW_TAG_member" else { return nil }
            if first.isEmpty { first = "0x2e" }
            return first
        }
        let program = try ProgramVariables(path: path)
        let parts = program.variables.flatMap(program.values)
        #expect(!parts.isEmpty && parts.count <= 10_000)
    }
}
