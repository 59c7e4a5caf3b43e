// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport

/// An object file as objdump and readelf show it.
struct ObjectFile {
    struct Instruction {
        /// Such as `mov` or `call`, with its operands.
        var text: String
        var address: Int
        /// What the linker will fill in: the symbol or section, with the distance behind it.
        var relocation: String?

        var mnemonic: Substring { text.prefix { $0 != " " } }
        var isCall: Bool { mnemonic.hasPrefix("call") }
        /// Whether it takes something from the section of the records; `lea` takes only an address.
        var readsRecord: Bool { relocation?.contains("fbtweak") == true && mnemonic != "lea" }
        /// The address that a jump goes to.
        var target: Int? {
            guard mnemonic.hasPrefix("j") else { return nil }
            return text.split(separator: " ").dropFirst().first.flatMap { Int($0, radix: 16) }
        }
    }

    /// The instructions of each function.
    let functions: [String: [Instruction]]
    /// The names of the sections.
    let sections: Set<String>
    let bytes: Data

    init(_ path: String, home: TemporaryDirectory) throws {
        let objdump = try Locations.program("objdump")
        let code = try run(objdump, ["-dr", "--no-show-raw-insn", path], home: home)
        let headers = try run(objdump, ["-hw", path], home: home)
        guard code.succeeded, headers.succeeded else { throw CompilationError(description: code.error) }
        functions = Self.functions(in: code.output)
        sections = Set(
            headers.output.split(separator: "\n").compactMap { line in
                let words = line.split(separator: " ")
                return words.count > 2 && Int(words[0]) != nil ? String(words[1]) : nil
            })
        bytes = try Data(contentsOf: URL(fileURLWithPath: path))
    }

    /// The function whose name contains a word, as a Swift symbol does.
    func function(_ word: String) -> [Instruction] {
        functions.first { $0.key == word }?.value
            ?? functions.filter { $0.key.contains(word) }.min { $0.key.count < $1.key.count }?.value ?? []
    }

    /// What reads the Swift variable whose symbol contains a word.
    func getter(_ word: String) -> [Instruction] {
        functions.filter { $0.key.contains(word) && ($0.key.hasSuffix("vg") || $0.key.hasSuffix("vgZ")) }
            .min { $0.key.count < $1.key.count }?.value ?? []
    }

    /// The functions as text without addresses, to compare two files by.
    var code: [String: [String]] {
        functions.mapValues { $0.map { "\($0.address) \($0.text) \($0.relocation ?? "")" } }
    }

    func contains(_ text: String) -> Bool { bytes.range(of: Data(text.utf8)) != nil }

    private static func functions(in listing: String) -> [String: [Instruction]] {
        var functions: [String: [Instruction]] = [:]
        var name = ""
        for line in listing.split(separator: "\n") {
            if line.hasSuffix(">:"), let start = line.firstIndex(of: "<") {
                name = String(line[line.index(after: start)...].dropLast(2))
                functions[name] = []
            } else if line.contains("R_X86_64_") || line.contains("R_AARCH64_") {
                guard let last = functions[name]?.indices.last else { continue }
                functions[name]?[last].relocation = line.split(whereSeparator: \.isWhitespace).last.map(
                    String.init)
            } else if let colon = line.firstIndex(of: ":"),
                let address = Int(line[..<colon].trimmingCharacters(in: .whitespaces), radix: 16)
            {
                let text = line[line.index(after: colon)...].trimmingCharacters(in: .whitespaces)
                functions[name]?.append(Instruction(text: text, address: address))
            }
        }
        return functions
    }
}

/// Compiles Swift to an optimised object file, with the library's modules and macros unless others are named.
func swiftObject(
    _ source: String, _ flags: [String], with library: [String]? = nil, home: TemporaryDirectory
) throws -> ObjectFile {
    let name = UUID().uuidString
    let file = try home.write("\(name)/Reads.swift", source)
    let output = home("\(name)/Reads.o")
    let fixed = ["-O", "-parse-as-library", "-module-name", "Reads", "-emit-object", file, "-o", output]
    // The compiler leaves expansions of macros and a directory of its own in the place for temporary files.
    let result = try run(
        Locations.program("swiftc"), fixed + flags + (library ?? Example.compilerFlags), home: home,
        environment: ["TMPDIR": home.path])
    guard result.succeeded else { throw CompilationError(description: result.error) }
    return try ObjectFile(output, home: home)
}

/// Compiles C or C++ to an object file.
func cObject(
    _ source: String, as language: Language = .c, with compiler: Compiler, _ flags: [String],
    home: TemporaryDirectory
) throws -> ObjectFile {
    let file = try home.write("reads.\(language.suffix)", source)
    let output = home("reads.o")
    try compiler.compile([file], as: language, to: output, ["-c"] + flags, home: home)
    return try ObjectFile(output, home: home)
}
