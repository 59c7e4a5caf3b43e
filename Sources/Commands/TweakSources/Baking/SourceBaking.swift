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
    /// The macro in whose definition the literal is, which the place of the record uses; `nil` for none.
    package let macro: String?
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
    package var message: String { (place.map { $0 + ": " } ?? "") + "\(tweak) is skipped: \(reason)" }
}

/// Changes defaults in sources: reads the files, collects the changes, and writes them.
///
/// A tweak is changed at all places that declare it, or at none.
package struct SourceBaking {
    private let sources: ReadSources
    private let isWriting: Bool

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
        (sources, self.isWriting) = (ReadSources(in: folders), isWriting)
    }

    /// Plans to change the defaults of a tweak.
    ///
    /// - Parameters:
    ///   - declarations: The declarations in all records of the tweak, at least one.
    ///   - variable: The name of the variable, with or without scopes, that a person has made the tweak of; it has no
    ///     record.
    ///   - admission: Checks the new value against one of the declarations, whose limits may differ.
    package mutating func add(
        _ declarations: [CompiledDeclaration], variable: String? = nil,
        _ admission: (TweakDeclaration) throws(TweakValueError) -> TweakDeclaration.Admission?
    ) {
        var planned: [SourceChange] = []
        var problems: [StayingTweak] = []
        var seen: Set<[String?]> = []
        for compiled in declarations
        where seen.insert([compiled.declaration.location, compiled.folder]).inserted {
            let declaration = compiled.declaration
            do throws(Obstacle) {
                for change in try changes(of: compiled, variable, admission)
                where !planned.contains(where: { $0.path == change.path && $0.range == change.range }) {
                    planned.append(change)
                }
            } catch {
                problems.append(
                    StayingTweak(tweak: declaration.key, place: declaration.location, reason: error.reason))
            }
        }
        guard problems.isEmpty else { return staying += problems }
        if planned.isEmpty { done.formUnion(declarations.map(\.declaration.key)) }
        changes += planned
    }

    /// Leaves a tweak as it is.
    package mutating func leave(_ tweak: StayingTweak) { staying.append(tweak) }

    /// Keeps only the changes of some tweaks.
    package mutating func keep(_ isKept: (TweakKey) -> Bool) { changes = changes.filter { isKept($0.tweak) } }

    private mutating func changes(
        of compiled: CompiledDeclaration, _ variable: String?,
        _ admission: (TweakDeclaration) throws(TweakValueError) -> TweakDeclaration.Admission?
    ) throws(Obstacle) -> [SourceChange] {
        let declaration = compiled.declaration
        let admitted: TweakDeclaration.Admission?
        do throws(TweakValueError) { admitted = try admission(declaration) } catch {
            throw Obstacle(error)
        }
        guard let admitted else { return [] }
        guard !admitted.wasClamped else {
            throw Obstacle(reason: outsideLimits("the value", allowed: declaration.allowed))
        }
        let value = admitted.value
        guard value != declaration.defaultValue else { return [] }
        let (path, file, line) = try sources.place(of: compiled, variable)
        let source = try sources.source(path)
        if let variable {
            let edits = try source.edits(
                ofVariable: variable, declaration, atLine: line, of: file, to: value)
            return try changes(edits, in: path, source, declaration, value)
        }
        let definitions = try sources.definitions(
            of: declaration.key, at: SourcePlace(file: file, line: line), in: path)
        guard !definitions.isEmpty else {
            let edits = try source.edits(of: declaration, atLine: line, of: file, to: value)
            return try changes(edits, in: path, source, declaration, value)
        }
        var all: [SourceChange] = []
        for definition in definitions {
            let source = try sources.source(definition.path)
            let edits = try source.edits(of: [definition.declaration], declaration, to: value)
            all += try changes(edits, in: definition.path, source, declaration, value, definition.macro)
        }
        return all
    }

    /// A macro that is defined as a tweak.
    package struct MacroDefinition: Hashable, Encodable {
        package let macro: String
        /// The place of the definition: the path, without symbolic links, and the line.
        package let path: String
        package let line: Int
    }

    /// The definitions of the macros that a place in a record uses and that declare the tweak; none if it is declared
    /// at the place itself, or if that cannot be known.
    package func definitions(of compiled: CompiledDeclaration) -> [MacroDefinition] {
        guard let (path, file, line) = try? sources.place(of: compiled),
            let found = try? sources.definitions(
                of: compiled.declaration.key, at: SourcePlace(file: file, line: line), in: path)
        else { return [] }
        return found.compactMap { definition in
            guard let lines = try? sources.source(definition.path).lines else { return nil }
            return MacroDefinition(
                macro: definition.macro, path: definition.path,
                line: lines.line(of: definition.declaration.offset))
        }
    }

    private func changes(
        _ edits: [SourceFile.Edit], in path: String, _ source: SourceFile,
        _ declaration: TweakDeclaration, _ value: TweakValue, _ macro: String? = nil
    ) throws(Obstacle) -> [SourceChange] {
        if !edits.isEmpty, let obstacle = obstacle(path, source) { throw Obstacle(reason: obstacle) }
        return edits.map { edit in
            let line = source.lines.line(of: edit.range.lowerBound)
            return SourceChange(
                tweak: declaration.key, place: declaration.location ?? "", path: path, range: edit.range,
                line: line,
                column: edit.range.lowerBound - source.lines.range(of: line).lowerBound + 1,
                oldText: Array(source.bytes[edit.range]), newText: edit.text, oldValue: edit.former,
                newValue: value, macro: macro)
        }
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
            guard let source = try? sources.source(path), let changes = byPath[path] else { return nil }
            return ChangedFile(
                path: path, source: source,
                changes: changes.sorted { $0.range.lowerBound < $1.range.lowerBound })
        }
    }

    /// Writes all changes, or none.
    ///
    /// Each folder is opened once, along a path without symbolic links: whoever may exchange a folder in the meantime
    /// does not choose where the new file goes.
    ///
    /// - Throws: ``Failure`` if a file changed since it was read, or cannot be replaced.
    package func write() throws(Failure) {
        var prepared: [(path: String, file: FileReplacement)] = []
        var written: [String] = []
        var current = ""
        do throws(FileError) {
            for file in changedFiles {
                current = file.path
                let replacement = try FileReplacement(
                    of: file.path, with: file.bytes, following: .none, expecting: file.source.bytes)
                prepared.append((file.path, replacement))
            }
            for (path, file) in prepared {
                current = path
                try file.checkExpected()
            }
            while let (path, file) = prepared.first {
                try file.commit()
                prepared.removeFirst()
                written.append(path)
            }
        } catch {
            for (_, file) in prepared { file.discard() }
            let result =
                written.isEmpty
                ? "nothing was written" : "only this was written: \(written.joined(separator: ", "))"
            guard [ESTALE, ELOOP, ENOENT, ENOTDIR, EINVAL].contains(error.number) else {
                throw Failure("\(error); \(result)", .cannotCreate)
            }
            throw Failure("\(current): the file has changed meanwhile; \(result)", .busy)
        }
    }
}
