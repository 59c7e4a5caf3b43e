package import TweakRecords

/// Why a request was not done, as JSON-RPC 2.0 says it.
package struct ControlError: Error, Hashable, Codable, Sendable {
    package struct Code: RawRepresentable, Hashable, Codable, Sendable {
        package let rawValue: Int
        package init(rawValue: Int) { self.rawValue = rawValue }

        /// The message is not JSON.
        package static let parse = Code(rawValue: -32700)
        /// The JSON is not a request.
        package static let invalidRequest = Code(rawValue: -32600)
        package static let unknownMethod = Code(rawValue: -32601)
        package static let invalidParameters = Code(rawValue: -32602)
        package static let internalError = Code(rawValue: -32603)
        /// There is no such tweak, category or collection.
        package static let unknownTweak = Code(rawValue: 1)
        /// The tweak cannot take the value.
        package static let refused = Code(rawValue: 2)
        /// Only an action can be run.
        package static let noAction = Code(rawValue: 3)
        /// Too much of what was asked for is still to be done.
        package static let busy = Code(rawValue: 4)
        /// The program has the value, but it could not be written for the next start.
        package static let notKept = Code(rawValue: 5)
    }

    /// What a client may want to show or to offer.
    package struct Details: Hashable, Codable, Sendable {
        /// Names that may have been meant instead of an unknown one, the most similar first.
        package var nearest: [TweakKey]?
        /// The values that the tweak takes, in words.
        package var allowed: String?
    }

    package let code: Code
    /// For a person: what was wrong, and what is allowed.
    package let message: String
    package let data: Details?

    package init(_ code: Code, _ message: String, nearest: [TweakKey]? = nil, allowed: String? = nil) {
        self.code = code
        self.message = message
        data = (nearest == nil && allowed == nil) ? nil : Details(nearest: nearest, allowed: allowed)
    }
}

extension ControlError: CustomStringConvertible {
    package var description: String { message }
}
