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
    var writer = JSONWriter(isPretty: isPretty)
    writer.write(try Encoded(value))
    return writer.bytes
}

/// A value that is written by a function. A tree for each element of a list of thousands would take most of the time.
package struct JSONWritten: Encodable {
    private let write: (inout JSONWriter) -> Void

    package init(_ write: @escaping (inout JSONWriter) -> Void) { self.write = write }

    /// Only works with ``encodeJSON(_:isPretty:)``.
    package func encode(to encoder: any Encoder) throws { try encoder.take(.written(write), of: self) }
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
        self = encoder.value
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

extension JSONValue: Encodable {
    /// Passes the value on as it is. Only works with ``encodeJSON(_:isPretty:)``.
    package func encode(to encoder: any Encoder) throws { try encoder.take(.value(self), of: self) }
}

extension Encoder {
    fileprivate func take(_ encoded: Encoded, of value: some Encodable) throws {
        guard let encoder = self as? ValueEncoder else {
            throw EncodingError.invalidValue(
                value, EncodingError.Context(codingPath: codingPath, debugDescription: "it is JSON"))
        }
        encoder.single = encoded
    }
}

private final class ValueEncoder: Encoder {
    /// The encoded value: a single one, elements, or members, which may be empty.
    fileprivate var single: Encoded? { didSet { place?(value) } }
    fileprivate var elements: [Encoded]? { didSet { place?(value) } }
    fileprivate var members: [ByteText: Encoded] = [:] { didSet { place?(value) } }
    /// Stores the value in its parent; `nil` if the creator of the encoder does that.
    private let place: ((Encoded) -> Void)?

    init(place: ((Encoded) -> Void)? = nil) { self.place = place }

    var value: Encoded { single ?? elements.map(Encoded.array) ?? .object(members) }

    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

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
    func encodeNil() { single = .value(.null) }
    func encode(_ value: Bool) { single = .value(.scalar(.bool(value))) }
    func encode(_ value: String) { single = .value(.scalar(.string(value))) }
    /// A Float has fewer digits than a Double.
    func encode(_ value: Float) throws { try encode(Double("\(value)") ?? Double(value)) }
    func encode(_ value: some BinaryInteger & Encodable) {
        // Swift has no larger encodable integers with a method of their own.
        single = .value(.scalar(.integer(Int128(clamping: value))))
    }
    func encode(_ value: Double) throws {
        guard value.isFinite else {
            throw EncodingError.invalidValue(
                value, EncodingError.Context(codingPath: [], debugDescription: "JSON has no \(value)"))
        }
        single = .value(.scalar(.double(value)))
    }
    func encode<Value: Encodable>(_ value: Value) throws { single = try Encoded(value) }
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
        let (encoder, name) = (encoder, ByteText(key.stringValue))
        encoder.members[name] = .object([:])
        return ValueEncoder { encoder.members[name] = $0 }
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
        let (encoder, index) = (encoder, count)
        encodeNil()
        // Elements are only appended, so the index stays valid.
        return ValueEncoder { encoder.elements?[index] = $0 }
    }
}
#endif
