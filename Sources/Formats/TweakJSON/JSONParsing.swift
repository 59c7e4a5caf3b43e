// SPDX-License-Identifier: BSD-3-Clause
/// The maximum depth of arrays and objects. Decoding, encoding and releasing are recursive, also on the small stacks of
/// the library's threads.
package let deepestNesting = 100

/// The maximum number of values, including objects and arrays, in a file written by people. The largest have some
/// thousands; while a program reads a file, each value takes up to 700 bytes.
package let mostValuesInFile = 100_000

/// An error in JSON.
package enum JSONError: Error, Hashable {
    /// The bytes are not JSON, or are nested too deeply.
    case malformed(reason: String)
    /// The JSON does not have the expected structure.
    case unexpected(reason: String)
}

extension JSONError: CustomStringConvertible {
    package var description: String { reason }

    package var reason: String {
        switch self {
        case .malformed(let reason), .unexpected(let reason): reason
        }
    }
}

/// The message about a number that no double can hold.
///
/// - Parameter number: Its digits, or `nil` if unknown.
func outOfRange(_ number: String? = nil) -> String {
    // There may be any number of digits.
    let text = number.map { $0.utf8.count <= 40 ? $0 : $0.prefix(40) + "…" }
    return "\(text ?? "the number") is out of the range of a double"
}

// Embedded Swift has no Codable.
#if !hasFeature(Embedded)
extension JSONError {
    /// Converts an error of a decoder.
    package init(thrown error: any Error) {
        switch error {
        case let error as JSONError: self = error
        case let error as DecodingError: self.init(error)
        default: self = .unexpected(reason: "\(error)")
        }
    }

    package init(_ error: DecodingError) {
        switch error {
        case .dataCorrupted(let context) where context.codingPath.isEmpty:
            let reason = context.underlyingError.map { "\($0)" } ?? context.debugDescription
            self = .malformed(reason: "it is not JSON: \(reason)")
        case .keyNotFound(let key, let context):
            self = .unexpected(reason: (context.codingPath + [key]).quoted + " is missing")
        case .valueNotFound(_, let context):
            self = .unexpected(reason: context.codingPath.quoted + " is null")
        case .typeMismatch(let type, let context):
            self = .unexpected(reason: context.codingPath.quoted + " is not " + name(of: type))
        case .dataCorrupted(let context):
            self = .unexpected(reason: context.codingPath.quoted + ": " + context.debugDescription)
        @unknown default:
            self = .unexpected(reason: "\(error)")
        }
    }
}

/// The name of a JSON type, for people.
private func name(of type: any Any.Type) -> String {
    switch type {
    case is String.Type: "a text"
    case is Bool.Type: "true or false"
    case is any BinaryInteger.Type: "an integer"
    case is any BinaryFloatingPoint.Type: "a number"
    case is [Any].Type: "an array"
    default: "an object"
    }
}

extension [any CodingKey] {
    fileprivate var quoted: String {
        isEmpty ? "the JSON" : "\"" + map(\.stringValue).joined(separator: ".") + "\""
    }
}
#endif
