// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakDWARF
import TweakRecords

/// Programs whose debug information GCC has written for C, with other values of some attributes.
@Suite struct `The elements of arrays` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private static let source = """
        int before = 1; int list[4] = {10, 11, 12, 13}; int grid[2][3] = {{1, 2, 3}, {4, 5, 6}}; int after = 9;
        struct pair { int one, other; } pair = {7, 8};
        int main(void) { return list[1] + grid[1][1] + before + after + pair.one; }
        """

    /// Compiles the source to assembly, changes attributes, and assembles it.
    ///
    /// - Parameter change: Returns the new value of an attribute, or `nil` to keep it.
    private func program(
        _ change: (_ tag: String, _ attribute: String, _ value: String) -> String?
    ) throws -> ProgramVariables {
        let path = try home.write("arrays.c", Self.source)
        try Compiler.gcc.compile([path], to: home("arrays.s"), ["-S", "-dA", "-g", "-gdwarf-5"], home: home)
        var tag = ""
        let lines = try String(contentsOfFile: home("arrays.s"), encoding: .utf8).split(
            separator: "\n", omittingEmptySubsequences: false
        ).map { line -> String in
            if let match = line.firstMatch(of: /\(DIE \(0x[0-9a-f]+\) (DW_TAG_\w+)\)/) {
                tag = String(match.1)
            }
            guard let match = line.firstMatch(of: /^\t(\.byte|\.value)\t(\w+)\t+[#\/]+ (DW_AT_\w+)/),
                let value = change(tag, String(match.3), String(match.2))
            else { return String(line) }
            return "\t\(match.1)\t\(value)"
        }
        try home.write("arrays.s", lines.joined(separator: "\n"))
        try Compiler.gcc.compile([home("arrays.s")], to: home("arrays"), home: home)
        return try ProgramVariables(path: home("arrays"))
    }

    /// - Parameter first: The index at which arrays of the language begin.
    private func program(language: Int, from first: Int = 0) throws -> ProgramVariables {
        try program { _, attribute, value in
            switch attribute {
            case "DW_AT_language": "\(language)"
            case "DW_AT_upper_bound": "\(value) + \(first)"
            default: nil
            }
        }
    }

    /// Why a variable cannot be set; `nil` if it can.
    private func obstacle(_ part: VariablePart, in program: ProgramVariables) -> String? {
        switch program.place(of: part) {
        case .none(let reason): reason
        case .address: program.obstacleToWriting(part)
        }
    }

    private func value(_ name: String, in program: ProgramVariables) throws -> TweakValue? {
        try program.initialValue(of: program.part(named: name))
    }

    /// C, C++, Go, D, Rust, Swift, Zig, Kotlin.
    @Test(arguments: [0x01, 0x1D, 0x04, 0x21, 0x16, 0x13, 0x1C, 0x1E, 0x27, 0x26])
    func `are counted from 0 where the language does`(language: Int) throws {
        let program = try program(language: language)
        let names = program.variables.flatMap(program.values).map(\.name)
        #expect(names.contains("list[0..3]") && names.contains("grid[0..1][0..2]"))
        #expect(try value("list[3]", in: program) == 13)
        #expect(try value("grid[1][0]", in: program) == 4)
        #expect(throws: VariableNameError.self) { try program.part(named: "list[4]") }
    }

    /// Ada, COBOL, Pascal, Modula-2 and -3, PL/I.
    @Test(arguments: [0x03, 0x0D, 0x2E, 0x2F, 0x05, 0x06, 0x09, 0x0A, 0x17, 0x0F])
    func `are counted from 1 where the language does`(language: Int) throws {
        let program = try program(language: language, from: 1)
        let names = program.variables.flatMap(program.values).map(\.name)
        #expect(names.contains("list[1..4]") && names.contains("grid[1..2][1..3]"))
        #expect(try value("list[1]", in: program) == 10)
        #expect(try value("list[4]", in: program) == 13)
        #expect(try value("grid[1][2]", in: program) == 2)
        for name in ["list[0]", "list[5]", "list[-1]", "grid[0][1]", "grid[2][4]"] {
            #expect(throws: VariableNameError.self) { try program.part(named: name) }
        }
        #expect(try program.part(named: "list[2]").name == "list[2]")
    }

    /// Fortran 77 to 2018, and Julia.
    @Test(arguments: [0x07, 0x08, 0x0E, 0x22, 0x23, 0x2D, 0x1F])
    func `are in columns where the language has them so`(language: Int) throws {
        let program = try program(language: language, from: 1)
        let columns: [(String, TweakValue)] = [
            ("grid[1][1]", 1), ("grid[2][1]", 2), ("grid[1][2]", 3), ("grid[2][2]", 4), ("grid[1][3]", 5),
            ("grid[2][3]", 6),
        ]
        for (name, expected) in columns { #expect(try value(name, in: program) == expected, "\(name)") }
        #expect(throws: VariableNameError.self) { try program.part(named: "grid[3][1]") }
    }

    @Test(arguments: [0x7F, 0xFE])
    func `are refused in a language of which nothing is known`(language: Int) throws {
        let program = try program(language: language)
        let list = try program.part(named: "list")
        #expect(
            obstacle(list, in: program)
                == "the debug information lacks the number of its elements")
        #expect(throws: VariableNameError.self) { try program.part(named: "list[0]") }
        #expect(obstacle(try program.part(named: "after"), in: program) == nil)
    }

    @Test func `are not offered beyond the object that the symbol table has`() throws {
        let program = try program { tag, attribute, value in
            tag == "DW_TAG_subrange_type" && attribute == "DW_AT_upper_bound" && value == "0x3" ? "0x7" : nil
        }
        let reason = "according to the symbol table, it lies outside its variable"
        #expect(obstacle(try program.part(named: "list[3]"), in: program) == nil)
        #expect(obstacle(try program.part(named: "list[4]"), in: program) == reason)
        let offered = try #require(
            program.variables.flatMap(program.values).first { $0.name == "list[0..7]" })
        #expect(obstacle(offered, in: program) == reason)
    }

    @Test func `and members are not offered beyond the type around them`() throws {
        let program = try program { tag, attribute, value in
            tag == "DW_TAG_structure_type" && attribute == "DW_AT_byte_size" ? "0x4" : nil
        }
        #expect(obstacle(try program.part(named: "pair.one"), in: program) == nil)
        #expect(
            obstacle(try program.part(named: "pair.other"), in: program)
                == "according to the debug information, it lies outside its variable")
    }
}
