// SPDX-License-Identifier: BSD-3-Clause
/// The modules of the page in one file, so that a browser needs one request; and in a second one those that are imported
/// when they are first needed.
///
/// Each module becomes a function that returns its exports and is called once, after the functions of its imports.
/// Modules use only `import { a, b } from "./c.js";` at the beginning, `import("./c.js")` in the code, and `export` before a
/// declaration. There are no import cycles, and no module awaits anything at the top level. Comments, types and spaces are
/// left out; a text in a template literal is on one line.
struct ModuleBundle {
    private(set) var text = ""
    /// The modules that are not needed at first; empty if there are none.
    private(set) var later = ""
    /// The path of those.
    let laterPath: String
    private let sources: [String: String]
    private var added: Set<String> = []
    private var neededLater: [String] = []
    /// The modules that others import.
    private var imported: Set<String> = []

    /// - Parameters:
    ///   - first: The path of the module that the page loads.
    ///   - sources: All modules by their paths.
    init(_ first: String, of sources: [String: String]) {
        self.sources = sources
        laterPath = first.replacing(".js", with: ".later.js")
        let module = read(first)
        var main = text + module.body
        if !neededLater.isEmpty {
            let before = added
            (text, imported) = ("", [])
            var place = 0
            while place < neededLater.count {
                add(neededLater[place])
                place += 1
            }
            let shared = Self.symbols(of: imported.union(neededLater).intersection(before))
            main += "export { \(shared) };\n"
            later = Self.compact(
                "import { \(shared) } from \"./\(Self.name(of: first))\";\n\(text)"
                    + "export { \(Self.symbols(of: Set(neededLater))) };\n")
        }
        text = Self.compact(main)
    }

    private static func compact(_ script: String) -> String {
        String(decoding: CompactScript(script).bytes, as: UTF8.self)
    }

    private static func symbols(of paths: Set<String>) -> String {
        paths.sorted().map(symbol).joined(separator: ", ")
    }

    private static func name(of path: String) -> Substring { path.split(separator: "/").last ?? "" }

    private mutating func add(_ path: String) {
        guard added.insert(path).inserted else { return }
        let module = read(path)
        let exports = module.exports.joined(separator: ", ")
        text += "const \(Self.symbol(of: path)) = (() => {\n\(module.body)return { \(exports) };\n})();\n"
    }

    /// The body of a module and its exports. Adds the modules that it imports first.
    private mutating func read(_ path: String) -> (body: String, exports: [Substring]) {
        var (body, exports, statement) = ("", [Substring](), "")
        var isInComment = false
        for line in (sources[path] ?? "").split(separator: "\n") {
            let code = line.drop { $0 == " " }
            if isInComment || code.hasPrefix("/**") && (code.hasSuffix("*/") || !code.contains("*/")) {
                isInComment = !code.hasSuffix("*/")
                continue
            }
            if code.hasPrefix("//") { continue }
            if !statement.isEmpty || line.hasPrefix("import ") {
                statement += line
                guard line.hasSuffix(";") else { continue }
                let parts = statement.split(separator: "\"")
                if let names = parts.first, parts.count > 1 {
                    let imported = Self.path(parts[1], from: path)
                    self.imported.insert(imported)
                    add(imported)
                    let list = names.drop { $0 != "{" }.prefix { $0 != "}" }
                    body += "const \(list)} = \(Self.symbol(of: imported));\n"
                }
                statement = ""
            } else if line.hasPrefix("export ") {
                let declaration = Self.withoutCasts(line.dropFirst("export ".count))
                let words = declaration.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
                exports +=
                    words.first { !["async", "class", "const", "function"].contains($0) }.map { [$0] } ?? []
                body += declaration + "\n"
            } else {
                body += importing(Self.withoutCasts(code), from: path) + "\n"
            }
        }
        return (body, exports)
    }

    /// A line whose `import("./c.js")` is that of the second file.
    private mutating func importing(_ line: Substring, from path: String) -> String {
        let parts = line.split(separator: "import(\"", omittingEmptySubsequences: false)
        return parts.dropFirst().reduce(into: String(parts[0])) { result, part in
            let path = Self.path(part.prefix { $0 != "\"" }, from: path)
            if !neededLater.contains(path) { neededLater.append(path) }
            result += "import(\"./\(Self.name(of: laterPath))\").then((all) => all.\(Self.symbol(of: path)))"
            result += part.drop { $0 != ")" }.dropFirst()
        }
    }

    /// A line without the casts that only a type checker reads.
    private static func withoutCasts(_ line: Substring) -> Substring {
        var line = line
        while line.utf8.contains(UInt8(ascii: "@")), let start = line.firstRange(of: "/** @type "),
            let end = line[start.upperBound...].firstRange(of: "*/")
        {
            line.removeSubrange(start.lowerBound..<end.upperBound)
        }
        return line
    }

    /// A style sheet without comments and indentation. Its comments have lines of their own.
    static func compact(styleSheet text: String) -> String {
        var result = ""
        var isInComment = false
        for line in text.split(separator: "\n") {
            let code = line.drop { $0 == " " }
            if isInComment || code.hasPrefix("/*") {
                isInComment = !code.hasSuffix("*/")
                continue
            }
            result += code + "\n"
        }
        return result
    }

    private static func symbol(of path: String) -> String {
        "$" + path.map { $0.isLetter || $0.isNumber ? String($0) : "_" }.joined()
    }

    /// The path of a module that another one imports as `./name` or `../name`.
    private static func path(_ name: Substring, from path: String) -> String {
        var folders = path.split(separator: "/").dropLast()
        var rest: [Substring] = []
        for part in name.split(separator: "/") {
            switch part {
            case ".": continue
            case "..": folders = folders.dropLast()
            default: rest.append(part)
            }
        }
        return (folders + rest).joined(separator: "/")
    }
}
