// SPDX-License-Identifier: BSD-3-Clause
/// The three-level name of a tweak. Two names are equal if all three levels have the same UTF-8 bytes:
/// composed and decomposed letters differ.
public struct TweakKey: Sendable {
    /// The levels and their hash are one object, because keys are copied and looked up far more often than
    /// created.
    @usableFromInline final class Levels: Sendable {
        @usableFromInline let category, collection, name: String
        let hash: UInt64

        init(_ category: String, _ collection: String, _ name: String) {
            self.category = category
            self.collection = collection
            self.name = name
            hash = TweakKey.hash(of: category, collection, name)
        }
    }

    @usableFromInline let levels: Levels

    /// Creates a key from its levels, which may contain any characters.
    public init(_ category: String, _ collection: String, _ name: String) {
        levels = Levels(category, collection, name)
    }

    /// The first level, such as `Spring`.
    public var category: String {
        @inlinable get { levels.category }
        set { self = TweakKey(newValue, collection, name) }
    }

    /// The second level, such as `Physics`.
    public var collection: String {
        @inlinable get { levels.collection }
        set { self = TweakKey(category, newValue, name) }
    }

    /// The third level, such as `Stiffness`.
    public var name: String {
        @inlinable get { levels.name }
        set { self = TweakKey(category, collection, newValue) }
    }
}

extension TweakKey {
    /// The name of the array that has a tweak of this name, such as `Point[2]`, as an element; `nil` for
    /// other names.
    package var ofArray: TweakKey? {
        var bytes = Array(name.utf8)
        guard bytes.last == UInt8(ascii: "]") else { return nil }
        while let last = bytes.popLast(), last != UInt8(ascii: "[") {}
        return bytes.isEmpty
            ? nil : TweakKey(category, collection, String(decoding: bytes, as: UTF8.self))
    }
}

extension TweakKey: StableHashable {
    /// The hash of a key with these levels.
    package static func hash(of category: String, _ collection: String, _ name: String) -> UInt64 {
        var hasher = StableHasher(seed: 0)
        hasher.combine(category)
        hasher.combine(collection)
        hasher.combine(name)
        return UInt64(bitPattern: Int64(hasher.hash))
    }

    /// The hash of a key with these levels, given as bytes.
    package static func hash(
        of category: UnsafeRawBufferPointer, _ collection: UnsafeRawBufferPointer,
        _ name: UnsafeRawBufferPointer
    ) -> UInt64 {
        var hasher = StableHasher(seed: 0)
        hasher.combine(category)
        hasher.combine(collection)
        hasher.combine(name)
        return UInt64(bitPattern: Int64(hasher.hash))
    }

    /// The hash of the levels.
    package var levelsHash: UInt64 { levels.hash }

    package func combine(into hasher: inout StableHasher) { hasher.combine(levels.hash) }

    /// Called by dictionaries. It does not use `Hasher`, so dictionaries may be filled before `main`. It is
    /// public because it implements a requirement of a public protocol.
    @_documentation(visibility: internal)
    public func _rawHashValue(seed: Int) -> Int {
        var hasher = StableHasher(seed: seed)
        hasher.combine(levels.hash)
        return hasher.hash
    }

    /// Hashes the levels, by feeding one number for all three.
    public func hash(into hasher: inout Hasher) { hasher.combine(levels.hash) }

    /// Compares the bytes of the levels.
    public static func == (left: TweakKey, right: TweakKey) -> Bool {
        left.levels === right.levels
            || left.levels.hash == right.levels.hash
                && right.hasLevels(left.levels.category, left.levels.collection, left.levels.name)
    }

    /// Returns whether the levels have these bytes.
    package func hasLevels(_ category: String, _ collection: String, _ name: String) -> Bool {
        levels.name.hasSameBytes(as: name) && levels.collection.hasSameBytes(as: collection)
            && levels.category.hasSameBytes(as: category)
    }
}

