// SPDX-License-Identifier: BSD-3-Clause
internal import CommandSupport
internal import TweakRecords

/// A text as a Swift literal.
func swiftLiteral(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
        if scalar == "\\" || scalar == "\"" { escaped += "\\" }
        escaped.unicodeScalars.append(scalar)
    }
    // Unprintable characters are written as escapes.
    return "\"\(printable(escaped))\""
}

/// A text as a C literal, or an Objective-C one behind an @.
func cLiteral(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
        switch scalar {
        case " "..."!", "#"...">", "@"..."[", "]"..."~": escaped.unicodeScalars.append(scalar)
        // Two question marks may begin a trigraph.
        case "\\", "\"", "?": escaped += "\\\(scalar)"
        case _ where printable(String(scalar)) != String(scalar):
            for byte in String(scalar).utf8 { escaped += "\\" + byte.digits(3, radix: 8) }
        default: escaped.unicodeScalars.append(scalar)
        }
    }
    return "\"\(escaped)\""
}

/// A documentation comment in Swift.
func swiftComment(_ text: String, indentation: String = "") -> [String] {
    commentLines(text).map { "\(indentation)///\($0.isEmpty ? "" : " ")\($0)" }
}

/// A C comment. Nothing in it ends the comment, seems to begin another one, or is a trigraph.
func cComment(_ text: String) -> [String] {
    var separated: [UInt8] = []
    for byte in text.utf8 {
        switch (separated.last.map(Unicode.Scalar.init), Unicode.Scalar(byte)) {
        case ("*", "/"), ("/", "*"), ("?", "?"): separated.append(UInt8(ascii: " "))
        default: break
        }
        separated.append(byte)
    }
    let lines = commentLines(String(decoding: separated, as: UTF8.self))
    switch lines.count {
    case 0: return []
    case 1: return ["/* \(lines[0]) */"]
    default: return ["/*"] + lines.map { " *\($0.isEmpty ? "" : " ")\($0)" } + [" */"]
    }
}

/// The lines of a text, without trailing spaces and without blank lines at the start and end.
///
/// By scalars, because finding the characters of a long description takes twenty times as long.
private func commentLines(_ text: String) -> [String] {
    var lines: [String] = []
    var line = ""
    var spaces = ""
    func end() {
        lines.append(printable(line))
        (line, spaces) = ("", "")
    }
    var last: Unicode.Scalar?
    for scalar in text.unicodeScalars {
        switch scalar {
        case "\n" where last == "\r": break
        case "\n", "\r", "\u{B}", "\u{C}", "\u{85}", "\u{2028}", "\u{2029}": end()
        case "\t", " ": spaces += " "
        case _ where !scalar.isASCII && scalar.properties.isWhitespace: spaces.unicodeScalars.append(scalar)
        default:
            if !spaces.isEmpty {
                line += spaces
                spaces = ""
            }
            line.unicodeScalars.append(scalar)
        }
        last = scalar
    }
    end()
    return lines.drop(while: \.isEmpty).reversed().drop(while: \.isEmpty).reversed()
}

/// A text on one line, short enough for the record of a tweak.
func summary(_ text: String?) -> String? {
    var line = ""
    var count = 0
    var isBetweenWords = false
    for character in text ?? "" {
        if character.isWhitespace {
            isBetweenWords = count > 0
            continue
        }
        if isBetweenWords {
            line += " "
            count += 1
            isBetweenWords = false
        }
        line.append(character)
        count += 1
        if count > 500 { return line.prefix(499) + "…" }
    }
    return line.isEmpty ? nil : line
}
