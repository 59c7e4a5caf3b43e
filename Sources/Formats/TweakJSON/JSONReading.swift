// SPDX-License-Identifier: BSD-3-Clause
package import TweakRecords

/// A type whose values are read from JSON.
package protocol JSONReadable {
    /// Reads a parsed value.
    ///
    /// - Throws: ``JSONError/unexpected(place:problem:)``, whose place starts at the value.
    init(json: JSONValue) throws(JSONError)
}

/// Reads JSON from any source.
///
/// - Parameters:
///   - bytes: The JSON, in UTF-8.
///   - repeatedNames: The treatment of a name that an object repeats.
package func readJSON<Value: JSONReadable>(
    from bytes: [UInt8], repeatedNames: JSONParser.RepeatedNames = .firstCounts
) throws(JSONError) -> Value {
    try Value(json: parseJSON(from: bytes, repeatedNames: repeatedNames))
}

/// Parses JSON from any source. A number that no double can hold is an infinity, about which the reader of the value throws.
package func parseJSON(
    from bytes: [UInt8], repeatedNames: JSONParser.RepeatedNames
) throws(JSONError) -> JSONValue {
    guard !bytes.isEmpty else { throw .malformed(reason: "it is empty") }
    var parser = JSONParser(bytes, repeatedNames: repeatedNames)
    parser.allowsInfinities = true
    let value = try parser.value()
    try parser.end()
    return value
}

/// A type whose values are objects in JSON.
package protocol JSONStructure: JSONReadable, JSONWritable {
    init(members: JSONMembers) throws(JSONError)

    /// Writes the members, sorted by name. Those that are `nil` are left out.
    func writeMembers(to writer: inout JSONWriter)
}

extension JSONStructure {
    package init(json: JSONValue) throws(JSONError) { self = try Self(members: JSONMembers(json: json)) }

    package func write(to writer: inout JSONWriter) { writer.object(writeMembers) }
}

/// The members of an object, with functions that read them. Errors name the member.
package struct JSONMembers: JSONReadable, Sendable {
    private let members: JSONObject

    /// No members.
    package init() { members = [:] }

    package init(json: JSONValue) throws(JSONError) {
        guard case .object(let members) = json else { throw .mismatch(json, "an object") }
        self.members = members
    }

    /// The names, sorted.
    package var names: [ByteText] { members.keys.sorted() }

    package func isNull(_ name: ByteText) -> Bool { members[name] == .null }

    /// Throws if there are others than these.
    package func check(allowed names: [ByteText]) throws(JSONError) {
        guard let other = self.names.first(where: { !names.contains($0) }) else { return }
        throw .unexpected(
            problem: " has no member \"\(other.text)\"; allowed: "
                + names.map { $0.text }.joined(separator: ", "))
    }

    private func value(of name: ByteText) throws(JSONError) -> JSONValue {
        guard let value = members[name] else { throw .missing }
        return value
    }

    /// Reads a member.
    package func read<Value: JSONReadable>(_ name: ByteText) throws(JSONError) -> Value {
        do throws(JSONError) { return try Value(json: value(of: name)) } catch {
            throw error.inside(name.text)
        }
    }

    /// Reads a member; `nil` if it is missing or null.
    package func readIfPresent<Value: JSONReadable>(_ name: ByteText) throws(JSONError) -> Value? {
        switch members[name] {
        case nil, .null?: nil
        default: try read(name)
        }
    }

    /// Reads a member, also if it is null; `nil` if it is missing.
    package func readUnlessMissing<Value: JSONReadable>(_ name: ByteText) throws(JSONError) -> Value? {
        members[name] == nil ? nil : try read(name)
    }
}

extension JSONError {
    /// The error for a member that is not there.
    static var missing: JSONError { .unexpected(problem: " is missing") }

    /// The error for a value of another type.
    ///
    /// - Parameter expectation: The expected type, such as `a text`.
    static func mismatch(_ json: JSONValue, _ expectation: String) -> JSONError {
        .unexpected(problem: json == .null ? " is null" : " is not \(expectation)")
    }

