// SPDX-License-Identifier: BSD-3-Clause
package import TweakJSON

/// An error in a file of features, tweaks or stored values.
public enum FormatError: Error, Hashable {
    /// The file has another format.
    case malformed(path: String, reason: String)
    /// A value in the file is invalid. The place consists of the names that lead to it.
    case invalid(path: String, place: [String], reason: String)
    /// The file has no such environment; it has those in `choices`.
    case noEnvironment(String, path: String, choices: [String])
}

extension FormatError: CustomStringConvertible {
    /// The file, the place, the problem, and what is allowed.
    public var description: String {
        switch self {
        case .malformed(let path, let reason): "\(path): \(reason)"
        case .invalid(let path, let place, let reason):
            "\(path): \(place.isEmpty ? "" : place.joined(separator: ".") + ": ")\(reason)"
        case .noEnvironment(let name, let path, let choices):
            "\(path): unknown environment \"\(name)\"; "
                + (choices.isEmpty ? "it has none" : "it has \(choices.joined(separator: ", "))")
        }
    }
}

extension FormatError: JSONPlaceError {
    package init(path: String, place: [String], reason: String) {
        self = .invalid(path: path, place: place, reason: reason)
    }
}

extension JSONParser {
    /// Parses a file.
    ///
    /// - Parameters:
    ///   - path: The path for error messages.
    ///   - largestSize: The number of bytes that are read at most.
    /// - Throws: ``FormatError/malformed(path:reason:)``.
    package static func value(
        of json: [UInt8], at path: String, largestSize: Int = .max
    ) throws(FormatError) -> JSONValue {
        guard json.count <= largestSize else {
            throw .malformed(
                path: path, reason: "it has \(json.count) bytes, at most \(largestSize) are read")
        }
        do throws(JSONError) { return try value(of: json) } catch {
            throw .malformed(path: path, reason: error.reason)
        }
    }
}
