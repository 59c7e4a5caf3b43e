// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// An error about a value in a JSON document.
package protocol JSONPlaceError: Error {
    /// - Parameters:
    ///   - path: The document.
    ///   - place: The names and indices that lead to the value.
    init(path: String, place: [String], reason: String)
}

/// A place in a JSON document, with functions that read a value there or throw.
package struct JSONPlace<Failure: JSONPlaceError>: Hashable, Sendable {
    /// The document.
    package let path: String
    private let names: [String]

    package init(path: String, names: [String] = []) { (self.path, self.names) = (path, names) }

    /// The place of a member or an element.
    package func inside(_ name: String) -> JSONPlace { JSONPlace(path: path, names: names + [name]) }

    package func invalid(_ reason: String) -> Failure { Failure(path: path, place: names, reason: reason) }

    package func unexpected(_ value: JSONValue?, _ expectation: String) -> Failure {
        invalid("got \(value?.summary.prefix(80) ?? "nothing"), expected \(expectation)")
    }

    package func object(
        _ value: JSONValue, _ expectation: String = "an object"
    ) throws(Failure) -> JSONObject {
        guard case .object(let members) = value else { throw unexpected(value, expectation) }
        return members
    }

    /// Reads an array, each element with `read`.
    package func array<Element>(
        _ value: JSONValue, _ expectation: String, _ read: (JSONPlace, JSONValue) throws(Failure) -> Element
    ) throws(Failure) -> [Element] {
        guard case .array(let elements) = value else { throw unexpected(value, expectation) }
        return try elements.enumerated().map { (index, element) throws(Failure) in
            try read(inside("\(index)"), element)
        }
    }

    package func text(_ value: JSONValue) throws(Failure) -> String {
        guard case .scalar(.string(let text)) = value else { throw unexpected(value, "text") }
        return text
    }

    /// Reads text without NUL characters, which would end it in C.
    package func textWithoutNUL(_ value: JSONValue) throws(Failure) -> String {
        let text = try text(value)
        guard !text.utf8.contains(0) else { throw invalid("the text contains a NUL character") }
        return text
    }

    package func flag(_ value: JSONValue) throws(Failure) -> Bool {
        guard case .scalar(.bool(let flag)) = value else { throw unexpected(value, "true or false") }
        return flag
    }

    package func integer(_ value: JSONValue, _ range: ClosedRange<Int>) throws(Failure) -> Int {
        guard case .scalar(.integer(let number)) = value, let number = Int(exactly: number),
            range.contains(number)
        else {
            let upper = range.upperBound == .max ? "" : " to \(range.upperBound)"
            throw unexpected(value, "an integer from \(range.lowerBound)\(upper)")
        }
        return number
    }

    package func number(
        _ value: JSONValue, _ range: ClosedRange<Double>, _ expectation: String
    ) throws(Failure) -> Double {
        let number: Double? =
            switch value {
            case .scalar(.integer(let integer)): Double(integer)
            case .scalar(.double(let double)): double
            default: nil
            }
        guard let number, range.contains(number) else { throw unexpected(value, expectation) }
        return number
    }
}
