// SPDX-License-Identifier: BSD-3-Clause
package import CommandSupport
package import TweakRecords

/// The defaults in the sources of a program, read again whenever a file is saved.
///
/// A declaration is found by the place in its record and by its name, later by the name alone, because lines move while
/// a file is edited.
package struct FollowedSources: ~Copyable {
    /// A default that was edited.
    package struct Edit {
        package let tweak: TweakDeclaration
        /// Its place now, as `file:line`.
        package let place: String
        package let value: TweakValue
    }

    /// The edits, and the tweaks whose new text is no value, in the order of the tweaks.
    package struct Update {
        package var edits: [Edit] = []
        package var staying: [StayingTweak] = []
    }

    /// A declaration in a file.
    private struct Place {
        let path: String
        /// The path as people know it.
        let shown: String
        /// The file and the line in the record.
        let file: String
        let line: Int
        /// The positions among the declarations of the tweak in the file, and the number of those; `nil` before the file
        /// was read.
        var positions: (own: [Int], count: Int)?
    }

    /// A file as it was read last.
    private struct ReadFile {
        let source: SourceFile
        /// The declarations by name, in the order of the file.
        let declarations: [TweakKey: [SourceDeclaration]]
        let hasClosedBrackets: Bool

        init(_ source: SourceFile) {
            self.source = source
            hasClosedBrackets = source.hasClosedBrackets
            var named: [TweakKey: [SourceDeclaration]] = [:]
            for declaration in source.declarations {
                if let key = declaration.key { named[key, default: []].append(declaration) }
            }
            declarations = named
        }

        /// The declarations of a tweak, or of the array of which it is an element.
        func declarations(of tweak: TweakKey) -> [SourceDeclaration] {
            declarations[tweak]
                ?? tweak.ofArray.flatMap { declarations[$0] }?.filter { $0.declares(tweak) } ?? []
        }
    }

    private struct Followed {
        let tweak: TweakDeclaration
        var places: [Place]
        /// The value that the program has.
        var value: TweakValue
        /// The reasons that were reported since the sources last had a value.
        var reported: Set<String> = []
    }

    private var tweaks: [Followed]
    private var files: [String: ReadFile] = [:]
    /// The files whose brackets were closed at first, in which a bracket that is not closed is text being typed. The
    /// brackets of a regular expression may never be.
    private var closed: Set<String> = []
    private var changes: SourceChanges

    /// Readable after a change.
    package var descriptor: CInt { changes.descriptor }
    /// Whether ``update()`` should be called from time to time without a change.
    package var isIncomplete: Bool { !changes.missing.isEmpty }
    package var tweakCount: Int { tweaks.count }
    package private(set) var fileCount: Int
    /// The tweaks without sources, with the reasons.
    package private(set) var unfound: [StayingTweak]

    /// - Parameters:
    ///   - tweaks: The tweaks of the running program, and their declarations, one for each place.
    ///   - folders: Where relative paths of records begin.
    /// - Throws: ``Failure`` if the folders cannot be watched.
    package init(
        _ tweaks: [(tweak: TweakDeclaration, places: [CompiledDeclaration])], in folders: SourceFolders
    ) throws(Failure) {
        let sources = ReadSources(in: folders)
        var followed: [Followed] = []
        var unfound: [StayingTweak] = []
        for (tweak, declarations) in tweaks {
            var places: [Place] = []
            var problem: StayingTweak?
            for declaration in declarations {
                do throws(Obstacle) {
                    for place in try Self.places(of: declaration, in: sources)
                    where !places.contains(where: { $0.path == place.path && $0.line == place.line }) {
                        places.append(place)
                    }
                } catch {
                    problem = StayingTweak(
                        tweak: tweak.key, place: declaration.declaration.location, reason: error.reason)
                }
            }
            if let problem {
                unfound.append(problem)
            } else {
                followed.append(Followed(tweak: tweak, places: places, value: tweak.defaultValue))
            }
        }
        let paths = Set(followed.flatMap { $0.places.map(\.path) })
        // Swift 6.2 crashes if the initializer that assigns the properties throws.
        self.init(followed, unfound: unfound, in: paths, changes: try SourceChanges(of: paths))
    }

    private init(
        _ tweaks: [Followed], unfound: [StayingTweak], in paths: Set<String>,
        changes: consuming SourceChanges
    ) {
        self.tweaks = tweaks
        self.unfound = unfound
        self.changes = changes
        fileCount = paths.count
        for path in paths { read(path) }
        closed = Set(files.filter { $0.value.hasClosedBrackets }.keys)
    }

    /// The place of a record, or those of the definitions of macros that declare the tweak there.
    private static func places(
        of compiled: CompiledDeclaration, in sources: ReadSources
    ) throws(Obstacle) -> [Place] {
        let folders = sources.folders
        let (path, file, line) = try sources.place(of: compiled)
        let recorded = [Place(path: path, shown: folders.shown(path), file: file, line: line)]
        let place = SourcePlace(file: file, line: line)
        let definitions = try sources.definitions(of: compiled.declaration.key, at: place, in: path)
        guard !definitions.isEmpty else { return recorded }
        return definitions.map {
            let shown = folders.shown($0.path)
            return Place(path: $0.path, shown: shown, file: shown, line: $0.declaration.place.line)
        }
    }

    private mutating func read(_ path: String) {
        // A file that is gone for a moment, or for good, changes nothing.
        guard let bytes = try? readInput(path, isNamed: false) else { return }
        files[path] = ReadFile(SourceFile(bytes, SourceLanguage(path: path)))
    }

    /// The literals that differ from the defaults in the program.
    package mutating func first() -> Update { update(Set(files.keys)) }

    /// The changes by edits since the last call.
    package mutating func update() -> Update {
        var changed: Set<String> = []
        var next = changes.next()
        while !next.isEmpty {
            let former = files
            for path in next { read(path) }
            let more = changes.next()
            // A file that is written again meanwhile was perhaps read in part.
            for path in next {
                if more.contains(path) || changes.unfinished.contains(path) {
                    files[path] = former[path]
                } else {
                    changed.insert(path)
                }
            }
            next = more
        }
        return changed.isEmpty ? Update() : update(changed)
    }

    private mutating func update(_ changed: Set<String>) -> Update {
        var update = Update()
        for index in tweaks.indices where tweaks[index].places.contains(where: { changed.contains($0.path) })
        {
            switch literal(at: index) {
            case .edit(let edit):
                tweaks[index].reported = []
                guard edit.value != tweaks[index].value else { continue }
                tweaks[index].value = edit.value
                update.edits.append(edit)
            case .staying(let tweak):
                if tweaks[index].reported.insert(tweak.reason).inserted { update.staying.append(tweak) }
            case nil: continue
            }
        }
        return update
    }

    private enum Literal {
        case edit(Edit)
        case staying(StayingTweak)
    }

    /// The value that the sources have for a tweak, the same at all places, or the reason why there is none; `nil` if no
    /// source could be read.
    private mutating func literal(at index: Int) -> Literal? {
        let tweak = tweaks[index].tweak
        var found: Edit?
        var here = ""
        do throws(Obstacle) {
            for number in tweaks[index].places.indices {
                let place = tweaks[index].places[number]
                guard let file = files[place.path] else { continue }
                here = "\(place.shown):\(place.line)"
                guard file.hasClosedBrackets || !closed.contains(place.path) else {
                    throw Obstacle(reason: "a bracket in the file is not closed")
                }
                let (defaults, positions) = try file.source.defaults(
                    of: tweak, in: file.declarations(of: tweak.key), atLine: place.line, of: place.file,
                    known: place.positions)
                tweaks[index].places[number].positions = positions
                for (value, line) in defaults {
                    here = "\(place.shown):\(line)"
                    let value = try value.get()
                    if let found, found.value != value {
                        throw Obstacle(
                            reason:
                                "its default is \(value.quoted) there and \(found.value.quoted) at \(found.place)"
                        )
                    }
                    found = found ?? Edit(tweak: tweak, place: here, value: value)
                }
            }
            guard let found else { return nil }
            here = found.place
            try check(found.value, of: tweak)
            return .edit(found)
        } catch {
            return .staying(StayingTweak(tweak: tweak.key, place: here, reason: error.reason))
        }
    }

    private func check(_ value: TweakValue, of tweak: TweakDeclaration) throws(Obstacle) {
        let admission: TweakDeclaration.Admission
        do throws(TweakValueError) { admission = try tweak.admit(value) } catch {
            throw Obstacle(error)
        }
        guard !admission.wasClamped else {
            throw Obstacle(reason: outsideLimits(value.quoted, allowed: tweak.allowed))
        }
    }
}

