// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// `Words.md` explains each word in the names of types and macros in Swift, macros in C, commands, methods of
/// the protocol and providers.
@Suite struct `The words of the project` {
    /// Those that names use with their usual meaning, so that the page need not explain them.
    private static let general: Set = [
        "animation", "byte", "check", "color", "config", "configuration", "conformance", "curve", "describe",
        "diff", "document", "edge", "edit", "enum", "error", "exec", "failure", "file", "format", "generate",
        "get", "insets", "list", "log", "many", "mutable", "names", "order", "other", "plist",
        "plot", "problem", "ps", "raw", "representable", "rgb", "rgba", "run", "save", "serve",
        "set", "settings", "shadow", "spring", "test", "ui", "under", "violation",
    ]

    /// The rows of the tables, as the texts of their columns.
    private let meanings: [[String]]
    private let others: [[String]]

    init() throws {
        let page = try String(contentsOfFile: Article.catalogue + "/Words.md", encoding: .utf8)
        meanings = Self.rows(under: "Meanings", in: page)
        others = Self.rows(under: "The same word elsewhere", in: page)
    }

    private static func rows(under heading: String, in page: String) -> [[String]] {
        let sections = page.components(separatedBy: "\n### ")
        guard let section = sections.first(where: { $0.hasPrefix(heading + "\n") }) else { return [] }
        let lines = section.components(separatedBy: "\n").filter { $0.hasPrefix("| ") }
        return lines.dropFirst().map { line in
            String(line.dropFirst(2).dropLast(2)).components(separatedBy: " | ")
        }
    }

    /// The first column has a word and forms of it: `adopt, adopted`.
    private var forms: [[String]] { meanings.map { $0[0].components(separatedBy: ", ") } }

    /// `TweakKey` is `tweak` and `key`, `needs-restart` is `needs` and `restart`.
    private static func words(of name: String) -> [String] {
        name.matches(of: /[A-Z]+(?![a-z])|[A-Z]?[a-z]+/).map { String($0.output).lowercased() }
    }

    private static func isKnown(_ word: String, among words: Set<String>) -> Bool {
        words.contains(word) || (word.hasSuffix("s") && words.contains(String(word.dropLast())))
    }

    private static let names = Result { try findNames() }

    private static func findNames() throws -> Set<String> {
        let header = try String(contentsOfFile: Locations.include + "/fbtweak.h", encoding: .utf8)
        var names = Set(header.matches(of: /#\s*define FBTweak(\w+)/).map { String($0.output.1) })
        for text in try sources(in: "Sources") {
            let type = /public (?:final |indirect )?(?:actor|class|enum|macro|protocol|struct) (\w+)/
            names.formUnion(text.matches(of: type).map { String($0.output.1) })
            let provider = /static let \w+ = TweakSource\("(\w+)"\)/
            names.formUnion(text.matches(of: provider).map { String($0.output.1) })
        }
        for text in try sources(in: "Sources/Formats/TweakProtocol") {
            names.formUnion(text.matches(of: /static let name = "(\w+)"/).map { String($0.output.1) })
            let methods = text.firstMatch(of: /enum ControlMethodName.*\s+case ([\w,\s]+?)\n\n/)
            names.formUnion(methods?.output.1.matches(of: /\w+/).map { String($0.output) } ?? [])
        }
        for text in try sources(in: "tools") + sources(in: "Sources/Remote/TweakFleet") {
            let parts = text.components(separatedBy: "= CommandConfiguration(")
            for (before, after) in zip(parts, parts.dropFirst()) {
                // A command without a name is named after its type.
                let given = after.firstMatch(of: /^\s*commandName: "([\w\-]+)"/)?.output.1
                let type = before.matches(of: /struct (\w+)/).last?.output.1
                let name = try #require(given ?? type)
                names.insert(String(name))
            }
        }
        return names
    }

    private static func sources(in folder: String) throws -> [String] {
        let path = Locations.package + "/" + folder
        let files = try #require(FileManager.default.enumerator(atPath: path)).compactMap { $0 as? String }
        return try files.filter { $0.hasSuffix(".swift") && !$0.contains(".build/") }.map {
            try String(contentsOfFile: "\(path)/\($0)", encoding: .utf8)
        }
    }

    @Test func `Each word has one row, in alphabetical order, with one meaning`() {
        #expect(!meanings.isEmpty)
        #expect(meanings.filter { $0.count != 2 || $0.contains("") } == [])
        let first = forms.map { $0[0] }
        #expect(first == first.sorted())
        let repeated = Dictionary(grouping: forms.joined(), by: { $0 }).filter { $0.value.count > 1 }
        #expect(repeated.keys.sorted() == [])
    }

    @Test func `Words that mean something else elsewhere have a meaning, and stand in alphabetical order`() {
        #expect(!others.isEmpty)
        #expect(others.filter { $0.count != 3 || $0.contains("") } == [])
        let words = others.map { $0[0] }
        #expect(words == words.sorted())
        let explained = Set(forms.joined())
        #expect(words.filter { !explained.contains($0) } == [])
    }

    @Test func `The page explains every word of a public name that is not a general one`() throws {
        let explained = Set(forms.joined().flatMap(Self.words))
        let names = try Self.names.get()
        // One of each kind.
        let examples: Set = ["TweakStore", "tweakGate", "ReadOnly", "promote", "Follow", "setMany", "scope"]
        #expect(examples.subtracting(names).sorted() == [])
        let used = Set(names.flatMap(Self.words))
        let unexplained = names.filter { name in
            Self.words(of: name).contains { word in
                !Self.general.contains(word) && !Self.isKnown(word, among: explained)
            }
        }
        #expect(unexplained.sorted() == [])
        #expect(Self.general.subtracting(used).sorted() == [], "general words that no name uses")
        #expect(Self.general.intersection(explained).sorted() == [], "general words that the page explains")
    }

    @Test func `Other articles and public names use every word of the page`() throws {
        let articles = try Article.all.get().filter { $0.description != "Words.md" }.map(\.text)
        let names = try Self.names.get()
        let text = (articles + names).joined(separator: "\n").lowercased()
        #expect(forms.joined().filter { !text.contains($0) } == [])
    }
}
