// SPDX-License-Identifier: BSD-3-Clause
// Embedded Swift has no Codable.
#if !hasFeature(Embedded)
internal import TweakRecords

/// Decodes JSON from any source.
///
/// - Parameters:
///   - bytes: The JSON, in UTF-8.
///   - repeatedNames: The treatment of a name that an object repeats.
package func decodeJSON<Value: Decodable>(
    _ type: Value.Type = Value.self, from bytes: [UInt8],
    repeatedNames: JSONParser.RepeatedNames = .firstCounts
) throws(JSONError) -> Value {
    let value = try parseJSON(from: bytes, repeatedNames: repeatedNames)
    do { return try ValueDecoder(value: value, path: .top).decode(type) } catch {
        throw JSONError(thrown: error)
    }
}

/// Types that are read from JSON can be parts of types that are decoded.
extension Decodable where Self: JSONReadable {
    /// Reads the value as it was parsed. Only works with ``decodeJSON(_:from:repeatedNames:)``.
    package init(from decoder: any Decoder) throws {
        guard let decoder = decoder as? ValueDecoder else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "it is not JSON"))
        }
        self = try decoder.read()
    }
}

extension JSONValue: Decodable {}

extension JSONError {
    /// Converts an error of `init(from:)`.
    fileprivate init(thrown error: any Error) {
        switch error {
        case let error as JSONError: self = error
        case DecodingError.dataCorrupted(let context), DecodingError.typeMismatch(_, let context),
            DecodingError.valueNotFound(_, let context), DecodingError.keyNotFound(_, let context):
            self = .unexpected(problem: ": " + context.debugDescription).inside(context.codingPath)
        default: self = .unexpected(problem: ": \(error)")
        }
    }

    fileprivate func inside(_ path: [any CodingKey]) -> JSONError {
        path.reversed().reduce(self) { $0.inside($1.stringValue) }
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

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        guard case .object(let members) = value else { throw unexpected("an object") }
        return KeyedDecodingContainer(Members(members: members, path: path))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        guard case .array(let elements) = value else { throw unexpected("an array") }
        return Elements(elements: elements, path: path)
    }

    func singleValueContainer() -> any SingleValueDecodingContainer { self }

    func read<Value: JSONReadable>() throws -> Value {
        do throws(JSONError) { return try Value(json: value) } catch { throw error.inside(codingPath) }
    }

    private func unexpected(_ expectation: String) -> JSONError {
        .mismatch(value, expectation).inside(codingPath)
    }
}

extension ValueDecoder: SingleValueDecodingContainer {
    func decodeNil() -> Bool { value == .null }
    func decode(_ type: Bool.Type) throws -> Bool { try read() }
    func decode(_ type: String.Type) throws -> String { try read() }
    func decode(_ type: Double.Type) throws -> Double { try read() }
    func decode(_ type: Float.Type) throws -> Float { Float(try read() as Double) }

    func decode<Integer: FixedWidthInteger & Decodable>(_ type: Integer.Type) throws -> Integer {
        do throws(JSONError) { return try Integer(json: value) } catch { throw error.inside(codingPath) }
    }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try Value(from: self)
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
            throw JSONError.missing.inside(key.stringValue).inside(codingPath)
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
    private mutating func next<Result>(_ body: (ValueDecoder) throws -> Result) throws -> Result {
        let path = ValuePath.element(currentIndex, in: path)
        guard !isAtEnd else {
            throw JSONError.unexpected(problem: ": the array ends").inside(path.codingPath)
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
        try next { try $0.decode(type) }
    }

    mutating func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type
    ) throws -> KeyedDecodingContainer<Nested> {
        try next { try $0.container(keyedBy: type) }
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer {
        try next { try $0.unkeyedContainer() }
    }

    mutating func superDecoder() throws -> any Decoder { try next { $0 } }
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
