// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// What the articles and the README show compiles. The snippets of an article build on one another.
@Suite struct `Documentation` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private static func articles(with language: String) throws -> [Article] {
        try Article.all.get().filter { !$0.snippets(language).isEmpty }
    }

    private func typeCheck(_ file: String, _ flags: [String]) throws {
        let fixed = [
            "-typecheck", "-swift-version", "6", "-warnings-as-errors", file,
            // Modules of C, which would otherwise be compiled for each article.
            "-module-cache-path", Locations.product("ModuleCacheOfDocumentation"),
        ]
        let result = try run(
            Locations.program("swiftc"), fixed + flags, home: home, environment: ["TMPDIR": home.path])
        #expect(result.succeeded, "\(result.error)")
    }

    @Test func `The topics list every public type`() throws {
        struct Information: Decodable {
            struct Target: Decodable { let unversionedTriple: String }
            let target: Target
        }
        let information = try run(Locations.program("swiftc"), ["-print-target-info"], home: home).output
        let target = try JSONDecoder().decode(Information.self, from: Data(information.utf8)).target
        let flags = [
            "symbolgraph-extract", "-module-name", "Tweaks", "-target", target.unversionedTriple,
            "-experimental-allowed-reexported-modules=TweakRecords", "-output-dir", home.path,
        ]
        let result = try run(
            Locations.program("swift"), flags + Example.libraryFlags(Example.directory.get()), home: home)
        try #require(result.succeeded, "\(result.error)")
        struct Graph: Decodable {
            struct Symbol: Decodable {
                struct Kind: Decodable { let identifier: String }
                let pathComponents: [String]
                let kind: Kind
            }
            let symbols: [Symbol]
        }
        let topics = try String(
            contentsOfFile: Locations.package + "/Sources/Library/Tweaks/Tweaks.docc/Tweaks.md",
            encoding: .utf8)
        let graph = try Data(contentsOf: URL(fileURLWithPath: home("Tweaks.symbols.json")))
        let kinds = ["swift.class", "swift.enum", "swift.protocol", "swift.struct", "swift.typealias"]
        let types = Set(
            try JSONDecoder().decode(Graph.self, from: graph).symbols
                .filter { $0.pathComponents.count == 1 && kinds.contains($0.kind.identifier) }
                .flatMap(\.pathComponents))
        #expect(types.contains("Tweak") && types.contains("TweakKey"))
        #expect(types.filter { !topics.contains("- ``\($0)``\n") }.sorted() == [])
    }

    @Test(arguments: try Article.all.get())
    func `The files that an article names exist, and are as many as it says`(article: Article) {
        for path in Self.paths(in: article.text) {
            guard !article.blocks.contains(where: { $0.file == path }) else { continue }
            #expect(FileManager.default.fileExists(atPath: "\(Locations.package)/\(path)"), "\(path)")
        }
        let paragraphs = article.text.components(separatedBy: "\n\n")
        var (counts, first): (Int, [String]) = (0, [])
        for (sentence, table) in zip(paragraphs, paragraphs.dropFirst()) where table.hasPrefix("| ") {
            guard let count = sentence.firstMatch(of: /passes (\d+) files/) else { continue }
            let files = Self.files(of: table, after: first)
            #expect(Set(files).count == Int(count.1), "\(sentence)")
            counts += 1
            if first.isEmpty { first = files }
        }
        if article.description == "HowItWorks.md" { #expect(counts == 3) }
    }

    private static func paths(in text: String) -> [String] {
        text.matches(of: /`((?:CSupport|Sources|Tests|tools)\/[\w.\/+-]+)`/).map { String($0.1) }
    }

    /// The files in a table.
    ///
    /// - Parameter above: The files in the first table. A row "as above" names the first and the last of a
    ///   range of them.
    private static func files(of table: String, after above: [String]) -> [String] {
        table.components(separatedBy: "\n").flatMap { row -> [String] in
            guard row.hasPrefix("| as above") else { return paths(in: row) }
            let ends = row.matches(of: /`([^`]+)`/).map { name in
                above.firstIndex { $0.hasSuffix("/\(name.1)") }
            }
            guard let first = ends.first ?? nil, let last = ends.last ?? nil, first <= last else {
                Issue.record("not above: \(row)")
                return []
            }
            return Array(above[first...last])
        }
    }

    @Test func `The threat model names tests that exist`() throws {
        let text = try String(contentsOfFile: Article.catalogue + "/ThreatModel.md", encoding: .utf8)
        for section in text.split(separator: "\n### ") {
            let tests = try section.matches(of: /`(Tests\/[\w\/]+\.swift)`/).map {
                try String(contentsOfFile: "\(Locations.package)/\($0.1)", encoding: .utf8)
            }
            let promises = section.split(separator: "\n- ").dropFirst().joined(separator: " ")
            for promise in promises.matches(of: /`([^`]+)`/) {
                #expect(tests.contains { $0.contains("func `\(promise.1)`(") }, "\(promise.1)")
            }
        }
    }

    @Test(arguments: try articles(with: "swift"))
    func `The Swift snippets of an article compile as one program`(article: Article) throws {
        let snippets = article.snippets("swift").map {
            "#sourceLocation(file: \"\(article)\", line: \($0.line))\n\($0.text)"
        }
        let file = try home.write("main.swift", "import Tweaks\n" + snippets.joined())
        // The example has no tests, so TweaksTesting is that of these, which are built without macros.
        let flags =
            try snippets.contains { $0.contains("import TweaksTesting") }
            ? Example.libraryFlags(Locations.products, and: ["CCommandSupport"])
            : Example.compilerFlags
        try typeCheck(file, ["-DDEBUG"] + flags)
    }

    @Test(arguments: try Article.all.get().filter { !$0.manifests.isEmpty })
    func `Package manifests compile`(article: Article) throws {
        let interface = try URL(fileURLWithPath: Locations.program("swiftc")).resolvingSymlinksInPath()
            .deletingLastPathComponent().appendingPathComponent("../lib/swift/pm/ManifestAPI").standardized
            .path
        for manifest in article.manifests {
            let file = try home.write("Package.swift", manifest.text)
            try typeCheck(file, ["-package-description-version", "6.2.0", "-I", interface])
        }
    }

    @Test(arguments: try articles(with: "c"))
    func `The C snippets of an article compile`(article: Article) throws {
        try check(article, "c", as: .c)
    }

    @Test(arguments: try articles(with: "cpp"))
    func `The C++ snippets of an article compile`(article: Article) throws {
        try check(article, "cpp", as: .cPlusPlus)
    }

    /// A snippet is a part of a file, or else the body of a function.
    private func check(_ article: Article, _ name: String, as language: Language) throws {
        var source = "#include <fbtweak.h>\n"
        for snippet in article.snippets(name) {
            let text = "#line \(snippet.line) \"\(article)\"\n\(snippet.text)"
            let function = "void snippet_\(snippet.line)(void) {\n\(text)}\n"
            do {
                try compile(source + text, language)
                source += text
            } catch let inFile {
                do { try compile(source + function, language) } catch let inFunction {
                    Issue.record("as a part of a file: \(inFile)\nas the body of a function: \(inFunction)")
                }
                source += function
            }
        }
    }

    private func compile(_ source: String, _ language: Language) throws {
        let file = try home.write("snippets.\(language.suffix)", source)
        try Compiler.gcc.compile(
            [file], as: language, to: home("snippets.o"),
            ["-fsyntax-only", "-Werror", "-DDEBUG", language == .c ? "-std=gnu11" : "-std=c++17"], home: home)
    }

    @Test(.enabled(if: (try? Locations.program("docc")) != nil))
    func `DocC finds nothing wrong with it`() throws {
        let result = try run(
            Locations.package + "/tools/docs", [home("site")], home: home,
            environment: ["TWEAKS_EXAMPLE_BUILT": Example.directory.get()])
        #expect(result.succeeded && !result.output.contains("warning:"), "\(result.output)\(result.error)")
        #expect(FileManager.default.fileExists(atPath: home("site/documentation/tweaks/index.html")))
        let root = try String(contentsOfFile: home("site/index.html"), encoding: .utf8)
        #expect(root.contains("url=documentation/tweaks/"), "its root leads to the first page")
    }
}
