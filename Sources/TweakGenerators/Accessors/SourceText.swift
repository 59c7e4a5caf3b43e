internal import CommandSupport
internal import TweakRecords

/// A text as a literal of Swift.
func swiftLiteral(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
        if scalar == "\\" || scalar == "\"" { escaped += "\\" }
        escaped.unicodeScalars.append(scalar)
    }
    // What may not be shown is written as Swift writes it.
    return "\"\(printable(escaped))\""
}

/// A text as a literal of C, and of Objective-C behind an @.
func cLiteral(_ text: String) -> String {
    var escaped = ""
    for scalar in text.unicodeScalars {
        switch scalar {
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

/// A comment in C. Nothing in it ends it, seems to begin another one, or is a trigraph.
func cComment(_ text: String) -> [String] {
    var separated = ""
    for scalar in text.unicodeScalars {
        switch (separated.unicodeScalars.last, scalar) {
        case ("*", "/"), ("/", "*"), ("?", "?"): separated += " "
        default: break
        }
        separated.unicodeScalars.append(scalar)
    }
    let lines = commentLines(separated)
    switch lines.count {
    case 0: return []
    case 1: return ["/* \(lines[0]) */"]
    default: return ["/*"] + lines.map { " *\($0.isEmpty ? "" : " ")\($0)" } + [" */"]
    }
}

private func commentLines(_ text: String) -> [String] {
    let lines = text.split(omittingEmptySubsequences: false, whereSeparator: \.isNewline).map { line in
        printable(String(line.replacing("\t", with: " ").reversed().drop(while: \.isWhitespace).reversed()))
    }
    let isBlank: (String) -> Bool = { $0.allSatisfy(\.isWhitespace) }
    return lines.drop(while: isBlank).reversed().drop(while: isBlank).reversed()
}

/// A text in one line, short enough for the record of a tweak.
func summary(_ text: String?) -> String? {
    let line = (text ?? "").split(whereSeparator: \.isWhitespace).joined(separator: " ")
    return line.isEmpty ? nil : line.count > 500 ? line.prefix(499) + "…" : line
}
