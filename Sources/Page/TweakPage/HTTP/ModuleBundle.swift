// SPDX-License-Identifier: BSD-3-Clause
/// The modules of the page in one file, so that a browser needs one request.
///
/// Each module becomes a function that returns its exports and is called once, after the functions of its imports.
/// Modules use only `import { a, b } from "./c.js";` at the beginning, and `export` before a declaration. There are no
/// import cycles, and only the first module awaits anything at the top level. Comments in lines of their own and indentation
/// are left out; a text in a template literal is on one line.
struct ModuleBundle {
    private(set) var text = ""
    private let sources: [String: String]
    private var added: Set<String> = []

    /// - Parameters:
    ///   - first: The path of the module that the page loads.
    ///   - sources: All modules by their paths.
    init(_ first: String, of sources: [String: String]) {
        self.sources = sources
        let module = read(first)
        text += module.body
    }

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
                    add(imported)
                    let list = names.drop { $0 != "{" }.prefix { $0 != "}" }
                    body += "const \(list)} = \(Self.symbol(of: imported));\n"
                }
                statement = ""
            } else if line.hasPrefix("export ") {
                let declaration = line.dropFirst("export ".count)
                let words = declaration.split { !$0.isLetter && !$0.isNumber && $0 != "_" }
                exports +=
                    words.first { !["async", "class", "const", "function"].contains($0) }.map { [$0] } ?? []
                body += declaration + "\n"
            } else {
                body += code + "\n"
            }
        }
        return (body, exports)
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
