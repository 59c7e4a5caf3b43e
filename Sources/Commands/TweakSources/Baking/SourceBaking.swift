// SPDX-License-Identifier: BSD-3-Clause
package import CommandSupport
internal import Glibc
package import TweakRecords
internal import TweakSystem

/// The replacement of a literal in a source.
package struct SourceChange: Sendable {
    package let tweak: TweakKey
    /// The place in the record, `file:line`.
    package let place: String
    /// The path of the file, without symbolic links.
    package let path: String
    /// The bytes of the literal in the file.
    package let range: Range<Int>
    /// The line and the column of the literal in the file, both from 1; the column counts bytes.
    package let line, column: Int
    package let oldText, newText: [UInt8]
    package let oldValue, newValue: TweakValue
}

/// A tweak whose defaults stay as they are.
package struct StayingTweak: Sendable {
    package let tweak: TweakKey
    /// The place in the record, `file:line`; `nil` if it concerns no place.
    package let place: String?
    /// The end of a sentence with "because".
    package let reason: String

    package init(tweak: TweakKey, place: String?, reason: String) {
        (self.tweak, self.place, self.reason) = (tweak, place, reason)
    }

    /// The whole sentence.
    package var message: String { (place.map { $0 + ": " } ?? "") + "\(tweak) stays, because \(reason)" }
}

/// Changes defaults in sources: reads the files, collects the changes, and writes them.
///
/// A tweak is changed at all places that declare it, or at none.
package struct SourceBaking {
    /// A file that was read.
    private struct ReadFile {
        let source: SourceFile
        let obstacle: String?
    }

    private let folders: SourceFolders
    private let isWriting: Bool
    private var files: [String: ReadFile] = [:]

    /// The changes, in the order of the tweaks, then of their places.
    package private(set) var changes: [SourceChange] = []
    /// The tweaks that stay, with a sentence for each of their places at fault.
    package private(set) var staying: [StayingTweak] = []
    /// The tweaks that have the wanted default already.
    package private(set) var done: Set<TweakKey> = []

    /// - Parameters:
    ///   - folders: Where relative paths of records begin.
    ///   - isWriting: Whether the files must be writable.
    package init(folders: SourceFolders, isWriting: Bool) {
        (self.folders, self.isWriting) = (folders, isWriting)
    }

    /// Plans to change the defaults of a tweak.
    ///
    /// - Parameters:
    ///   - declarations: The declarations in all records of the tweak, at least one.
    ///   - variable: The name of the variable, with or without scopes, that a person has made the tweak of; it has no
    ///     record.
    ///   - admission: Checks the new value against one of the declarations, whose limits may differ.
    package mutating func add(
        _ declarations: [TweakDeclaration], variable: String? = nil,
        _ admission: (TweakDeclaration) throws(TweakValueError) -> TweakDeclaration.Admission?
    ) {
        var planned: [SourceChange] = []
        var problems: [StayingTweak] = []
        var seen: Set<String> = []
        for declaration in declarations where seen.insert(declaration.location ?? "").inserted {
            do throws(Obstacle) {
                for change in try changes(of: declaration, variable, admission)
                where !planned.contains(where: { $0.path == change.path && $0.range == change.range }) {
                    planned.append(change)
                }
            } catch {
                problems.append(
                    StayingTweak(tweak: declaration.key, place: declaration.location, reason: error.reason))
            }
        }
        guard problems.isEmpty else { return staying += problems }
        if planned.isEmpty { done.formUnion(declarations.map(\.key)) }
        changes += planned
    }

    /// Leaves a tweak as it is.
    package mutating func leave(_ tweak: StayingTweak) { staying.append(tweak) }

    /// Keeps only the changes of some tweaks.
    package mutating func keep(_ isKept: (TweakKey) -> Bool) { changes = changes.filter { isKept($0.tweak) } }

    private mutating func changes(
        of declaration: TweakDeclaration, _ variable: String?,
        _ admission: (TweakDeclaration) throws(TweakValueError) -> TweakDeclaration.Admission?
    ) throws(Obstacle) -> [SourceChange] {
        let admitted: TweakDeclaration.Admission?
        do throws(TweakValueError) { admitted = try admission(declaration) } catch {
            throw Obstacle(error, of: declaration)
        }
        guard let admitted else { return [] }
        guard !admitted.wasClamped else {
            throw Obstacle(reason: outsideLimits("the value", allowed: declaration.allowed))
        }
        let value = admitted.value
        guard value != declaration.defaultValue else { return [] }
        let (path, file, line) = try folders.place(of: declaration)
        let read = try read(path)
        let edits =
            if let variable {
                try read.source.edits(
                    ofVariable: variable, declaration, atLine: line, of: file, to: value)
            } else {
                try read.source.edits(of: declaration, atLine: line, of: file, to: value)
            }
        if let obstacle = read.obstacle, !edits.isEmpty { throw Obstacle(reason: obstacle) }
        return edits.map { edit in
            let line = read.source.lines.line(of: edit.range.lowerBound)
            return SourceChange(
                tweak: declaration.key, place: declaration.location ?? "", path: path, range: edit.range,
                line: line,
                column: edit.range.lowerBound - read.source.lines.range(of: line).lowerBound + 1,
                oldText: Array(read.source.bytes[edit.range]), newText: edit.text, oldValue: edit.former,
                newValue: value)
        }
    }

    private mutating func read(_ path: String) throws(Obstacle) -> ReadFile {
        if let file = files[path] { return file }
        let bytes: [UInt8]
        do throws(Failure) { bytes = try readInput(path, isNamed: false) } catch {
            throw Obstacle(reason: "the file cannot be read: \(error.message)")
        }
        let source = SourceFile(bytes, SourceLanguage(path: path))
        let file = ReadFile(source: source, obstacle: obstacle(path, source))
        files[path] = file
        return file
    }

    private func obstacle(_ path: String, _ source: SourceFile) -> String? {
        if let notice = source.generatorNotice {
            return "the file is generated; the comment at its beginning contains \"\(notice)\""
        }
        guard isWriting else { return nil }
        // Root may write every file, but a file without any permission to write is not meant to be changed.
        let isReadOnly = stat(path: path).map { $0.st_mode & 0o222 == 0 } ?? true
        if isReadOnly || !isAccessible(path, W_OK) { return "the file is not writable" }
        return isAccessible(containingFolder(of: path), W_OK) ? nil : "its folder is not writable"
    }

    // MARK: Files

    /// A file with all its changes.
    struct ChangedFile {
        let path: String
        let source: SourceFile
        /// The changes, by their places in the file.
        let changes: [SourceChange]

        /// The new content.
        var bytes: [UInt8] {
            var bytes: [UInt8] = []
            var next = 0
            for change in changes {
                bytes += source.bytes[next..<change.range.lowerBound] + change.newText
                next = change.range.upperBound
            }
            return bytes + source.bytes[next...]
        }
    }

    /// The files that change, sorted by path.
    var changedFiles: [ChangedFile] {
        let byPath = Dictionary(grouping: changes, by: \.path)
        return byPath.keys.sorted().compactMap { path in
            guard let source = files[path]?.source, let changes = byPath[path] else { return nil }
            return ChangedFile(
                path: path, source: source,
                changes: changes.sorted { $0.range.lowerBound < $1.range.lowerBound })
        }
    }

    /// Writes all changes, or none.
    ///
    /// - Throws: ``Failure`` if a file changed since it was read, or cannot be replaced.
    package func write() throws(Failure) {
        let changed = changedFiles
        for file in changed
        where realPath(file.path) != file.path
            || (try? readInput(file.path, isNamed: false)) != file.source.bytes
        {
            throw Failure("\(file.path): the file has changed meanwhile; nothing was written", .busy)
        }
        _ = try writeFiles(changed.map { ($0.path, $0.bytes) })
    }
}

