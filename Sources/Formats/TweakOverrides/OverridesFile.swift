internal import Glibc
package import TweakJSON
public import TweakRecords
package import TweakSystem

/// The file that keeps an application's overrides.
///
/// It is replaced as a whole and never changed in place, so a reader sees the state before or after a write. Writers
/// take turns by a lock on a file beside it.
public struct OverridesFile: Hashable, Sendable {
    /// Where it is: `$XDG_CONFIG_HOME/tweaks/<application>/overrides.json` unless it was made with another path.
    public let path: String

    /// The directory that it is in, with what else is kept of the application.
    package var directory: String { containingFolder(of: path) }

    private var file: KeptFile { KeptFile(path: path) }

    /// Names a file.
    public init(path: String) { self.path = path }

    /// The file of an application, which is the last component of its executable's path.
    ///
    /// - Throws: ``OverridesError/noDirectory(reason:)``.
    public init(application: String) throws(OverridesError) {
        self.path = try "\(Self.configurationDirectory())/tweaks/\(application)/overrides.json"
    }

    /// The base directory of the XDG Base Directory Specification, which says to ignore relative paths.
    private static func configurationDirectory() throws(OverridesError) -> String {
        if let path = getenv("XDG_CONFIG_HOME"), path.pointee == CChar(UInt8(ascii: "/")) {
            return String(cString: path)
        }
        if let path = getenv("HOME"), path.pointee == CChar(UInt8(ascii: "/")) {
            return String(cString: path) + "/.config"
        }
        throw .noDirectory(reason: "neither XDG_CONFIG_HOME nor HOME is set to an absolute path")
    }

    /// The content; `nil` if there is no file.
    package func read() throws(OverridesError) -> [UInt8]? { try file.read() }

    /// Why this process cannot read and replace the file; `nil` if it can.
    package var obstacleToUpdates: String? { file.obstacle }

    /// Reads the overrides. A file that does not exist holds none.
    ///
    /// - Throws: ``OverridesError``.
    public func load() throws(OverridesError) -> OverridesDocument {
        guard let bytes = try read() else { return OverridesDocument() }
        return try OverridesDocument(json: bytes, path: path)
    }

    /// Reads the overrides and renames a corrupt file, so that it is neither used nor lost.
    ///
    /// - Returns: The overrides, none if the file was corrupt, and in that case what was wrong and where it is now.
    /// - Throws: ``OverridesError`` if the file could not be read.
    public func loadSettingAside() throws(OverridesError) -> (document: OverridesDocument, problem: String?) {
        file.removeRemains()
        do throws(OverridesError) {
            return (try load(), nil)
        } catch .corrupt(let path, let reason) {
            do throws(OverridesError) {
                return try file.withLock { () throws(OverridesError) in try loadOrSetAside() }
            } catch {
                return (OverridesDocument(), "\(path): \(reason); it stays there: \(error)")
            }
        }
    }

    /// Changes the given overrides and leaves all others as they are in the file at this moment.
    ///
    /// When this returns the change is on disk. Nothing is written if nothing changes.
    ///
    /// - Parameter changes: The new values; `nil` removes an override.
    /// - Returns: What was wrong with the file that was there, if it was corrupt and had to be renamed.
    /// - Throws: ``OverridesError``; the file is as it was before.
    @discardableResult
    public func update(_ changes: [TweakKey: TweakValue?]) throws(OverridesError) -> String? {
        try file.makeDirectories()
        return try file.withLock { () throws(OverridesError) in
            let (before, problem) = try loadOrSetAside()
            var after = before
            for (key, value) in changes { after.set(value, for: key) }
            if after != before { try file.replace(with: OverridesDocument.readable(after.json(), path)) }
            return problem
        }
    }

    /// Call with the lock held.
    private func loadOrSetAside() throws(OverridesError) -> (document: OverridesDocument, problem: String?) {
        do throws(OverridesError) {
            return (try load(), nil)
        } catch .corrupt(let path, let reason) {
            let aside = try setAside()
            return (OverridesDocument(), "\(path): \(reason); it is now \(aside)")
        }
    }

    private func setAside() throws(OverridesError) -> String {
        for number in 1...1000 {
            let aside = "\(path).broken" + (number == 1 ? "" : "-\(number)")
            guard access(aside, F_OK) != 0 else { continue }
            guard rename(path, aside) == 0 else { throw file.failure("rename") }
            return aside
        }
        throw .system(action: "rename", path: path, reason: "there are 1000 broken files beside it")
    }
}

/// By what overrides and presets of a program are kept, and people know it.
///
/// As a rule it is the last component of the executable's path. That is wrong for a host: all programs in Python would
/// share what is kept. So a program can say what it is called, in a declaration that is a note in its binary, and a
/// person with `TWEAKS_APPLICATION` in its environment.
package enum ApplicationName {
    package static let variable = "TWEAKS_APPLICATION"

    /// The name of the first of these that has one: the environment, what images declare, the executable.
    ///
    /// - Parameters:
    ///   - declared: What images of the program declare, in the order in which they are loaded.
    ///   - problem: Is told of names that cannot be used.
    package static func first(
        environment: String?, declared: [String], executable: String, problem: (String) -> Void
    ) -> String {
        let names =
            (environment.map { [(variable, $0)] } ?? [])
            + declared.map { ("the application that is declared", $0) }
        for (origin, name) in names {
            if isUsable(name) { return name }
            problem(
                "\(origin), \"\(name)\", is not a name: it has 1 to 200 bytes, no slash, and is not . or ..")
        }
        return lastComponent(of: executable)
    }

    /// Whether it can be the name of a directory.
    package static func isUsable(_ name: String) -> Bool {
        1...200 ~= name.utf8.count && name != "." && name != ".." && !name.utf8.contains(UInt8(ascii: "/"))
            && !name.utf8.contains(0)
    }
}

