/// How many arrays and objects may be inside each other. Decoding, encoding and releasing recurse, also on the small
/// stacks of the library's threads.
package let deepestNesting = 100

/// How many values a file may have that people write, objects and arrays included. The largest ones have some thousands; in
/// the process of a program each takes up to 700 bytes while the file is read.
package let mostValuesInFile = 100_000

/// Why bytes are not the JSON that is expected.
package enum JSONError: Error, Hashable {
    /// They are not JSON, or more of it inside each other than is read.
    case malformed(reason: String)
    /// They are JSON, but not of the form that is expected.
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

/// What is wrong with a number that no double can hold.
///
/// - Parameter number: As it is written; `nil` if that is not known.
func outOfRange(_ number: String? = nil) -> String {
    // It may have any number of digits.
    let text = number.map { $0.utf8.count <= 40 ? $0 : $0.prefix(40) + "…" }
    return "\(text ?? "the number") is out of the range of a double"
}

extension JSONError {
    /// Makes an error of what a decoder throws.
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

/// What a person calls a type of JSON.
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
