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
    ///
    /// - Parameters:
    ///   - place: The names and indices that lead to the value.
    ///   - problem: What follows the place in the message.
    case unexpected(place: [String] = [], problem: String)
}

extension JSONError: CustomStringConvertible {
    package var description: String { reason }

    package var reason: String {
        switch self {
        case .malformed(let reason): reason
        case .unexpected([], let problem): "the JSON" + problem
        case .unexpected(let place, let problem): "\"" + place.joined(separator: ".") + "\"" + problem
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
