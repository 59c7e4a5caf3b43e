// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
package import TweakRecords
internal import TweakSystem

/// A declaration in a record, and where its unit was compiled.
package struct CompiledDeclaration: Sendable {
    package let declaration: TweakDeclaration
    /// The working directory of the compiler of its unit; `nil` if it is unknown.
    package let folder: String?

    package init(_ declaration: TweakDeclaration, in folder: String? = nil) {
        (self.declaration, self.folder) = (declaration, folder)
    }

    /// The declaration with the cases of its enumeration, which a Swift macro does not see and the running program knows.
    ///
    /// - Parameter known: What the program says of the tweak.
    package func completed(by known: TweakDeclaration) -> CompiledDeclaration {
        var completed = declaration
        func named(_ value: TweakValue) -> TweakChoice? {
            let written = declaration.choices.first { $0.value == value } ?? TweakChoice(value)
            return known.choices.first { $0.name == written.name }
        }
        guard known.type == declaration.type, known.choices != declaration.choices,
            declaration.choices.allSatisfy({ named($0.value) != nil }),
            let defaultChoice = named(declaration.defaultValue)
        else { return self }
        (completed.choices, completed.defaultValue) = (known.choices, defaultChoice.value)
        return CompiledDeclaration(completed, in: folder)
    }
}