extension TweakKey {
    /// Returns whether the levels have these bytes.
    package func hasLevels(
        _ category: UnsafeRawBufferPointer, _ collection: UnsafeRawBufferPointer,
        _ name: UnsafeRawBufferPointer
    ) -> Bool {
        levels.name.hasBytes(name) && levels.collection.hasBytes(collection)
            && levels.category.hasBytes(category)
    }
}

extension TweakKey: LosslessStringConvertible {
    /// Parses `Category/Collection/Name`, with `%2F` for a slash and `%25` for a percent sign.
    ///
    /// - Returns: `nil` unless there are three levels and every percent sign starts such an escape.
    public init?(_ description: String) {
        // By scalars, because a slash and a following combining mark are one Character.
        let levels = description.unicodeScalars.split(separator: "/", omittingEmptySubsequences: false)
        guard levels.count == 3,
            let category = Self.unescape(levels[0]),
            let collection = Self.unescape(levels[1]),
            let name = Self.unescape(levels[2])
        else { return nil }
        self.init(category, collection, name)
    }

    /// `Category/Collection/Name`, with `/` as `%2F` and `%` as `%25` inside a level.
    public var description: String {
        Self.escape(category) + "/" + Self.escape(collection) + "/" + Self.escape(name)
    }

    /// A level with its slashes and percent signs escaped.
    package static func escape(_ level: String) -> String {
        // Few have any, and a list has thousands of levels.
        guard level.utf8.contains(where: { $0 == UInt8(ascii: "/") || $0 == UInt8(ascii: "%") }) else {
            return level
        }
        var escaped = ""
        for scalar in level.unicodeScalars {
            switch scalar {
            case "%": escaped += "%25"
            case "/": escaped += "%2F"
            default: escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    private static func unescape(_ level: Substring.UnicodeScalarView) -> String? {
        var text = ""
        var rest = level
        while let scalar = rest.popFirst() {
            guard scalar == "%" else {
                text.unicodeScalars.append(scalar)
                continue
            }
            switch (rest.popFirst(), rest.popFirst()) {
            case ("2", "5"): text += "%"
            case ("2", "F"), ("2", "f"): text += "/"
            default: return nil
            }
        }
        return text
    }
}

extension TweakKey {
    /// The beginning of the names of all variables that set one tweak.
    package static var variablePrefix: String { "TWEAK_" }

    /// The name of the environment variable that sets the tweak.
    package var environmentVariable: String {
        Self.variablePrefix + [category, collection, name].map(Self.mangled).joined(separator: "__")
    }

    private static func mangled(_ level: String) -> String {
        level.utf8.split { !isAlphanumeric($0) }
            .map { String(decoding: $0, as: UTF8.self).uppercased() }.joined(separator: "_")
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

extension TweakKey {
    /// The error for a text that is not a name.
    package static func problem(of text: String) -> String {
        "\(text) is not a name of a tweak, which is Category/Collection/Name, with %2F for a slash and %25 for a percent "
            + "sign inside a level"
    }
}

// Embedded Swift has no Codable.
#if !hasFeature(Embedded)
extension TweakKey: Codable {
    /// Decodes `Category/Collection/Name`.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let text = try container.decode(String.self)
        guard let key = TweakKey(text) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: Self.problem(of: text))
        }
        self = key
    }

    /// Encodes `Category/Collection/Name`.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(description)
    }
}
#endif

extension TweakKey: Comparable {
    /// Orders by category, then collection, then name, each by its bytes.
    public static func < (left: TweakKey, right: TweakKey) -> Bool {
        if !left.category.hasSameBytes(as: right.category) {
            return left.category.bytesPrecede(right.category)
        }
        if !left.collection.hasSameBytes(as: right.collection) {
            return left.collection.bytesPrecede(right.collection)
        }
        return left.name.bytesPrecede(right.name)
    }
}
