// SPDX-License-Identifier: BSD-3-Clause
// Embedded Swift has no Codable.
#if !hasFeature(Embedded)
package import TweakRecords

/// Decodes JSON from any source.
///
/// - Parameters:
///   - bytes: The JSON, in UTF-8.
///   - repeatedNames: The treatment of a name that an object repeats.
package func decodeJSON<Value: Decodable>(
    _ type: Value.Type = Value.self, from bytes: [UInt8],
    repeatedNames: JSONParser.RepeatedNames = .firstCounts
) throws(JSONError) -> Value {
    guard !bytes.isEmpty else { throw .malformed(reason: "it is empty") }
    var parser = JSONParser(bytes, repeatedNames: repeatedNames)
    parser.allowsInfinities = true
    let value = try parser.value()
    try parser.end()
    return try value.decode()
}

extension JSONValue {
    /// Decodes a value from parsed JSON.
    package func decode<Value: Decodable>(_ type: Value.Type = Value.self) throws(JSONError) -> Value {
        do { return try ValueDecoder(value: self, path: .top).decode(type) } catch {
            throw JSONError(thrown: error)
        }
    }
}

/// The way to a value, from the inside out. Only errors need it in the other direction.
private indirect enum ValuePath {
    case top
    case member(String, in: ValuePath)
    case element(Int, in: ValuePath)

    var codingPath: [any CodingKey] {
        switch self {
        case .top: []
        case .member(let name, let path): path.codingPath + [JSONName(stringValue: name)]
        case .element(let index, let path): path.codingPath + [JSONName(stringValue: "\(index)")]
        }
    }
}

private struct ValueDecoder: Decoder {
    let value: JSONValue
    let path: ValuePath
    var codingPath: [any CodingKey] { path.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { [:] }

    private var context: DecodingError.Context {
        DecodingError.Context(codingPath: codingPath, debugDescription: value.summary)
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = value else { throw unexpected([String: Any].self) }
        return KeyedDecodingContainer(Members(members: members, path: path))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value else { throw unexpected([Any].self) }
        return Elements(elements: elements, path: path)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    private func unexpected(_ type: any Any.Type) -> DecodingError {
        if case .null = value { return .valueNotFound(type, context) }
        return .typeMismatch(type, context)
    }
}

extension ValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value == .null }

    func decode(_ type: Bool.Type) throws -> Bool {
        guard case .scalar(.bool(let flag)) = value else { throw unexpected(type) }
        return flag
    }

    func decode(_ type: String.Type) throws -> String {
        guard case .scalar(.string(let text)) = value else { throw unexpected(type) }
        return text
    }

    func decode(_ type: Double.Type) throws -> Double {
        switch value {
        case .scalar(.double(let number)):
            guard number.isFinite else { throw outOfRange(TweakJSON.outOfRange()) }
            return number
        case .scalar(.integer(let number)): return Double(number)
        default: throw unexpected(type)
        }
    }

    func decode(_ type: Float.Type) throws -> Float { Float(try decode(Double.self)) }

    /// An integer, also if written with a fraction of zeros or an exponent.
    func decode<Integer: FixedWidthInteger & Decodable>(_ type: Integer.Type) throws -> Integer {
        let number: Integer?
        switch value {
        case .scalar(.integer(let value)): number = Integer(exactly: value)
        case .scalar(.double(let value)): number = Integer(exactly: value)
        default: throw unexpected(Integer.self)
        }
        guard let number else { throw outOfRange("\(value.summary) is out of range") }
        return number
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try Value(from: self)
    }

    private func outOfRange(_ reason: String) -> DecodingError {
        .dataCorrupted(DecodingError.Context(codingPath: codingPath, debugDescription: reason))
    }
}

