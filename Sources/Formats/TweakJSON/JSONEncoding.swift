// SPDX-License-Identifier: BSD-3-Clause
// Embedded Swift has no Codable.
#if !hasFeature(Embedded)
internal import TweakRecords

/// Encodes a value as JSON with sorted names.
///
/// Foundation's encoder keeps the members of an object in a dictionary, in which two names of the same letters,
/// composed and decomposed, are one.
///
/// - Parameter isPretty: Whether to format it for people, with lines and indentation.
/// - Throws: Errors of the value's `encode(to:)`.
package func encodeJSON(_ value: some Encodable, isPretty: Bool = false) throws -> [UInt8] {
    let encoded = try Encoded(value)
    return writtenJSON(isPretty: isPretty) { $0.write(encoded) }
}

/// Types that are written as JSON can be parts of types that are encoded.
extension Encodable where Self: JSONWritable {
    /// Passes the value on as it is. Members may be added, as to every object. Only works with
    /// ``encodeJSON(_:isPretty:)``.
    package func encode(to encoder: any Encoder) throws {
        guard let encoder = encoder as? ValueEncoder else {
            throw EncodingError.invalidValue(
                self, EncodingError.Context(codingPath: encoder.codingPath, debugDescription: "it is JSON"))
        }
        try encoder.take(.written(write))
    }
}

extension JSONValue: Encodable {}

/// A value that is passed on whole, such as a list of thousands, whose elements are otherwise encoded one by one.
package struct JSONWritten<Value: JSONWritable>: JSONWritable, Encodable {
    private let value: Value

    package init(_ value: Value) { self.value = value }

    package func write(to writer: inout JSONWriter) { value.write(to: &writer) }
}

/// A value on its way into the writer.
private enum Encoded {
    case value(JSONValue)
    case written((inout JSONWriter) -> Void)
    case array([Encoded])
    case object([ByteText: Encoded])

    init<Value: Encodable>(_ value: Value) throws {
        let encoder = ValueEncoder()
        try value.encode(to: encoder)
        self = try encoder.value()
    }

    /// The members, to which others are added.
    fileprivate func members() throws -> [ByteText: Encoded] {
        if case .object(let members) = self { return members }
        guard case .object(let members) = try JSONParser.value(of: writtenJSON { $0.write(self) }) else {
            throw EncodingError.invalidValue(
                self, EncodingError.Context(codingPath: [], debugDescription: "only objects have members"))
        }
        return members.mapValues(Encoded.value)
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ value: Encoded) {
        switch value {
        case .value(let value): write(value)
        case .written(let write): write(&self)
        case .array(let elements): array(count: elements.count) { $0.write(elements[$1]) }
        case .object(let members): write(members) { $0.write($1) }
        }
    }
}

private final class ValueEncoder: Encoder {
    /// The encoded parts: a single value, elements, or members. Members join a single value that is an object.
    private var single: Encoded?
    fileprivate var elements: [Encoded]?
    fileprivate var members: [ByteText: Encoded] = [:]
    /// The encoders of nested containers, which are filled later.
    fileprivate var nestedElements: [(index: Int, encoder: ValueEncoder)] = []
    fileprivate var nestedMembers: [(name: ByteText, encoder: ValueEncoder)] = []

    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    /// Takes a single value, or several objects, whose members become those of one.
    func take(_ encoded: Encoded) throws {
        if let single { members.merge(try single.members()) { $1 } }
        single = encoded
    }

    /// The value, after the last part of it.
    ///
    /// - Throws: If members were added to something else than an object.
    func value() throws -> Encoded {
        for (index, encoder) in nestedElements { elements?[index] = try encoder.value() }
        for (name, encoder) in nestedMembers { members[name] = try encoder.value() }
        guard let whole = single ?? elements.map(Encoded.array) else { return .object(members) }
        return members.isEmpty ? whole : .object(try whole.members().merging(members) { $1 })
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        KeyedEncodingContainer(Members(encoder: self))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if elements == nil { elements = [] }
        return Elements(encoder: self)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { self }
}

extension ValueEncoder: SingleValueEncodingContainer {
    func encodeNil() throws { try take(.value(.null)) }
    func encode(_ value: Bool) throws { try take(.value(.scalar(.bool(value)))) }
    func encode(_ value: String) throws { try take(.value(.scalar(.string(value)))) }
    /// A Float has fewer digits than a Double.
    func encode(_ value: Float) throws { try encode(Double("\(value)") ?? Double(value)) }
    func encode(_ value: some BinaryInteger & Encodable) throws {
        // Swift has no larger encodable integers with a method of their own.
        try take(.value(.scalar(.integer(Int128(clamping: value)))))
    }
    func encode(_ value: Double) throws {
        guard value.isFinite else {
            throw EncodingError.invalidValue(
                value, EncodingError.Context(codingPath: [], debugDescription: "JSON has no \(value)"))
        }
        try take(.value(.scalar(.double(value))))
    }
    func encode<Value: Encodable>(_ value: Value) throws { try take(Encoded(value)) }
}

private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let encoder: ValueEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil(forKey key: Key) { encoder.members[ByteText(key.stringValue)] = .value(.null) }

    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws {
        encoder.members[ByteText(key.stringValue)] = try Encoded(value)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> { nested(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        nested(key).unkeyedContainer()
    }

    func superEncoder() -> any Encoder { nested(JSONName(stringValue: "super")) }
    func superEncoder(forKey key: Key) -> any Encoder { nested(key) }

    private func nested(_ key: some CodingKey) -> ValueEncoder {
        let nested = ValueEncoder()
        encoder.nestedMembers.append((ByteText(key.stringValue), nested))
        return nested
    }
}

private struct Elements: UnkeyedEncodingContainer {
    let encoder: ValueEncoder
    var codingPath: [any CodingKey] { [] }
    var count: Int { encoder.elements?.count ?? 0 }

    func encodeNil() { encoder.elements?.append(.value(.null)) }

    func encode<Value: Encodable>(_ value: Value) throws {
        encoder.elements?.append(try Encoded(value))
    }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        nested().container(keyedBy: type)
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer { nested().unkeyedContainer() }
    func superEncoder() -> any Encoder { nested() }

    private func nested() -> ValueEncoder {
        let nested = ValueEncoder()
        // Elements are only appended, so the index stays valid.
        encoder.nestedElements.append((count, nested))
        encodeNil()
        return nested
    }
}
#endif
