// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
package import TweakJSON
public import TweakRecords
internal import TweakSystem

/// The file that keeps an application's overrides.
///
/// It is replaced atomically, so a reader sees the state before or after a write; only a file on which
/// another one is mounted is changed in place. A lock on a file beside it serialises writers.
public struct OverridesFile: Hashable, Sendable {
    /// The path: `$XDG_CONFIG_HOME/tweaks/<application>/overrides.json` unless another one was given.
    public let path: String

    /// The directory of everything that is kept for the application.
    package var directory: String { containingFolder(of: path) }

    private var file: KeptFile { KeptFile(path: path) }

    /// Creates a reference to a file, which need not exist.
    public init(path: String) { self.path = path }

    /// Creates a reference to the file of an application, which by default is named like its executable.
    ///
    /// - Throws: ``OverridesError/noDirectory(reason:)`` if there is no directory for settings.
    public init(application: String) throws(OverridesError) {
        self.path = try "\(Self.configurationDirectory())/tweaks/\(application)/overrides.json"
    }

    /// The base directory of the XDG Base Directory Specification, which requires to ignore relative paths.
    private static func configurationDirectory() throws(OverridesError) -> String {
        if let path = getenv("XDG_CONFIG_HOME"), path.pointee == CChar(UInt8(ascii: "/")) {
            return String(cString: path)
        }
        if let path = getenv("HOME"), path.pointee == CChar(UInt8(ascii: "/")) {
            return String(cString: path) + "/.config"
        }
        throw .noDirectory(reason: "neither XDG_CONFIG_HOME nor HOME is set to an absolute path")
    }

    /// Reads the file; `nil` if it does not exist.
    package func read() throws(OverridesError) -> [UInt8]? { try file.read() }

    /// The reason why this process cannot read and replace the file, or `nil`.
    package var obstacleToUpdates: String? { file.obstacle }

    /// Reads the overrides. A file that does not exist holds none.
    ///
    /// - Throws: ``OverridesError``.
    public func load() throws(OverridesError) -> OverridesDocument {
        try OverridesDocument(content: read(), path: path)
    }

    /// Reads the overrides. A corrupt file is renamed, so that it is neither used nor lost.
    ///
    /// - Returns: The overrides, empty if the file was corrupt; then also the problem and the file's new
    ///   name.
    /// - Throws: ``OverridesError`` if the file could not be read.
    public func loadSettingAside() throws(OverridesError) -> (document: OverridesDocument, problem: String?) {
        file.removeRemains()
        do throws(OverridesError) {
            return (try load(), nil)
        } catch .corrupt(let path, let reason) {
            do throws(OverridesError) {
                return try file.withLock { () throws(OverridesError) in
                    do throws(OverridesError) {
                        return (try load(), nil)
                    } catch .corrupt(let path, let reason) {
                        let aside = try file.moveAside()
                        return (
                            OverridesDocument(),
                            "\(OverridesWarning.replaced(path: path, reason: reason, keptAs: aside))"
                        )
                    }
                }
            } catch {
                return (OverridesDocument(), "\(path): \(reason); it stays there: \(error)")
            }
        }
    }

    /// Reads the overrides and the bytes that they are in, at the start of a process that will change them.
    ///
    /// - Throws: ``OverridesError``; a corrupt file stays.
    package func loadAtStart() throws(OverridesError) -> (document: OverridesDocument, content: [UInt8]?) {
        file.removeRemains()
        func load() throws(OverridesError) -> (document: OverridesDocument, content: [UInt8]?) {
            let content = try read()
            return (try OverridesDocument(content: content, path: path), content)
        }
        do throws(OverridesError) { return try load() } catch .corrupt(let path, let reason) {
            // Somebody may be writing it in place.
            do throws(OverridesError) { return try file.withLock(load) } catch {
                throw .corrupt(path: path, reason: reason)
            }
        }
    }

    /// Changes the given overrides, and leaves all others in the file as they are.
    ///
    /// When this returns, the change is on disk. Nothing is written if nothing changes.
    ///
    /// - Parameter changes: The new values; `nil` removes an override.
    /// - Returns: A problem that did not prevent the change: the file system has no locks. `nil` if there is
    ///   none.
    /// - Throws: ``OverridesError``, also if the file is corrupt; then it is unchanged.
    @discardableResult
    public func update(_ changes: [TweakKey: TweakValue?]) throws(OverridesError) -> String? {
        try update(changes, ifCorrupt: .refuse).warnings.first.map { "\($0)" }
    }

    /// The writer's reaction to a corrupt file.
    package enum Corruption {
        /// It throws, because it does not know what the file should contain.
        case refuse
        /// It keeps the file under another name, and writes what the file had when it was last read or
        /// written, and the changes.
        case replace(known: [UInt8]?)
    }

