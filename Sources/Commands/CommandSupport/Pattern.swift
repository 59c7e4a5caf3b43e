// SPDX-License-Identifier: BSD-3-Clause
/// A pattern as in glob(7), in which `*` also matches slashes.
package struct Pattern: Sendable {
    private enum Element: Sendable {
        case any
        case one
        case scalar(Unicode.Scalar)
        case among([ClosedRange<Unicode.Scalar>], isNegated: Bool)

        func fits(_ scalar: Unicode.Scalar) -> Bool {
            switch self {
            case .any, .one: true
            case .scalar(let own): own == scalar
            case .among(let ranges, let isNegated): ranges.contains { $0.contains(scalar) } != isNegated
            }
        }
    }

    /// The pattern as it was written.
    package let text: String
    private var elements: [Element] = []

    /// Parses `*`, `?` and `[…]`; a backslash escapes the next character.
    package init(_ text: String) {
        self.text = text
        var rest = Array(text.unicodeScalars)[...]
        while let scalar = rest.popFirst() {
            switch scalar {
            case "*": elements.append(.any)
            case "?": elements.append(.one)
            case "\\": elements.append(.scalar(rest.popFirst() ?? scalar))
            case "[": elements.append(Self.set(&rest) ?? .scalar(scalar))
            default: elements.append(.scalar(scalar))
            }
        }
    }

    /// Parses a bracket expression, after its first bracket; `nil` if it is not closed.
    private static func set(_ rest: inout ArraySlice<Unicode.Scalar>) -> Element? {
        var inside = rest
        let isNegated = inside.first == "!" || inside.first == "^"
        if isNegated { inside.removeFirst() }
        var ranges: [ClosedRange<Unicode.Scalar>] = []
        // A closing bracket in the first place is a member.
        while true {
            guard let scalar = inside.popFirst() else { return nil }
            if scalar == "]", !ranges.isEmpty { break }
            guard inside.first == "-", let last = inside.dropFirst().first, last != "]" else {
                ranges.append(scalar...scalar)
                continue
            }
            inside = inside.dropFirst(2)
            ranges.append(min(scalar, last)...max(scalar, last))
        }
        rest = inside
        return .among(ranges, isNegated: isNegated)
    }

    /// Returns whether the pattern matches the whole text.
    package func fits(_ text: String) -> Bool { fits(Array(text.unicodeScalars)[...]) }

    /// Returns whether the pattern matches the whole text. Takes time proportional to text times pattern: of several
    /// `*` only the last one is retried.
    package func fits(_ text: ArraySlice<Unicode.Scalar>) -> Bool {
        var (place, element) = (text.startIndex, 0)
        var retry: (place: Int, element: Int)?
        while place < text.endIndex {
            if element < elements.count, case .any = elements[element] {
                element += 1
                retry = (place, element)
            } else if element < elements.count, elements[element].fits(text[place]) {
                place += 1
                element += 1
            } else if let last = retry {
                place = last.place + 1
                element = last.element
                retry = (place, element)
            } else {
                return false
            }
        }
        return elements[element...].allSatisfy { if case .any = $0 { true } else { false } }
    }
}
