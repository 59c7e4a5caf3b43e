// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
internal import TweakRecords
internal import TweakSystem

/// The macros that a source can use: its own, and those of the files that it includes.
struct IncludedMacros {
    /// A declaration in the definition of a macro.
    struct Definition {
        let path: String
        let macro: String
        let declaration: SourceDeclaration
    }

    private static let mostFiles = 1000

    private var files: [(path: String, source: SourceFile)] = []
    /// The names in the definitions of each macro.
    private var names: [String: Set<String>] = [:]

    /// Reads the files that a source includes, and those that they include.
    ///
    /// - Parameters:
    ///   - path: The path of the source.
    ///   - read: Reads a file; `nil` if that is impossible.
    init(of path: String, in headers: HeaderIndex, _ read: (_ path: String) -> SourceFile?) {
        var waiting = [path]
        var seen: Set<String> = [path]
        while let next = waiting.popLast(), files.count < Self.mostFiles {
            guard let source = read(next) else { continue }
            files.append((next, source))
            names.merge(source.macros) { $0.union($1) }
            for include in source.includes {
                waiting += headers.paths(of: include, in: next).filter { seen.insert($0).inserted }
            }
        }
    }

    /// The macros among names, and those that they lead to.
    private func macros(behind used: Set<String>) -> Set<String> {
        var waiting = used.filter { names[$0] != nil }
        var found = waiting
        while let next = waiting.popFirst() {
            let more = (names[next] ?? []).filter { names[$0] != nil && !found.contains($0) }
            waiting.formUnion(more)
            found.formUnion(more)
        }
        return found
    }

    /// The declarations of a tweak in the definitions of macros.
    ///
    /// - Parameter used: The names that the place in the record uses.
    /// - Throws: ``Obstacle`` if a macro declares the tweak, and it cannot be said where.
    func definitions(of key: TweakKey, usedBy used: Set<String>) throws(Obstacle) -> [Definition] {
        let macros = macros(behind: used)
        var found: [Definition] = []
        var unnamed: String?
        for (path, source) in files {
            for declaration in source.declarations where !declaration.isLeftOut {
                guard let macro = declaration.macro, macros.contains(macro) else { continue }
                if declaration.declares(key) {
                    found.append(Definition(path: path, macro: macro, declaration: declaration))
                } else if declaration.key == nil {
                    unnamed = unnamed ?? macro
                }
            }
        }
        if let first = found.first,
            let other = found.first(where: { $0.macro == first.macro && $0.path != first.path })
        {
            throw Obstacle(
                reason:
                    "the macro \(first.macro) is defined in \(first.path) and in \(other.path); give the source folder with --from"
            )
        }
        // Its name is made of the arguments.
        if found.isEmpty, let unnamed { throw Obstacle(reason: "the macro \(unnamed) declares it") }
        return found
    }
}

/// Finds the files that sources include. The folders that the compiler was told to look in are unknown, so all below those
/// of the sources count.
final class HeaderIndex {
    private static let mostEntries = 50_000
    private static let deepest = 32

    private let folders: SourceFolders
    /// The paths of headers, by their names without folders; `nil` before the first is looked up.
    private var byName: [String: [String]]?

    init(of folders: SourceFolders) { self.folders = folders }

    /// The paths of the file, without symbolic links; several if it is not known which one it is.
    ///
    /// - Parameter path: The source with the directive.
    func paths(of include: IncludeDirective, in path: String) -> [String] {
        if include.isQuoted || include.name.utf8.first == UInt8(ascii: "/") {
            let beside = resolvedPath(include.name, relativeTo: path)
            if stat(path: beside)?.isRegularFile == true, let real = trustedPath(beside) {
                return folders.obstacle(to: real) == nil ? [real] : []
            }
        }
        let parts = SourceFolders.components(include.name).filter { $0 != "." && $0 != ".." }
        guard let name = parts.last else { return [] }
        let index = byName ?? indexed()
        byName = index
        return (index[name] ?? []).filter {
            SourceFolders.components($0).suffix(parts.count).elementsEqual(parts)
        }
    }

    private func indexed() -> [String: [String]] {
        var found: Set<String> = []
        var entries = 0
        var waiting = folders.roots.filter { $0 != "/" }.map { (folder: $0, depth: 0) }
        while let (folder, depth) = waiting.popLast(), entries < Self.mostEntries {
            for name in directoryEntries(folder).sorted() where name.utf8.first != UInt8(ascii: ".") {
                entries += 1
                let path = folder + "/" + name
                var status = stat()
                guard withPath(path, { lstat($0, &status) }) == 0 else { continue }
                if status.isDirectory, depth < Self.deepest {
                    waiting.append((path, depth + 1))
                } else if status.isRegularFile, SourceLanguage.isSource(path) {
                    found.insert(path)
                }
            }
        }
        return Dictionary(grouping: found.sorted()) { SourceFolders.components($0).last ?? "" }
    }
}
