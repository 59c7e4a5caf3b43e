// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

private let hasDebugger = (try? Locations.program("gdb")) != nil && (try? Locations.program("gcore")) != nil

/// Whether the kernel writes cores beside the program. Elsewhere a service gets them.
private let kernelWritesCores: Bool = {
    let pattern = try? String(contentsOfFile: "/proc/sys/kernel/core_pattern", encoding: .utf8)
    return pattern.map { !$0.isEmpty && !$0.hasPrefix("|") && !$0.contains("/") } ?? false
}()

/// A program with tweaks of every type that have random values, which gdb reads too.
private final class JudgedProgram {
    let program: BareProgram
    private var generator: SeededGenerator
    /// How many tweaks there are of each type.
    private static let each = 20

    /// The types with a default in C.
    private static let types: [(name: String, initial: String)] = [
        ("bool", "false"), ("int8", "(int8_t)1"), ("int16", "(int16_t)1"), ("int32", "1"),
        ("int64", "(int64_t)1"), ("uint8", "(uint8_t)1"), ("uint16", "(uint16_t)1"), ("uint32", "1u"),
        ("uint64", "(uint64_t)1"), ("float", "1.0f"), ("double", "1.0"),
        ("string", #""a", FBTweakChoices("a", "b c", ("d", "label"), "é")"#),
        ("color", "FBTweakRGBA(1, 2, 3, 4)"),
    ]
    private static let texts = ["a", "b c", "d", "é"]

    /// What gdb knows of the record in each function, from the debug information alone.
    private static let script = #"""
        import gdb, json

        def cell(name):
            function = gdb.lookup_global_symbol(name).value()
            block = gdb.block_for_pc(int(function.address))
            while block.function is None or block.function.name != name:
                block = block.superblock
            for pc in range(block.start, block.end):
                inner = gdb.block_for_pc(pc)
                while inner and not (inner.function and inner.function.name == name):
                    for symbol in inner:
                        if symbol.name == "fbtweak__record":
                            return symbol.value()["fbtweak__cell"]
                    inner = inner.superblock

        def text(value):
            return value.string() if int(value) else "a"

        def read(kind, value):
            if kind == "string":
                return text(value)
            if kind == "color":
                return "".join("%02x" % int(value[part]) for part in ("red", "green", "blue", "alpha"))
            return repr(float(value)) if kind in ("float", "double") else str(int(value))

        values = {}
        for kind in KINDS:
            for number in range(EACH):
                values["%s %d" % (kind, number)] = read(kind, cell("%s_%d" % (kind, number))["fbtweak__value"])
        with open("judged.json", "w") as file:
            json.dump(values, file)

        """#

    init(seed: UInt64) throws {
        generator = SeededGenerator(seed: seed)
        var source = "#include <fbtweak.h>\n#include <stdio.h>\n#include <unistd.h>\n"
        for (name, initial) in Self.types {
            let type =
                switch name {
                case "bool", "float", "double": name
                case "string": "const char *"
                case "color": "fbtweak_color"
                default: name + "_t"
                }
            for number in 0..<Self.each {
                source += "\(type) \(name)_\(number)(void)"
                source +=
                    " { return FBTweakValue(\"Judged\", \"\(name)\", \"\(name) \(number)\", \(initial)); }\n"
            }
        }
        source += "int main(void) { puts(\"\"); fflush(stdout); for (;;) pause(); }\n"
        program = try BareProgram(named: "judged", source, compiling: ["-g", "-O0"])
        let kinds = try JSONEncoder().encode(Self.types.map(\.name))
        try program.home.write(
            "judge.py",
            Self.script.replacing("KINDS", with: String(decoding: kinds, as: UTF8.self))
                .replacing("EACH", with: "\(Self.each)"))
    }

    /// Starts it and gives all tweaks random values.
    func start(filter: String) throws {
        let shell = "ulimit -c unlimited; echo \(filter) > /proc/self/coredump_filter; exec \"$0\""
        try program.start(by: ["/bin/bash", "-c", shell])
        var document: [String: [String: String]] = [:]
        for (name, _) in Self.types {
            for number in 0..<Self.each {
                document[name, default: [:]]["\(name) \(number)"] = randomValue(of: name)
            }
        }
        let collections = document.sorted { $0.key < $1.key }.map { name, values in
            let members = values.sorted { $0.key < $1.key }.map { "\"\($0.key)\": \($0.value)" }
            return "\"\(name)\": {\(members.joined(separator: ", "))}"
        }
        let file = try program.home.write(
            "values.json", "{\"Judged\": {\(collections.joined(separator: ", "))}}")
        let result = try program.tweak("import", file)
        try #require(result.status == 0, "\(result.error)")
    }

    /// A value as JSON.
    private func randomValue(of type: String) -> String {
        let bits = generator.next()
        switch type {
        case "bool": return bits % 2 == 0 ? "true" : "false"
        case "int8": return "\(Int8(truncatingIfNeeded: bits))"
        case "int16": return "\(Int16(truncatingIfNeeded: bits))"
        case "int32": return "\(Int32(truncatingIfNeeded: bits))"
        case "int64": return "\(Int64(truncatingIfNeeded: bits))"
        case "uint8": return "\(UInt8(truncatingIfNeeded: bits))"
        case "uint16": return "\(UInt16(truncatingIfNeeded: bits))"
        case "uint32": return "\(UInt32(truncatingIfNeeded: bits))"
        case "uint64": return "\(bits)"
        case "float":
            let number = Float(bitPattern: UInt32(truncatingIfNeeded: bits))
            return number.isFinite ? "\(number)" : "0.1"
        case "double":
            let number = Double(bitPattern: bits)
            return number.isFinite ? "\(number)" : "0.1"
        case "string": return "\"\(Self.texts[Int(bits % 4)])\""
        default: return "\"#\(hexadecimal(bits))\""
        }
    }

    private func hexadecimal(_ bits: UInt64) -> String {
        let digits = String(UInt32(truncatingIfNeeded: bits), radix: 16)
        return String(repeating: "0", count: 8 - digits.count) + digits
    }

    /// Has gdb read the process, or a core of it.
    func judged(by arguments: [String]) throws -> [String: String] {
        let words = ["-nx", "-batch"] + arguments + ["-x", program.home("judge.py")]
        let result = try run(Locations.program("gdb"), words, home: program.home, in: program.home.path)
        let file = URL(fileURLWithPath: program.home("judged.json"))
        let data = try? Data(contentsOf: file)
        try #require(data != nil, "\(result.output)\(result.error)")
        try FileManager.default.removeItem(at: file)
        return try JSONDecoder().decode([String: String].self, from: data ?? Data())
    }

    /// What the command prints, in the form of the judge.
    func dumped(_ arguments: [String]) throws -> [String: String] {
        let result = try run(
            Locations.product("tweak-dump"), arguments + ["--format", "json"], home: program.home)
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
        let form = try JSONDecoder().decode(Dumped.self, from: Data(result.output.utf8))
        var values: [String: String] = [:]
        for tweak in form.images.flatMap(\.tweaks) { values[tweak.name] = tweak.form }
        return values
    }

    private struct Dumped: Decodable {
        struct Image: Decodable { let tweaks: [Tweak] }
        let images: [Image]

        struct Tweak: Decodable {
            let name: String
            /// The value as the judge writes it.
            let form: String

            private enum CodingKeys: CodingKey { case name, type, value }

            init(from decoder: any Decoder) throws {
                let container = try decoder.container(keyedBy: CodingKeys.self)
                name = try container.decode(String.self, forKey: .name)
                switch try container.decode(String.self, forKey: .type) {
                case "bool": form = try container.decode(Bool.self, forKey: .value) ? "1" : "0"
                case "float": form = "\(Double(try container.decode(Float.self, forKey: .value)))"
                case "double": form = "\(try container.decode(Double.self, forKey: .value))"
                case "string": form = try container.decode(String.self, forKey: .value)
                case "color":
                    let text = try container.decode(String.self, forKey: .value).dropFirst()
                    form = text + (text.utf8.count == 6 ? "ff" : "")
                case "uint64": form = "\(try container.decode(UInt64.self, forKey: .value))"
                default: form = "\(try container.decode(Int64.self, forKey: .value))"
                }
            }
        }
    }

    func expectSame(_ dumped: [String: String], _ judged: [String: String], _ what: String) {
        #expect(dumped.count == Self.types.count * Self.each)
        #expect(judged.count == dumped.count)
        let others = judged.filter { name, value in
            guard let own = dumped[name] else { return true }
            if name.hasPrefix("float") || name.hasPrefix("double") { return Double(own) != Double(value) }
            return own != value
        }
        #expect(
            others.isEmpty,
            "\(what): \(others.map { "\($0.key): \(dumped[$0.key] ?? "–"), gdb \($0.value)" })")
    }

    /// The core that the kernel wrote.
    func kernelCore() throws -> String {
        kill(program.pid, SIGABRT)
        _ = program.process?.wait()
        let names = try FileManager.default.contentsOfDirectory(atPath: program.home.path)
        return program.home(try #require(names.first { $0.hasPrefix("core") }))
    }
}

@Suite(.enabled(if: hasDebugger)) struct `Output of gdb` {
    private static let rounds = UInt64(isLong ? 50 : 1)

    @Test(arguments: 1...rounds) func `is what tweak-dump prints of the process and of a core of gdb`(
        seed: UInt64
    ) throws {
        let judged = try JudgedProgram(seed: seed)
        try judged.start(filter: "0x33")
        let pid = "\(judged.program.pid)"
        let values = try judged.judged(by: ["-p", pid])
        judged.expectSame(try judged.dumped(["--pid", pid]), values, "the process")
        let core = try run(
            Locations.program("gcore"), ["-o", judged.program.home("saved"), pid], home: judged.program.home)
        #expect(core.succeeded, "\(core.error)")
        judged.expectSame(
            try judged.dumped(["--core", judged.program.home("saved.\(pid)")]), values, "the core of gdb")
    }

    @Test(.enabled(if: kernelWritesCores), arguments: ["0x33", "0x1ff"], 1...rounds)
    func `is what tweak-dump prints of a core of the kernel`(filter: String, seed: UInt64) throws {
        let judged = try JudgedProgram(seed: seed)
        try judged.start(filter: filter)
        let core = try judged.kernelCore()
        let values = try judged.judged(by: [judged.program.path, core])
        judged.expectSame(try judged.dumped(["--core", core]), values, "filter \(filter)")
    }
}