    /// Changes the given overrides, and leaves all others as they are.
    ///
    /// - Returns: The content of the file afterwards, and problems that did not prevent the change.
    /// - Throws: ``OverridesError``; then the file is unchanged.
    package func update(
        _ changes: [TweakKey: TweakValue?], ifCorrupt corruption: Corruption
    ) throws(OverridesError) -> (content: [UInt8]?, warnings: [OverridesWarning]) {
        try update(ifCorrupt: corruption) { _ in changes }
    }

    /// Applies the changes that a closure returns for the overrides in the file, which no other process
    /// changes during the call.
    package func update(
        ifCorrupt corruption: Corruption, _ changes: (OverridesDocument) -> [TweakKey: TweakValue?]
    ) throws(OverridesError) -> (content: [UInt8]?, warnings: [OverridesWarning]) {
        try file.makeDirectories()
        var warnings: [OverridesWarning] = []
        let content = try file.withLock(unlocked: { warnings.append($0) }) {
            () throws(OverridesError) -> [UInt8]? in
            let problem: (path: String, reason: String)
            do throws(OverridesError) {
                let content = try read()
                let before = try OverridesDocument(content: content, path: path)
                let after = before.applying(changes(before))
                guard after != before else { return content }
                let bytes = try OverridesDocument.readable(after.json(), path)
                try file.replace(with: bytes)
                return bytes
            } catch .corrupt(let path, let reason) {
                problem = (path, reason)
            }
            guard case .replace(let known) = corruption else {
                throw .corrupt(path: problem.path, reason: problem.reason)
            }
            let before = (try? OverridesDocument(content: known, path: path)) ?? OverridesDocument()
            let bytes = try OverridesDocument.readable(before.applying(changes(before)).json(), path)
            let aside = try file.replaceBroken(with: bytes)
            warnings.append(.replaced(path: problem.path, reason: problem.reason, keptAs: aside))
            return bytes
        }
        return (content, warnings)
    }

    /// Notes which overrides have become defaults in the sources, so that the program drops them at the first
    /// start of a build with these defaults. Overrides that have another value are left alone.
    ///
    /// - Parameter baked: The declarations, and the values in the sources.
    /// - Throws: ``OverridesError``; then the file is unchanged.
    package func noteBaked(
        _ baked: [(tweak: TweakDeclaration, value: TweakValue)]
    ) throws(OverridesError) {
        guard try read() != nil else { return }
        try file.withLock { () throws(OverridesError) in
            let before = try load()
            var after = before
            for (tweak, value) in baked {
                guard let admission = try? before.admission(for: tweak), admission.value == value else {
                    continue
                }
                after.noteBaked(tweak.key)
            }
            if after != before { try file.replace(with: OverridesDocument.readable(after.json(), path)) }
        }
    }
}

/// The name under which a program's overrides and presets are kept, and people know it.
///
/// By default it is the last component of the executable's path. That is wrong for interpreters: all Python
/// programs would share their overrides. So a program can declare its name, in a note in its binary, and a
/// person can set `TWEAKS_APPLICATION` in its environment.
package enum ApplicationName {
    package static let variable = "TWEAKS_APPLICATION"

    /// The first valid name: from the environment, the images, or the executable.
    ///
    /// - Parameters:
    ///   - declared: The names declared in the program's images, in load order.
    ///   - problem: Called for invalid names.
    package static func first(
        environment: String?, declared: [String], executable: String, problem: (String) -> Void
    ) -> String {
        func accepts(_ name: String, from origin: String) -> Bool {
            if isUsable(name) { return true }
            problem(
                "\(origin), \"\(name)\", is not a name: it has 1 to 200 bytes, no slash, and is not . or ..")
            return false
        }
        if let environment, accepts(environment, from: variable) { return environment }
        for name in declared where accepts(name, from: "the application that is declared") { return name }
        return lastComponent(of: executable)
    }

    /// Returns whether a name can be that of a directory.
    package static func isUsable(_ name: String) -> Bool {
        1...200 ~= name.utf8.count && name != "." && name != ".." && !name.utf8.contains(UInt8(ascii: "/"))
            && !name.utf8.contains(0)
    }
}

/// An error in reading or writing overrides.
public enum OverridesError: Error, Hashable {
    /// There is no directory for settings: neither `XDG_CONFIG_HOME` nor `HOME` is an absolute path, or the
    /// process runs with more rights than its user.
    case noDirectory(reason: String)
    /// The file does not contain overrides.
    case corrupt(path: String, reason: String)
    /// A file or directory could not be read, created, locked or written.
    case system(action: String, path: String, reason: String)
}