/// Why overrides could not be read or written.
public enum OverridesError: Error, Hashable {
    /// No directory for settings is known: neither `XDG_CONFIG_HOME` nor `HOME` is an absolute path, or the
    /// process runs with more rights than its user.
    case noDirectory(reason: String)
    /// The file holds something else than overrides.
    case corrupt(path: String, reason: String)
    /// A file or directory could not be read, made, locked or written.
    case system(action: String, path: String, reason: String)
}

extension OverridesError: CustomStringConvertible {
    /// What failed, where, and why.
    public var description: String {
        switch self {
        case .noDirectory(let reason): "overrides cannot be kept: \(reason)"
        case .corrupt(let path, let reason): "\(path): \(reason)"
        case .system(let action, let path, let reason): "cannot \(action) \(path): \(reason)"
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
/// Whatever else the file holds is kept as it is.
public struct OverridesDocument: Hashable, Sendable {
    package internal(set) var root: JSONObject

    /// Makes a document without overrides.
    public init() { root = [:] }

    /// Reads a document.
    ///
    /// - Throws: ``OverridesError/corrupt(path:reason:)`` if the bytes are not a JSON object.
    package init(json bytes: [UInt8], path: String) throws(OverridesError) {
        root = try Self.object(json: bytes, path: path)
    }

    /// Reads the object that a file or a text holds.
    static func object(json bytes: [UInt8], path: String) throws(OverridesError) -> JSONObject {
        guard !bytes.isEmpty else { throw .corrupt(path: path, reason: "it is empty") }
        let value: JSONValue
        do throws(JSONError) {
            // A person may have written a name twice; what is left of the file counts.
            value = try JSONParser.value(
                of: bytes, repeatedNames: .lastCounts, valueLimit: mostValuesInFile)
        } catch {
            throw .corrupt(path: path, reason: "\(error)")
        }
        guard case .object(let object) = value else {
            throw .corrupt(path: path, reason: "it holds \(value.summary) where an object is expected")
        }
        return object
    }

    /// The document as JSON with sorted keys and a newline at the end.
    package func json() -> [UInt8] { Self.json(root) }

    /// The document as one line of JSON, as a variable of the environment holds it.
    package var line: String { String(decoding: JSONValue.object(root).json(isPretty: false), as: UTF8.self) }

    static func json(_ object: JSONObject) -> [UInt8] {
        JSONValue.object(object).json(isPretty: true) + [UInt8(ascii: "\n")]
    }

    /// Expects that a file with this JSON would be read again: otherwise what is in it would be lost.
    ///
    /// - Returns: The JSON.
    /// - Throws: ``OverridesError/system(action:path:reason:)``.
    package static func readable(_ json: [UInt8], _ path: String) throws(OverridesError) -> [UInt8] {
        guard json.count <= KeptFile.largestSize else {
            throw .system(
                action: "write", path: path,
                reason: "it would have \(json.count) bytes, at most \(KeptFile.largestSize) are read")
        }
        // A value is at least a digit and a comma.
        guard json.count > 2 * mostValuesInFile else { return json }
        do throws(JSONError) { _ = try JSONParser.value(of: json, valueLimit: mostValuesInFile) } catch {
            throw .system(action: "write", path: path, reason: "afterwards \(error)")
        }
        return json
    }

    /// Whether there is nothing in it.
    public var isEmpty: Bool { root.isEmpty }

    /// What the document holds for a tweak, checked against its declaration.
    ///
    /// - Returns: `nil` if it holds nothing.
    /// - Throws: `TweakValueError` if the tweak cannot take it.
    public func admission(
        for tweak: TweakDeclaration
    ) throws(TweakValueError) -> TweakDeclaration.Admission? {
        guard let entry = self[tweak.key] else { return nil }
        return try tweak.admit(entry)
    }

    /// Sets or, with `nil`, removes the override of a tweak. Levels that become empty go with it.
    public mutating func set(_ value: TweakValue?, for key: TweakKey) {
        self[key] = value.map(JSONValue.scalar)
    }

    /// Checks that categories and collections are objects, as in what a person wrote for this very purpose.
    ///
    /// - Parameters:
    ///   - path: Where it is from, for the message of an error.
    ///   - before: A document from which the categories need not differ, whatever they are.
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

    /// What the document holds for a name, whether or not a tweak takes it; `nil` for nothing, and for what is none of a tweak's
    /// values.
    public func value(of key: TweakKey) -> TweakValue? { self[key]?.tweakValue }

    /// Every key that the document holds something for, in no particular order.
    public var keys: [TweakKey] {
        var keys: [TweakKey] = []
        forEach { key, _ in keys.append(key) }
        return keys
    }

    /// What the document holds, by key.
    package var values: [TweakKey: JSONValue] {
        var values: [TweakKey: JSONValue] = [:]
        values.reserveCapacity(count)
        forEach { values[$0] = $1 }
        return values
    }

    /// How many keys it holds something for.
    package var count: Int {
        root.values.lazy.flatMap(\.members.values).reduce(0) { $0 + $1.members.count }
    }

    /// Calls `body` with every key and what the document holds for it.
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
            guard newValue != nil || self[key] != nil else { return }
            // Taken out, so that they are changed in place and not copied.
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

extension OverridesError: ClassifiedError {
    package var kind: FailureKind { if case .corrupt = self { .invalid } else { .inputOutput } }
}
