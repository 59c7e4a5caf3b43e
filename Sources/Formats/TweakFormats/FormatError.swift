internal import TweakJSON

/// Why a file of features, of tweaks or of stored values cannot be used.
public enum FormatError: Error, Hashable {
    /// The bytes are not of the format.
    case malformed(path: String, reason: String)
    /// Something in the file is not what it should be. The place is the names that lead to it.
    case invalid(path: String, place: [String], reason: String)
    /// The file has no such environment, but these.
    case noEnvironment(String, path: String, choices: [String])
}

extension FormatError: CustomStringConvertible {
    /// The file, the place, what is wrong there, and what is allowed.
    public var description: String {
        switch self {
        case .malformed(let path, let reason): "\(path): \(reason)"
        case .invalid(let path, let place, let reason):
            "\(path): \(place.isEmpty ? "" : place.joined(separator: ".") + ": ")\(reason)"
        case .noEnvironment(let name, let path, let choices):
            "\(path): there is no environment \"\(name)\"; "
                + (choices.isEmpty ? "it has none" : "it has \(choices.joined(separator: ", "))")
        }
    }
}

extension FormatError: JSONPlaceError {
    package init(path: String, place: [String], reason: String) {
        self = .invalid(path: path, place: place, reason: reason)
    }
}