/// The folders in which the sources of a program are found, because compilers are given relative paths.
///
/// Only sources below the working directory, a folder where the compiler ran, or one that the user named are read and
/// changed: the paths come from the program's file, which may have been made to name any others.
package struct SourceFolders: Sendable {
    private let given: String?
    private let compiled: [String]
    private let working: String
    /// The executable.
    private let program: String?
    /// The folder that all files must be in, without symbolic links; `nil` for any.
    private let limit: String?
    /// The folders below which files may be read and changed, without symbolic links.
    let roots: [String]

    /// - Parameters:
    ///   - given: The folder that the user named.
    ///   - compiled: The working directories of the compiler.
    ///   - working: The working directory.
    ///   - program: The executable, which may be in another copy of the sources than those that the compiler read.
    ///   - limit: The folder that all files must be in, without symbolic links; `nil` for any.
    package init(
        given: String?, compiled: [String] = [], working: String, program: String? = nil,
        within limit: String? = nil
    ) {
        (self.given, self.compiled, self.working) = (given, compiled, working)
        (self.program, self.limit) = (program, limit)
        let named = [given, working].compactMap { $0 }.compactMap(trustedPath)
        // A program that was compiled in `/`, or says so, does not open all folders.
        let compilers = compiled.filter { $0.hasPrefix("/") }.compactMap(trustedPath).filter { $0 != "/" }
        roots = limit.map { [$0] } ?? named + compilers
    }

    // MARK: - Places

    /// The path of the file with a declaration, without symbolic links, the file as the record names it, and the line.
    ///
    /// - Parameter declares: Returns whether a file declares the tweak, to choose between several; `found` is the file that
    ///   is chosen otherwise, and `nil` if there is none.
    func place(
        of compiled: CompiledDeclaration,
        where declares: (_ path: String, _ found: String?, _ place: SourcePlace) -> Bool
    ) throws(Obstacle) -> (path: String, file: String, line: Int) {
        guard let place = compiled.declaration.location,
            let colon = place.utf8.lastIndex(of: UInt8(ascii: ":")),
            let line = Int(place[place.utf8.index(after: colon)...])
        else { throw Obstacle(reason: "the program does not contain its place in the sources") }
        let file = String(place[..<colon])
        let path = try path(of: file, compiledIn: compiled.folder) { path, found in
            declares(path, found, SourcePlace(file: file, line: line))
        }
        return (path, file, line)
    }

    private func path(
        of file: String, compiledIn folder: String?,
        where declares: (_ path: String, _ found: String?) -> Bool
    ) throws(Obstacle) -> String {
        let isAbsolute = file.hasPrefix("/")
        if let given {
            let whole = isAbsolute ? file : folder.map { joined($0, file) } ?? file
            let places =
                ends(of: whole, in: given)
                + (isAbsolute ? [file] : [joined(given, file), joined(working, file)])
            guard let path = existing(places).first else { throw Obstacle(reason: absence(of: places)) }
            return try checked(path)
        }
        let certain = isAbsolute ? [file] : folder.map { [joined($0, file)] } ?? []
        let here = isAbsolute ? [] : [joined(working, file)]
        /// The path, unless another copy of the file can be the one: a cache of objects may have one that was compiled in
        /// another copy of the sources, and a prefix map of the compiler hides where it ran.
        func only(_ path: String) throws(Obstacle) -> String {
            _ = try checked(path)
            let others = existing(here + besideProgram(file)).filter { $0 != path && declares($0, path) }
            guard let other = others.first else { return path }
            throw Self.doubt(path, other)
        }
        if let path = existing(certain).first { return try only(path) }
        let possible = (isAbsolute || folder != nil ? [] : compiled.map { joined($0, file) }) + here
        let paths = existing(possible)
        guard paths.count > 1 else {
            let moved = limit.map { existing(ends(of: file, in: $0)) } ?? []
            guard let path = paths.first ?? moved.first else {
                throw Obstacle(reason: absence(of: certain + possible))
            }
            return try only(path)
        }
        let declaring = paths.filter { obstacle(to: $0) == nil && declares($0, nil) }
        guard declaring.count != 1 else { return declaring[0] }
        let doubtful = declaring.isEmpty ? paths : declaring
        throw Self.doubt(doubtful[0], doubtful[1])
    }

    private static func doubt(_ path: String, _ other: String) -> Obstacle {
        Obstacle(
            reason: "it may be declared in \(path) or in \(other); give the source folder with --from"
        )
    }

    private func joined(_ folder: String, _ file: String) -> String {
        // A prefix map of the compiler makes relative folders.
        (folder.hasPrefix("/") ? "" : working + "/") + folder + "/" + file
    }

    /// The regular files among paths, without symbolic links, each once.
    private func existing(_ paths: [String]) -> [String] {
        var found: [String] = []
        for path in paths where stat(path: path)?.isRegularFile == true {
            if let path = trustedPath(path), !found.contains(path) { found.append(path) }
        }
        return found
    }

    /// The ends of a path in a folder, the longest one first, for a program that was built elsewhere.
    private func ends(of path: String, in folder: String) -> [String] {
        var parts: [String] = []
        for part in Self.components(path) where part != "." {
            if part == "..", !parts.isEmpty { parts.removeLast() } else { parts.append(part) }
        }
        return parts.indices.map { joined(folder, parts[$0...].joined(separator: "/")) }
    }

    /// The places of a file relative to the folders around the executable.
    private func besideProgram(_ file: String) -> [String] {
        guard !file.hasPrefix("/"), var folder = program.map(containingFolder) else { return [] }
        var places: [String] = []
        while folder.count > 1 {
            places.append(folder + "/" + file)
            folder = containingFolder(of: folder)
        }
        return places
    }

    // MARK: - Limits

    private func checked(_ path: String) throws(Obstacle) -> String {
        if let reason = obstacle(to: path) { throw Obstacle(reason: reason) }
        return path
    }

    /// The reason why a file must not be read and changed; `nil` if it may be.
    ///
    /// - Parameter path: Its path, without symbolic links.
    func obstacle(to path: String) -> String? {
        let ends = roots.compactMap { Self.components(of: path, below: $0) }
        guard !ends.isEmpty else {
            return limit.map { "the file \(path) is not below \($0)" }
                ?? "the file \(path) is neither below the working directory nor below one where the compiler ran; name "
                + "its folder with --from"
        }
        let isVisible = ends.contains { !$0.contains { $0.utf8.first == UInt8(ascii: ".") } }
        guard isVisible else { return "the file \(path) is hidden" }
        return SourceLanguage.isSource(path) ? nil : "the name of the file \(path) is not that of a source"
    }

    // By bytes, because other names can be equal as text, and a slash and a following combining mark are another
    // `Character`.

    static func components(_ path: String) -> [String] {
        path.utf8.split(separator: UInt8(ascii: "/")).map { String(Substring($0)) }
    }

    /// The components of a path behind those of a folder; `nil` if it is elsewhere.
    static func components(of path: String, below folder: String) -> [String]? {
        let start = folder == "/" ? folder : folder + "/"
        guard path.utf8.starts(with: start.utf8) else { return nil }
        return components(String(Substring(path.utf8.dropFirst(start.utf8.count))))
    }

    /// A path as people know it: from the working directory if it is there.
    func shown(_ path: String) -> String {
        realPath(working).flatMap { Self.components(of: path, below: $0) }?.joined(separator: "/") ?? path
    }

    /// The reason why none of these places has a file.
    private func absence(of places: [String]) -> String {
        for place in places {
            if let status = stat(path: place) {
                if status.isRegularFile {
                    return
                        "root does not follow a symbolic link that belongs to another user, and one leads to the file"
                }
                return status.isDirectory
                    ? "a directory is in place of the file" : "the file is not a regular file"
            }
            // A link that leads to itself is there, too.
            if errno == ELOOP { return "the file cannot be read: \(systemMessage())" }
        }
        return "no such file" + advice
    }

    private var advice: String {
        given == nil && limit == nil ? "; give the source folder with --from" : ""
    }
}
