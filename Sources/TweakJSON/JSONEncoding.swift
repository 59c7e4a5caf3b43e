internal import TweakRecords

/// A value as JSON, with sorted names.
///
/// Foundation's encoder keeps the members of an object in a dictionary, in which two names of the same letters, composed
/// and decomposed, are one.
///
/// - Parameter isPretty: Whether it is for people, with lines and indentation.
/// - Throws: What the value's `encode(to:)` throws.
package func encodeJSON(_ value: some Encodable, isPretty: Bool = false) throws -> [UInt8] {
    var writer = JSONWriter(isPretty: isPretty)
    writer.write(try Part(of: value))
    return writer.bytes
}

/// What a value has been encoded to.
private enum Part {
    case value(JSONValue)
    case object(Parts)
    case array(Parts)

    init<Value: Encodable>(of value: Value) throws {
        // Without an encoder, as these are most of all values.
        if Value.self == JSONValue.self, let value = value as? JSONValue {
            self = .value(value)
        } else if Value.self == TweakValue.self, let value = value as? TweakValue {
            self = .value(.scalar(value))
        } else {
            let encoder = PartEncoder()
            try value.encode(to: encoder)
            // What encodes nothing has no members.
            self = encoder.part ?? .object(Parts())
        }
    }

    init(_ text: String) { self = .value(.scalar(.string(text))) }
    init(_ flag: Bool) { self = .value(.scalar(.bool(flag))) }
    init(_ number: some BinaryInteger) {
        // `TweakValue` has numbers of 64 bits, and Swift has no others that can be encoded by their own methods.
        self = .value(.scalar(.integer(Int128(clamping: number))))
    }

    init(_ number: Double) throws {
        guard number.isFinite else {
            throw EncodingError.invalidValue(
                number, EncodingError.Context(codingPath: [], debugDescription: "JSON has no \(number)"))
        }
        self = .value(.scalar(.double(number)))
    }

    /// A number of fewer bits has fewer digits.
    init(_ number: Float) throws { try self.init(Double("\(number)") ?? Double(number)) }
}

/// The members of an object or the elements of an array. Containers of an encoder share them.
private final class Parts {
    var names: [String] = []
    var parts: [Part] = []

    /// The members, sorted by name. Of several with the same name the last one counts.
    var sorted: [(name: String, part: Part)] {
        let members = zip(names, parts).enumerated().sorted {
            let (left, right) = ($0.element.0, $1.element.0)
            return left.hasSameBytes(as: right) ? $0.offset < $1.offset : left.bytesPrecede(right)
        }
        var result: [(name: String, part: Part)] = []
        result.reserveCapacity(members.count)
        for (_, (name, part)) in members {
            if let last = result.last, last.name.hasSameBytes(as: name) { result.removeLast() }
            result.append((name, part))
        }
        return result
    }
}

extension JSONWriter {
    fileprivate mutating func write(_ part: Part) {
        switch part {
        case .value(let value): write(value)
        case .array(let parts): array(parts.parts) { $0.write($1) }
        case .object(let parts):
            object(parts.sorted) { writer, member in
                writer.name(member.name)
                writer.write(member.part)
            }
        }
    }
}

// MARK: - Encoder and containers

/// The last element of an array, or the last member of an object.
private struct Place {
    private let parts: Parts
    private let index: Int

    init(parts: Parts) { (self.parts, index) = (parts, parts.parts.count - 1) }

    func put(_ part: Part) {
        // Parts are only added, so the place stays.
        if parts.parts.indices.contains(index) { parts.parts[index] = part }
    }
}

private final class PartEncoder: Encoder {
    fileprivate(set) var part: Part? {
        didSet { if let part { place?.put(part) } }
    }
    /// Where the part goes when it is there, if not to whoever made the encoder.
    private let place: Place?

    init(place: Place? = nil) { self.place = place }

    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedEncodingContainer<Key> {
        // A class and its superclass may both ask for one.
        if case .object(let parts)? = part { return KeyedEncodingContainer(Members(parts: parts)) }
        let parts = Parts()
        part = .object(parts)
        return KeyedEncodingContainer(Members(parts: parts))
    }