extension SourceFile {
    /// The defaults of a tweak, with their lines.
    ///
    /// - Parameters:
    ///   - named: The declarations with its name.
    ///   - line: The line in the record, and its file as the record names it.
    ///   - known: The positions of the declarations when the file was read before.
    /// - Returns: Also the positions, which stay the same as long as the number of declarations does.
    fileprivate func defaults(
        of tweak: TweakDeclaration, in named: [SourceDeclaration], atLine line: Int, of file: String,
        known: (own: [Int], count: Int)?
    ) throws(Obstacle) -> (
        [(value: Result<TweakValue, Obstacle>, line: Int)], positions: (own: [Int], count: Int)
    ) {
        let place = SourcePlace(file: file, line: line)
        let named = try compiled(named)
        guard !named.isEmpty else { throw absence(of: tweak.key, at: place, named) }
        var there = named.indices.filter { named[$0].place.isSame(as: place) }
        if there.isEmpty {
            there = named.indices.filter { named[$0].outerPlaces.contains { $0.isSame(as: place) } }
        }
        let positions = known ?? (there.isEmpty ? Array(named.indices) : there, named.count)
        let own = positions.count == named.count ? positions.own : Array(named.indices)
        let defaults = own.map { position in
            let declaration = named[position]
            let value = Result { () throws(Obstacle) in
                let written = try self.written(declaration, tweak)
                if let value = written.value(tweak) { return value }
                let literal = String(decoding: bytes[written.range], as: UTF8.self)
                throw Obstacle(reason: "its default \(literal) is not \(tweak.type.withArticle)")
            }
            return (value, declaration.place.line)
        }
        return (defaults, positions)
    }

    /// Whether each bracket of a Swift file is closed. In C those of the branches of an `#if` may not be.
    fileprivate var hasClosedBrackets: Bool {
        guard language == .swift else { return true }
        var (parentheses, brackets, braces) = (0, 0, 0)
        for index in tokens.indices where tokens[index].kind == .punctuation {
            switch tokens[index].spelling.first ?? 0 {
            case "(": parentheses += 1
            case ")": parentheses -= 1
            case "[": brackets += 1
            case "]": brackets -= 1
            case "{": braces += 1
            case "}": braces -= 1
            default: break
            }
        }
        return parentheses == 0 && brackets == 0 && braces == 0
    }
}
