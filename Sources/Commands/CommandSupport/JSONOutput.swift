// SPDX-License-Identifier: BSD-3-Clause
internal import TweakJSON

/// Prints a value as JSON for people and scripts, or for the server that runs this command: indented, with sorted keys.
///
/// - Throws: The error of the value's `encode(to:)`.
package func printJSON(_ value: some Encodable) throws {
    let json = try json(value, isPretty: true)
    if let captured = CapturedOutput.current { captured.print(json) } else { print(json) }
}

/// Prints a value as one line of JSON, with sorted keys.
///
/// - Throws: The error of the value's `encode(to:)`.
package func printJSONLine(_ value: some Encodable) throws {
    print(try jsonLine(value))
}

/// A value as one line of JSON, with sorted keys.
func jsonLine(_ value: some Encodable) throws -> String { try json(value, isPretty: false) }

private func json(_ value: some Encodable, isPretty: Bool) throws -> String {
    printableJSON(String(decoding: try encodeJSON(value, isPretty: isPretty), as: UTF8.self))
}

/// A JSON array that is printed element by element, formatted as ``printJSON(_:)`` would format it as a whole.
package struct JSONArrayOutput {
    private let indentation: String
    private var isEmpty = true

    /// Prints the beginning of the array.
    ///
    /// - Parameters:
    ///   - start: The text before the array on its line, and the lines above.
    ///   - depth: The indentation level of that line.
    package init(after start: String, depth: Int) {
        indentation = String(repeating: "  ", count: depth)
        print(start + "[\n", terminator: "")
    }

    /// Prints an element.
    ///
    /// - Throws: The error of the element's `encode(to:)`.
    package mutating func add(_ element: some Encodable) throws {
        let text = try json(element, isPretty: true)
        beginElement()
        // JSON texts never contain a newline.
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        print(
            lines.map { $0.isEmpty ? "" : indentation + "  " + $0 }.joined(separator: "\n"), terminator: "")
    }

    /// Prints the separator before an element that the caller prints.
    package mutating func beginElement() {
        if !isEmpty { print(",\n", terminator: "") }
        isEmpty = false
    }

    /// Prints the end of the array, and the text behind it.
    package func end(before rest: String) {
        print("\n" + indentation + "]" + rest, terminator: "")
    }
}

/// A text as a JSON string that is safe to print.
package func jsonText(_ text: String) -> String { (try? json(text, isPretty: false)) ?? "\"\"" }
