// SPDX-License-Identifier: BSD-3-Clause
internal import CommandSupport
internal import TweakRecords

/// The sources of a program, each read once, and what their declarations of tweaks are.
final class ReadSources {
    let folders: SourceFolders
    private let headers: HeaderIndex
    private var files: [String: Result<SourceFile, Obstacle>] = [:]
    /// The macros that files can use, by their paths.
    private var macros: [String: IncludedMacros] = [:]

    init(in folders: SourceFolders) {
        self.folders = folders
        headers = HeaderIndex(of: folders)
    }

    /// - Throws: ``Obstacle`` if the file cannot be read.
    func source(_ path: String) throws(Obstacle) -> SourceFile {
        if let file = files[path] { return try file.get() }
        let file = Result { () throws(Obstacle) in
            do throws(Failure) {
                return SourceFile(try readInput(path, isNamed: false), SourceLanguage(path: path))
            } catch {
                throw Obstacle(reason: "the file cannot be read: \(error.message)")
            }
        }
        files[path] = file
        return try file.get()
    }

    /// The path of the file with a declaration, without symbolic links, and its place as the record has it.
    ///
    /// - Parameter variable: The name of the variable that a person has made the tweak of; `nil` if the tweak is declared.
    func place(
        of compiled: CompiledDeclaration, _ variable: String? = nil
    ) throws(Obstacle) -> (path: String, file: String, line: Int) {
        let key = compiled.declaration.key
        return try folders.place(of: compiled) { path, found, place in
            guard let source = try? self.source(path) else { return false }
            if source.mentions(key, variable) { return true }
            // Another copy of a file that uses a macro uses it, too; its own headers may not be known.
            guard variable == nil, let found, let names = try? self.source(found).names(at: place) else {
                return false
            }
            return names.contains { name in
                source.tokens.contains { $0.kind == .identifier && $0.text == name }
                    && (try? self.definitions(of: key, at: place, in: found, using: [name]).isEmpty) != true
            }
        }
    }

    /// The declarations of a tweak in the definitions of macros that a place in a record uses; none if it is declared at
    /// the place itself.
    ///
    /// - Parameter used: The names of macros that count; `nil` for all that are used there.
    /// - Throws: ``Obstacle`` if a macro declares the tweak, and it cannot be said where.
    func definitions(
        of key: TweakKey, at place: SourcePlace, in path: String, using used: Set<String>? = nil
    ) throws(Obstacle) -> [IncludedMacros.Definition] {
        let source = try source(path)
        guard !source.declares(key, at: place) else { return [] }
        let used = used ?? source.names(at: place)
        guard !used.isEmpty else { return [] }
        let included = macros[path] ?? IncludedMacros(of: path, in: headers) { try? self.source($0) }
        macros[path] = included
        return try included.definitions(of: key, usedBy: used)
    }
}