    /// The error of an enclosing array or object.
    ///
    /// - Parameter name: The name of the member, or the index of the element.
    package func inside(_ name: String) -> JSONError {
        guard case .unexpected(let place, let problem) = self else { return self }
        return .unexpected(place: [name] + place, problem: problem)
    }
}

// MARK: - Values

extension JSONValue: JSONReadable {
    /// Takes the value as it was parsed.
    package init(json: JSONValue) throws(JSONError) {
        guard !json.hasInfinity else { throw .unexpected(problem: ": " + outOfRange()) }
        self = json
    }

    /// Whether it contains a number that no double can hold, see ``JSONParser/allowsInfinities``.
    private var hasInfinity: Bool {
        switch self {
        case .scalar(.double(let number)): !number.isFinite
        case .null, .scalar: false
        case .array(let elements): elements.contains { $0.hasInfinity }
        case .object(let members): members.values.contains { $0.hasInfinity }
        }
    }
}

extension String: JSONReadable {
    package init(json: JSONValue) throws(JSONError) {
        guard case .scalar(.string(let text)) = json else { throw .mismatch(json, "a text") }
        self = text
    }
}

extension Bool: JSONReadable {
    package init(json: JSONValue) throws(JSONError) {
        guard case .scalar(.bool(let flag)) = json else { throw .mismatch(json, "true or false") }
        self = flag
    }
}

extension Double: JSONReadable {
    package init(json: JSONValue) throws(JSONError) {
        switch json {
        case .scalar(.double(let number)):
            guard number.isFinite else { throw .unexpected(problem: ": " + outOfRange()) }
            self = number
        case .scalar(.integer(let number)): self = Double(number)
        default: throw .mismatch(json, "a number")
        }
    }
}

extension Int: JSONReadable {}
extension Int32: JSONReadable {}
extension Int64: JSONReadable {}

extension FixedWidthInteger {
    /// Reads an integer, also if written with a fraction of zeros or an exponent.
    package init(json: JSONValue) throws(JSONError) {
        let number: Self?
        switch json {
        case .scalar(.integer(let value)): number = Self(exactly: value)
        case .scalar(.double(let value)): number = Self(exactly: value)
        default: throw .mismatch(json, "an integer")
        }
        guard let number else { throw .unexpected(problem: ": \(json.summary) is out of range") }
        self = number
    }
}

extension Array: JSONReadable where Element: JSONReadable {
    package init(json: JSONValue) throws(JSONError) {
        guard case .array(let elements) = json else { throw .mismatch(json, "an array") }
        self.init()
        reserveCapacity(elements.count)
        for (index, element) in elements.enumerated() {
            do throws(JSONError) { append(try Element(json: element)) } catch {
                throw error.inside("\(index)")
            }
        }
    }
}

extension Dictionary: JSONReadable where Key == ByteText, Value: JSONReadable {
    package init(json: JSONValue) throws(JSONError) {
        let members = try JSONMembers(json: json)
        self.init()
        for name in members.names { self[name] = try members.read(name) as Value }
    }
}

/// Enumerations of texts.
extension JSONReadable where Self: CaseIterable & RawRepresentable, RawValue == String {
    package init(json: JSONValue) throws(JSONError) {
        guard let value = Self(rawValue: try String(json: json)) else {
            let allowed = Self.allCases.map { $0.rawValue }.joined(separator: ", ")
            throw .unexpected(problem: ": \(json.summary) is unknown; allowed: \(allowed)")
        }
        self = value
    }
}

extension TweakKey: JSONReadable {
    /// Reads `Category/Collection/Name`.
    package init(json: JSONValue) throws(JSONError) {
        let text = try String(json: json)
        guard let key = TweakKey(text) else { throw .unexpected(problem: ": " + Self.problem(of: text)) }
        self = key
    }
}