private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let members: JSONObject
    let path: ValuePath
    var codingPath: [any CodingKey] { path.codingPath }

    var allKeys: [Key] { members.keys.sorted().compactMap { Key(stringValue: $0.text) } }

    func contains(_ key: Key) -> Bool { members[key.stringValue] != nil }

    private func decoder(_ key: some CodingKey) throws -> ValueDecoder {
        guard let value = members[key.stringValue] else {
            throw DecodingError.keyNotFound(
                key, DecodingError.Context(codingPath: codingPath, debugDescription: "it is not there"))
        }
        return ValueDecoder(value: value, path: .member(key.stringValue, in: path))
    }

    func decodeNil(forKey key: Key) throws -> Bool { members[key.stringValue] == .null }
    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try decoder(key).decode(type)
    }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Nested> { try decoder(key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try decoder(key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { try decoder(JSONName(stringValue: "super")) }
    func superDecoder(forKey key: Key) throws -> any Decoder { try decoder(key) }
}

private struct Elements: UnkeyedDecodingContainer {
    let elements: [JSONValue]
    let path: ValuePath
    var codingPath: [any CodingKey] { path.codingPath }
    private(set) var currentIndex = 0

    init(elements: [JSONValue], path: ValuePath) { (self.elements, self.path) = (elements, path) }

    var count: Int? { elements.count }
    var isAtEnd: Bool { currentIndex >= elements.count }

    /// Reads the next element. If that fails, it remains the next one.
    private mutating func next<Result>(
        _ type: any Any.Type, _ body: (ValueDecoder) throws -> Result
    ) throws -> Result {
        let path = ValuePath.element(currentIndex, in: path)
        guard !isAtEnd else {
            throw DecodingError.valueNotFound(
                type, DecodingError.Context(codingPath: path.codingPath, debugDescription: "the array ends"))
        }
        let result = try body(ValueDecoder(value: elements[currentIndex], path: path))
        currentIndex += 1
        return result
    }

    mutating func decodeNil() throws -> Bool {
        guard !isAtEnd, elements[currentIndex] == .null else { return false }
        currentIndex += 1
        return true
    }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try next(type) { try $0.decode(type) }
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try next([String: Any].self) { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next([Any].self) { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try next(Any.self) { $0 } }
}

extension JSONValue: Decodable {
    /// Takes the value as it was parsed. Only works with ``decodeJSON(_:from:)``.
    package init(from decoder: any Decoder) throws {
        guard let decoder = decoder as? ValueDecoder, !decoder.value.hasInfinity else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: outOfRange()))
        }
        self = decoder.value
    }

    /// Whether it contains a number that no double can hold, see ``JSONParser/allowsInfinities``.
    fileprivate var hasInfinity: Bool {
        switch self {
        case .scalar(.double(let number)): !number.isFinite
        case .null, .scalar: false
        case .array(let elements): elements.contains(where: \.hasInfinity)
        case .object(let members): members.values.contains(where: \.hasInfinity)
        }
    }
}

/// The members of an object, for lists of thousands: a `KeyedDecodingContainer` takes several times as long.
package struct JSONMembers {
    private let members: JSONObject
    private let decoder: any Decoder

    /// Only works with ``decodeJSON(_:from:)``.
    package init(from decoder: any Decoder) throws {
        guard case .object(let members)? = (decoder as? ValueDecoder)?.value else {
            // Not an object, which the container says in its error.
            _ = try decoder.container(keyedBy: JSONName.self)
            (self.members, self.decoder) = ([:], decoder)
            return
        }
        (self.members, self.decoder) = (members, decoder)
    }

    /// Decodes the value of a member; `nil` if it is missing or null.
    package func decodeIfPresent<Value: Decodable>(
        _ name: ByteText, as type: Value.Type = Value.self
    ) throws -> Value? {
        switch members[name] {
        case nil, .null?: nil
        default: try decode(name)
        }
    }

    package func decode<Value: Decodable>(_ name: ByteText, as type: Value.Type = Value.self) throws -> Value
    {
        try decoder.container(keyedBy: JSONName.self).decode(type, forKey: JSONName(stringValue: name.text))
    }

    package func text(_ name: ByteText) throws -> String {
        if case .scalar(.string(let text))? = members[name] { return text }
        return try decode(name)
    }

    /// The text of a member; `nil` if it is missing or null.
    package func textIfPresent(_ name: ByteText) throws -> String? {
        switch members[name] {
        case nil, .null?: nil
        case .scalar(.string(let text))?: text
        default: try decode(name)
        }
    }

    /// The value of a member as it was parsed; `nil` if it is missing.
    package func value(_ name: ByteText) throws -> JSONValue? {
        guard let value = members[name], value.hasInfinity else { return members[name] }
        return try decode(name)
    }
}

/// Any name of a member of an object.
package struct JSONName: CodingKey, ExpressibleByStringLiteral {
    package let stringValue: String
    package var intValue: Int? { nil }

    package init(stringValue: String) { self.stringValue = stringValue }
    package init(stringLiteral name: String) { stringValue = name }
    package init?(intValue: Int) { nil }
}
#endif