extension OverridesError: CustomStringConvertible {
    /// The operation, the path, and the reason.
    public var description: String {
        switch self {
        case .noDirectory(let reason): "overrides cannot be kept: \(reason)"
        case .corrupt(let path, let reason): "\(path): \(reason)"
        case .system(let action, let path, let reason): "cannot \(action) \(path): \(reason)"
        }
    }
}

/// A problem with the overrides file that did not prevent a change.
package enum OverridesWarning: Hashable, Sendable {
    /// The file was corrupt. It has been replaced, and has another name.
    case replaced(path: String, reason: String, keptAs: String)
    /// The file system has no locks.
    case unlocked(path: String, reason: String)
}

extension OverridesWarning: CustomStringConvertible {
    package var description: String {
        switch self {
        case .replaced(let path, let reason, let aside): "\(path): \(reason); it is now \(aside)"
        case .unlocked(let path, let reason):
            "cannot lock \(path): \(reason); of changes that several processes make at the same moment, one may be lost"
        }
    }
}

extension OverridesError: JSONPlaceError {
    package init(path: String, place: [String], reason: String) {
        self = .corrupt(path: path, reason: (place + [reason]).joined(separator: ": "))
    }
}

/// The content of an overrides file: values by category, collection and name.
///
///     { "Spring": { "Physics": { "Stiffness": 240 } } }
///
/// Unknown parts of the file are kept unchanged.
public struct OverridesDocument: Hashable, Sendable {
    package internal(set) var root: JSONObject
    /// The values that were baked, by the texts of the tweaks' names. In the file they are the members of the
    /// category `baked` that are not objects, and so cannot be collections; versions without support for them
    /// keep them.
    private var baked: JSONObject = [:]
    private static let bakedName = ByteText("baked")

    /// Creates a document without overrides.
    public init() { root = [:] }

    /// Reads a document.
    ///
    /// - Throws: ``OverridesError/corrupt(path:reason:)`` if the bytes are not a JSON object.
    package init(json bytes: [UInt8], path: String) throws(OverridesError) {
        root = try Self.object(json: bytes, path: path)
        guard case .object(let members)? = root[Self.bakedName] else { return }
        baked = members.filter { $0.value.tweakValue != nil }
        guard !baked.isEmpty else { return }
        let collections = members.filter { baked[$0.key] == nil }
        root[Self.bakedName] = collections.isEmpty ? nil : .object(collections)
    }

    /// Reads the document in a file, which is empty if there is no file.
    ///
    /// - Throws: ``OverridesError/corrupt(path:reason:)`` if the bytes are not a JSON object.
    package init(content: [UInt8]?, path: String) throws(OverridesError) {
        if let content { try self.init(json: content, path: path) } else { self.init() }
    }

    /// Parses the object in a file or text.
    static func object(json bytes: [UInt8], path: String) throws(OverridesError) -> JSONObject {
        guard !bytes.isEmpty else { throw .corrupt(path: path, reason: "it is empty") }
        let value: JSONValue
        do throws(JSONError) {
            // A person, or a merge of two versions, may have repeated a category.
            value = try JSONParser.value(of: bytes, repeatedNames: .merged, valueLimit: mostValuesInFile)
        } catch {
            throw .corrupt(path: path, reason: "\(error)")
        }
        guard case .object(let object) = value else {
            throw .corrupt(path: path, reason: "it holds \(value.summary) where an object is expected")
        }
        return object
    }

    /// The document as JSON with sorted keys and a newline at the end.
    package func json() -> [UInt8] {
        guard !baked.isEmpty else { return Self.json(root) }
        var root = root
        var members = root[Self.bakedName]?.members ?? [:]
        for (name, value) in baked where members[name] == nil { members[name] = value }
        root[Self.bakedName] = .object(members)
        return Self.json(root)
    }

    /// The document as one line of JSON, for an environment variable.
    package var line: String { String(decoding: JSONValue.object(root).json(isPretty: false), as: UTF8.self) }

    static func json(_ object: JSONObject) -> [UInt8] {
        JSONValue.object(object).json(isPretty: true) + [UInt8(ascii: "\n")]
    }

    /// Throws unless this JSON could be read again; otherwise its content would be lost.
    ///
    /// - Returns: The JSON.
    /// - Throws: ``OverridesError/system(action:path:reason:)``.
    package static func readable(_ json: [UInt8], _ path: String) throws(OverridesError) -> [UInt8] {
        guard json.count <= KeptFile.largestSize else {
            throw .system(
                action: "write", path: path,
                reason: "it would have \(json.count) bytes, at most \(KeptFile.largestSize) are read")
        }
        // A value takes at least a digit and a comma.
        guard json.count > 2 * mostValuesInFile else { return json }
        do throws(JSONError) { _ = try JSONParser.value(of: json, valueLimit: mostValuesInFile) } catch {
            throw .system(action: "write", path: path, reason: "afterwards \(error)")
        }
        return json
    }

