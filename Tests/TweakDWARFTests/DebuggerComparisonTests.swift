// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakDWARF
import TweakRecords

/// gdb is the judge of addresses, sizes and types, and `nm` where gdb knows no address.
@Suite struct `Variables that can be set are where gdb finds them` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private static let builds = [
        ["-O0", "-gdwarf-5"], ["-O0", "-gdwarf-4", "-static"], ["-O2", "-gdwarf-5"],
        ["-O2", "-gdwarf-4", "-no-pie"],
        ["-O2", "-flto", "-gdwarf-5"], ["-O2", "-flto", "-gdwarf-4", "-no-pie"],
        ["-O2", "-gdwarf-5", "-fdebug-types-section"], ["-Os", "-gdwarf-5", "-gz=zlib"],
    ]

    @Test(arguments: Compiler.present, builds)
    func `in C`(compiler: Compiler, flags: [String]) throws {
        let count = try compare(VariableSources.build(.c, compiler, flags, in: home))
        #expect(count >= 15)
    }

    @Test(arguments: Compiler.present, builds)
    func `in C++`(compiler: Compiler, flags: [String]) throws {
        let count = try compare(VariableSources.build(.cPlusPlus, compiler, flags, in: home))
        #expect(count >= 11)
    }

    /// Compares all parts that can be set.
    ///
    /// - Returns: How many there are.
    private func compare(_ path: String) throws -> Int {
        let program = try ProgramVariables(path: path)
        #expect(program.problems == [])
        let offered = program.variables.flatMap(program.values).filter {
            if case .address = program.place(of: $0) { program.obstacleToWriting($0) == nil } else { false }
        }
        let said = try gdb(
            path,
            offered.flatMap { part -> [String] in
                let name = expression(part)
                return ["print/x (unsigned long)&\(name)", "print sizeof(\(name))", "ptype \(name)"]
            })
        let symbols = try run(Locations.program("nm"), ["-SC", path], home: home).output
        for (index, part) in offered.enumerated() {
            guard case .address(let address, let size) = program.place(of: part),
                case .value(let type, _) = part.type.shape
            else { continue }
            let (place, length, kind) = (said[3 * index], said[3 * index + 1], said[3 * index + 2])
            // In code optimized as a whole gdb confuses static variables of the same name.
            let isSure = place.contains("= 0x") && part.name == part.plainName
            guard isSure else {
                #expect(!place.contains("optimized out"), "\(part.name)")
                #expect(
                    isSymbol(part.plainName, at: address, size, in: symbols),
                    "\(part.name): \(place) \(address)")
                continue
            }
            #expect(place.hasSuffix("= 0x" + String(address, radix: 16)), "\(part.name): \(place)")
            #expect(length.hasSuffix("= \(size)"), "\(part.name): \(length)")
            #expect(isSame(kind, type), "\(part.name): \(kind) is not \(type)")
        }
        try compareNames(path, program)
        return offered.count
    }

    /// Compares with all that gdb lists.
    private func compareNames(_ path: String, _ program: ProgramVariables) throws {
        let names = Set(program.variables.map(\.name))
        // As in `17:	static double (anonymous namespace)::table[4];`.
        for line in try gdb(path, ["info variables -n"])[0].split(separator: "\n")
        where line.contains(":\t") && line.hasSuffix(";") {
            var declaration = line.split(separator: "\t")[1].dropLast()
            if let function = declaration.firstRange(of: "(*") {
                declaration = declaration[function.upperBound...]
            }
            declaration = declaration.prefix { $0 != "[" }
            let name = declaration.replacing("(anonymous namespace)", with: "@").prefix { $0 != ")" }
                .split(separator: " ").last?.trimmingPrefix { $0 == "*" || $0 == "&" }
            let whole = String(name ?? "").replacing("@", with: "(anonymous namespace)")
            #expect(names.contains(whole), "\(line)")
        }
    }

    private func gdb(_ path: String, _ commands: [String]) throws -> [String] {
        let script = commands.map { "echo \\n@@@\\n\n\($0)\n" }.joined()
        // An error would end a script.
        let lines = script.split(separator: "\n").flatMap { ["-ex", String($0)] }
        let result = try run(
            Locations.program("gdb"),
            ["-nx", "-q", "-batch", "-iex", "set debuginfod enabled off"] + lines + [path],
            home: home)
        let answers = result.output.components(separatedBy: "@@@\n").dropFirst()
            .map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
        try #require(answers.count == commands.count, "\(result.error)")
        return answers
    }

    /// The name for gdb, of an array that of the first element.
    private func expression(_ part: VariablePart) -> String {
        let variable = part.variable.name
        let rest = part.plainName.dropFirst(variable.count).replacing(/\.\.\d+\]/, with: "]")
        return (variable.contains("(") || variable.contains("<") ? "'\(variable)'" : variable) + rest
    }

    private func isSymbol(_ name: String, at address: UInt64, _ size: Int, in symbols: String) -> Bool {
        let variable = name.prefix { $0 != "." && $0 != "[" }.components(separatedBy: "::").last ?? ""
        return symbols.split(separator: "\n").contains { line in
            let fields = line.split(separator: " ", maxSplits: 3)
            guard fields.count == 4, let start = UInt64(fields[0], radix: 16),
                let length = UInt64(fields[1], radix: 16),
                "bBdDVvu".contains(fields[2]), fields[3].contains(variable)
            else { return false }
            return start <= address && address + UInt64(size) <= start + length
        }
    }

    private func isSame(_ kind: String, _ type: TweakType) -> Bool {
        let words = kind.split(separator: " ").drop { $0 != "=" }.dropFirst()
            .filter { !["volatile", "const", "_Atomic", "="].contains($0) }
        switch type {
        case .bool: return words == ["bool"] || words == ["_Bool"]
        case .float: return words == ["float"]
        case .double: return words == ["double"]
        default:
            if words.first == "enum" { return type.integerRange != nil }
            let isUnsigned = words.contains("unsigned") || words == ["char16_t"]
            let isNumber = ["int", "char", "long", "short", "char16_t"].contains { words.contains($0) }
            return isNumber && isUnsigned == (type.integerRange?.lowerBound == 0)
        }
    }
}
