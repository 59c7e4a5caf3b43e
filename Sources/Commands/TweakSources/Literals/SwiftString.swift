// SPDX-License-Identifier: BSD-3-Clause
/// A string literal of Swift without interpolation.
struct SwiftString {
    /// The number signs on each side.
    private let signs: String
    /// The blanks before each line of a text of several lines; `nil` for a text in one line.
    private let indentation: String?
    let content: String

    /// Parses a literal.
    ///
    /// - Returns: `nil` if it is not closed, has an interpolation, or is malformed.
    init?(_ token: SourceToken) {
        guard token.kind == .string, let text = String(validating: token.spelling, as: UTF8.self) else {
            return nil
        }
        let scalars = text.unicodeScalars
        signs = String(scalars.prefix { $0 == "#" })
        let quoted = scalars.dropFirst(signs.count).dropLast(signs.count)
        guard String(scalars.suffix(signs.count)) == signs else { return nil }
        let quotes = quoted.starts(with: "\"\"\"".unicodeScalars) && quoted.count >= 6 ? 3 : 1
        guard quoted.count >= 2 * quotes, quoted.prefix(quotes).allSatisfy({ $0 == "\"" }),
            quoted.suffix(quotes).allSatisfy({ $0 == "\"" })
        else { return nil }
        var inside = String(quoted.dropFirst(quotes).dropLast(quotes))
        if quotes == 1 {
            indentation = nil
        } else {
            inside = inside.replacing("\r\n", with: "\n")
            guard inside.hasPrefix("\n"), let last = inside.unicodeScalars.lastIndex(of: "\n") else {
                return nil
            }
            let blanks = String(inside.unicodeScalars[last...].dropFirst())
            guard blanks.allSatisfy({ $0 == " " || $0 == "\t" }) else { return nil }
            indentation = blanks
            var lines: [String] = []
            for line in inside.unicodeScalars[..<last].dropFirst().split(
                separator: "\n", omittingEmptySubsequences: false)
            {
                guard line.starts(with: blanks.unicodeScalars) || line.allSatisfy({ $0 == " " || $0 == "\t" })
                else {
                    return nil
                }
                lines.append(String(line.dropFirst(blanks.unicodeScalars.count)))
            }
            inside = lines.joined(separator: "\n")
        }
        guard let content = Self.unescaped(inside, signs) else { return nil }
        self.content = content
    }

    private static func unescaped(_ text: String, _ signs: String) -> String? {
        var content = String.UnicodeScalarView()
        var rest = text.unicodeScalars[...]
        while let scalar = rest.popFirst() {
            guard scalar == "\\", rest.starts(with: signs.unicodeScalars) else {
                content.append(scalar)
                continue
            }
            rest = rest.dropFirst(signs.count)
            switch rest.popFirst() {
            case "n": content.append("\n")
            case "t": content.append("\t")
            case "r": content.append("\r")
            case "0": content.append("\0")
            case "\\": content.append("\\")
            case "\"": content.append("\"")
            case "'": content.append("'")
            // The end of a line that goes on in the next one.
            case "\n": break
            case "u":
                guard rest.popFirst() == "{", let end = rest.firstIndex(of: "}"),
                    let number = UInt32(String(rest[..<end]), radix: 16), let scalar = Unicode.Scalar(number)
                else { return nil }
                content.append(scalar)
                rest = rest[end...].dropFirst()
            default: return nil
            }
        }
        return String(content)
    }

    /// A literal of a text in one line.
    static func plain(_ text: String) -> String { "\"" + escaped(text, "", isLong: false) + "\"" }

    /// A literal of another text in the same notation.
    ///
    /// - Parameter newline: The newline of the file.
    func written(_ text: String, newline: String) -> String {
        var signs = signs
        // What looks like an end or an escape sequence needs more number signs around it.
        let bytes = Array(text.utf8)
        while !signs.isEmpty, ["\"", "\\"].contains(where: { bytes.contains(Array(($0 + signs).utf8)) }) {
            signs += "#"
        }
        let quotes = indentation == nil ? "\"" : "\"\"\""
        guard let indentation else {
            return signs + quotes + Self.escaped(text, signs, isLong: false) + quotes + signs
        }
        // A newline at the end would be lost.
        let lines = text.unicodeScalars.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.isEmpty ? "" : indentation + Self.escaped(String(line), signs, isLong: true)
        }
        return ([signs + quotes] + lines + [indentation + quotes + signs]).joined(separator: newline)
    }

    private static func escaped(_ text: String, _ signs: String, isLong: Bool) -> String {
        let escape = "\\" + signs
        var quotes = 0
        return text.unicodeScalars.map { scalar in
            quotes = scalar == "\"" ? quotes + 1 : 0
            switch scalar {
            case "\\": return signs.isEmpty ? "\\\\" : "\\"
            // In a text of several lines only three end it.
            case "\"" where signs.isEmpty && (!isLong || quotes % 3 == 0): return "\\\""
            case "\n": return escape + "n"
            case "\r": return escape + "r"
            case "\t": return isLong ? "\t" : escape + "t"
            case "\0": return escape + "0"
            case let scalar where scalar.isUnseen:
                return escape + "u{" + String(scalar.value, radix: 16) + "}"
            default: return String(scalar)
            }
        }.joined()
    }
}
