package import TweakJSON
public import TweakRecords

/// The content of an overrides file: values by category, collection and name.
///
///     { "Spring": { "Physics": { "Stiffness": 240 } } }
///
/// Whatever else the file holds is kept as it is.
public struct OverridesDocument: Hashable, Sendable {
    var root: JSONObject

    /// Makes a document without overrides.
    public init() { root = [:] }

    /// Reads a document.
    ///
    /// - Throws: ``OverridesError/corrupt(path:reason:)`` if the bytes are no JSON object.
    package init(json bytes: [UInt8], path: String) throws(OverridesError) {
        root = try Self.object(json: bytes, path: path)
    }

    /// Reads the object that a file or a text holds.
    static func object(json bytes: [UInt8], path: String) throws(OverridesError) -> JSONObject {
        guard !bytes.isEmpty else { throw .corrupt(path: path, reason: "it is empty") }
        let value: JSONValue
        do throws(JSONError) {
            // A person may have written a name twice; what is left of the file counts.
            value = try JSONParser.value(of: bytes, repeatedNames: .lastCounts)
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

    static func json(_ object: JSONObject) -> [UInt8] {
        JSONValue.object(object).json(isPretty: true) + [UInt8(ascii: "\n")]
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

    /// Every key that the document holds something for, in no particular order.
    package var keys: [TweakKey] {
        var keys: [TweakKey] = []
        forEach { key, _ in keys.append(key) }
        return keys
    }

    /// What the document holds, by key.
    package var values: [TweakKey: JSONValue] {
        var values: [TweakKey: JSONValue] = [:]
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