    /// Whether the document is empty.
    public var isEmpty: Bool { root.isEmpty }

    /// Returns the document's value for a tweak, checked against the tweak's declaration.
    ///
    /// - Returns: `nil` if there is no value.
    /// - Throws: `TweakValueError` if the tweak refuses the value.
    public func admission(
        for tweak: TweakDeclaration
    ) throws(TweakValueError) -> TweakDeclaration.Admission? {
        guard let entry = self[tweak.key] else { return nil }
        return try tweak.admit(entry)
    }

    /// Sets or, with `nil`, removes the override of a tweak. Levels that become empty are removed.
    public mutating func set(_ value: TweakValue?, for key: TweakKey) {
        self[key] = value.map(JSONValue.scalar)
    }

    /// The document after some changes; `nil` removes an override.
    fileprivate func applying(_ changes: [TweakKey: TweakValue?]) -> OverridesDocument {
        var document = self
        for (key, value) in changes { document.set(value, for: key) }
        return document
    }

    /// Checks that categories and collections are objects, for documents that people write.
    ///
    /// - Parameters:
    ///   - path: The path for error messages.
    ///   - before: A document whose categories are accepted as they are.
    /// - Throws: ``OverridesError/corrupt(path:reason:)``.
    package func checkNesting(
        _ path: String, before: OverridesDocument = OverridesDocument()
    ) throws(OverridesError) {
        for (category, collections) in root where collections != before.root[category] {
            guard case .object(let collections) = collections else {
                throw .corrupt(
                    path: path,
                    reason:
                        "the category \"\(category.text)\" is \(collections.summary), but an object is expected"
                )
            }
            for (collection, names) in collections {
                if case .object = names { continue }
                throw .corrupt(
                    path: path,
                    reason:
                        "the collection \"\(category.text)/\(collection.text)\" is \(names.summary), but an object is "
                        + "expected")
            }
        }
    }

    /// Returns the value for a name, whether or not a tweak accepts the value; `nil` if there is none, or no
    /// tweak could accept it.
    public func value(of key: TweakKey) -> TweakValue? { self[key]?.tweakValue }

    /// The keys of all values, in no particular order.
    public var keys: [TweakKey] {
        var keys: [TweakKey] = []
        forEach { key, _ in keys.append(key) }
        return keys
    }

    /// The values, by key.
    package var values: [TweakKey: JSONValue] {
        var values: [TweakKey: JSONValue] = [:]
        values.reserveCapacity(count)
        forEach { values[$0] = $1 }
        return values
    }

    /// The tweaks whose overrides are the values that were baked, without those whose override has changed
    /// since.
    package var bakedKeys: [TweakKey] {
        baked.compactMap { name, value in
            TweakKey(name.text).flatMap { self[$0] == value ? $0 : nil }
        }
    }

    /// Notes that the override of a tweak was baked. The note goes when the override changes.
    package mutating func noteBaked(_ key: TweakKey) { baked[key.description] = self[key] }

    /// The number of values.
    package var count: Int {
        root.values.lazy.flatMap { $0.members.values }.reduce(0) { $0 + $1.members.count }
    }

    /// Calls `body` with every key and its value.
    package func forEach(_ body: (TweakKey, JSONValue) -> Void) {
        for (category, collections) in root {
            for (collection, names) in collections.members {
                for (name, value) in names.members {
                    body(TweakKey(category.text, collection.text, name.text), value)
                }
            }
        }
    }

    package subscript(key: TweakKey) -> JSONValue? {
        get {
            root[ByteText(key.category)]?.members[ByteText(key.collection)]?.members[ByteText(key.name)]
        }
        set {
            if !baked.isEmpty, newValue != self[key] { baked[key.description] = nil }
            guard newValue != nil || self[key] != nil else { return }
            // Removed first, so that they are changed in place and not copied.
            var collections = root.removeValue(forKey: ByteText(key.category))?.members ?? [:]
            var names = collections.removeValue(forKey: ByteText(key.collection))?.members ?? [:]
            names[key.name] = newValue
            collections[key.collection] = names.isEmpty ? nil : .object(names)
            root[key.category] = collections.isEmpty ? nil : .object(collections)
        }
    }
}

extension JSONValue {
    fileprivate var members: JSONObject {
        if case .object(let members) = self { members } else { [:] }
    }
}
