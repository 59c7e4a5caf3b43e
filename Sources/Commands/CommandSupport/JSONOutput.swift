internal import TweakJSON

/// Prints a value as JSON for people and scripts: indented, with sorted keys.
///
/// - Throws: What the value's `encode(to:)` throws.
package func printJSON(_ value: some Encodable) throws {
    print(try json(value, isPretty: true))
}

/// Prints a value as one line of JSON, with sorted keys.
///
/// - Throws: What the value's `encode(to:)` throws.
package func printJSONLine(_ value: some Encodable) throws {
    print(try json(value, isPretty: false))
}

private func json(_ value: some Encodable, isPretty: Bool) throws -> String {
    printableJSON(String(decoding: try encodeJSON(value, isPretty: isPretty), as: UTF8.self))
}

/// An array that is printed while its elements come, as ``printJSON(_:)`` would print it with all of them.
package struct JSONArrayOutput {
    private let indentation: String
    private var isEmpty = true

    /// Prints the beginning.
    ///
    /// - Parameters:
    ///   - start: What is on the same line before it, and the lines above.
    ///   - depth: By how many levels that line is indented.
    package init(after start: String, depth: Int) {
        indentation = String(repeating: "  ", count: depth)
        print(start + "[\n", terminator: "")
    }

    /// Prints an element.
    ///
    /// - Throws: What its `encode(to:)` throws.
    package mutating func add(_ element: some Encodable) throws {
        let text = try json(element, isPretty: true)
        beginElement()
        // In JSON a newline is never inside a text.
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        print(
            lines.map { $0.isEmpty ? "" : indentation + "  " + $0 }.joined(separator: "\n"), terminator: "")
    }

    /// Prints what is before an element, which is printed by other means.
    package mutating func beginElement() {
        if !isEmpty { print(",\n", terminator: "") }
        isEmpty = false
    }

    /// Prints the end, and what is behind it.
    package func end(before rest: String) {
        print("\n" + indentation + "]" + rest, terminator: "")
    }
}

/// A text as JSON has it, which may be printed.
package func jsonText(_ text: String) -> String { (try? json(text, isPretty: false)) ?? "\"\"" }