/// Where the paths in records begin, because compilers are given relative ones.
package struct SourceFolders: Sendable {
    private let given: String?
    private let compiled: [String]
    private let working: String
    /// The folder that all files must be in, without symbolic links; `nil` for any.
    private let limit: String?

    /// - Parameters:
    ///   - given: The folder that the user named.
    ///   - compiled: The working directories of the compiler.
    ///   - working: The working directory.
    ///   - limit: The folder that all files must be in, without symbolic links; `nil` for any.
    package init(given: String?, compiled: [String] = [], working: String, within limit: String? = nil) {
        (self.given, self.compiled, self.working, self.limit) = (given, compiled, working, limit)
    }

    /// The path of an existing file, without symbolic links.
    ///
    /// A relative path begins at the given folder, or else where the compiler ran, or else at the working directory. Of
    /// an absolute path that does not exist, because the program was built elsewhere, the longest end that exists in the
    /// given folder counts, or else in the folder that all files must be in.
    package func path(of file: String) -> String? {
        candidates(for: file).lazy.filter { stat(path: $0)?.isRegularFile == true }.compactMap {
            realPath($0)
        }.first
    }

    private func candidates(for file: String) -> [String] {
        var candidates = [file]
        if !file.hasPrefix("/") {
            candidates = ((given.map { [$0] } ?? compiled) + [working]).map { $0 + "/" + file }
        } else if let folder = given ?? limit {
            let parts = file.split(separator: "/")
            candidates += parts.indices.map { folder + "/" + parts[$0...].joined(separator: "/") }
        }
        return candidates
    }

    /// The path of the file with a declaration, the file as the record names it, and the line.
    func place(
        of declaration: TweakDeclaration
    ) throws(Obstacle) -> (path: String, file: String, line: Int) {
        guard let place = declaration.location, let colon = place.utf8.lastIndex(of: UInt8(ascii: ":")),
            let line = Int(place[place.utf8.index(after: colon)...])
        else { throw Obstacle(reason: "the program does not contain its place in the sources") }
        let file = String(place[..<colon])
        guard let path = path(of: file) else {
            throw Obstacle(reason: absence(of: file))
        }
        if let limit, !path.hasPrefix(limit == "/" ? limit : limit + "/") {
            throw Obstacle(reason: "the file \(path) is not below \(limit)")
        }
        return (path, file, line)
    }

    /// The reason why a place has no file.
    private func absence(of file: String) -> String {
        for candidate in candidates(for: file) {
            if let status = stat(path: candidate) {
                return status.isDirectory
                    ? "a directory is in place of the file" : "the file is not a regular file"
            }
            // A link that leads to itself is there, too.
            if errno == ELOOP { return "the file cannot be read: \(systemMessage())" }
        }
        return "there is no such file" + advice
    }

    private var advice: String {
        given == nil && limit == nil ? "; name the folder of the sources with --from" : ""
    }
}