    func unkeyedContainer() -> any UnkeyedEncodingContainer {
        if case .array(let parts)? = part { return Elements(parts: parts) }
        let parts = Parts()
        part = .array(parts)
        return Elements(parts: parts)
    }

    func singleValueContainer() -> any SingleValueEncodingContainer { Single(encoder: self) }
}

private struct Members<Key: CodingKey>: KeyedEncodingContainerProtocol {
    let parts: Parts
    var codingPath: [any CodingKey] { [] }

    private func add(_ part: Part, _ key: some CodingKey) {
        parts.names.append(key.stringValue)
        parts.parts.append(part)
    }

    func encodeNil(forKey key: Key) { add(.value(.null), key) }
    func encode(_ value: Bool, forKey key: Key) { add(Part(value), key) }
    func encode(_ value: String, forKey key: Key) { add(Part(value), key) }
    func encode(_ value: Double, forKey key: Key) throws { add(try Part(value), key) }
    func encode(_ value: Float, forKey key: Key) throws { add(try Part(value), key) }
    func encode(_ value: some BinaryInteger & Encodable, forKey key: Key) { add(Part(value), key) }
    func encode<Value: Encodable>(_ value: Value, forKey key: Key) throws { add(try Part(of: value), key) }

    func nestedContainer<Nested: CodingKey>(
        keyedBy type: Nested.Type, forKey key: Key
    ) -> KeyedEncodingContainer<Nested> {
        let nested = Parts()
        add(.object(nested), key)
        return KeyedEncodingContainer(Members<Nested>(parts: nested))
    }

    func nestedUnkeyedContainer(forKey key: Key) -> any UnkeyedEncodingContainer {
        let nested = Parts()
        add(.array(nested), key)
        return Elements(parts: nested)
    }

    func superEncoder() -> any Encoder { superEncoder(JSONName(stringValue: "super")) }
    func superEncoder(forKey key: Key) -> any Encoder { superEncoder(key) }

    private func superEncoder(_ key: some CodingKey) -> any Encoder {
        add(.value(.null), key)
        return PartEncoder(place: Place(parts: parts))
    }
}

private struct Elements: UnkeyedEncodingContainer {
    let parts: Parts
    var codingPath: [any CodingKey] { [] }
    var count: Int { parts.parts.count }

    private func add(_ part: Part) { parts.parts.append(part) }

    func encodeNil() { add(.value(.null)) }
    func encode(_ value: Bool) { add(Part(value)) }
    func encode(_ value: String) { add(Part(value)) }
    func encode(_ value: Double) throws { add(try Part(value)) }
    func encode(_ value: Float) throws { add(try Part(value)) }
    func encode(_ value: some BinaryInteger & Encodable) { add(Part(value)) }
    func encode<Value: Encodable>(_ value: Value) throws { add(try Part(of: value)) }

    func nestedContainer<Nested: CodingKey>(keyedBy type: Nested.Type) -> KeyedEncodingContainer<Nested> {
        let nested = Parts()
        add(.object(nested))
        return KeyedEncodingContainer(Members<Nested>(parts: nested))
    }

    func nestedUnkeyedContainer() -> any UnkeyedEncodingContainer {
        let nested = Parts()
        add(.array(nested))
        return Elements(parts: nested)
    }

    func superEncoder() -> any Encoder {
        add(.value(.null))
        return PartEncoder(place: Place(parts: parts))
    }
}

private struct Single: SingleValueEncodingContainer {
    let encoder: PartEncoder
    var codingPath: [any CodingKey] { [] }

    func encodeNil() { encoder.part = .value(.null) }
    func encode(_ value: Bool) { encoder.part = Part(value) }
    func encode(_ value: String) { encoder.part = Part(value) }
    func encode(_ value: Double) throws { encoder.part = try Part(value) }
    func encode(_ value: Float) throws { encoder.part = try Part(value) }
    func encode(_ value: some BinaryInteger & Encodable) { encoder.part = Part(value) }
    func encode<Value: Encodable>(_ value: Value) throws { encoder.part = try Part(of: value) }
}
