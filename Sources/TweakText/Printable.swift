/// A text as it may be shown: what a terminal would take as a command (control characters of both sets, line
/// separators, changes of the writing direction) is written as `\u{…}`.
public func printable(_ text: String) -> String {
    // As a rule looking at the bytes is enough, and takes less time.
    guard !text.utf8.allSatisfy({ 0x20..<0x7F ~= $0 }), text.unicodeScalars.contains(where: \.isDangerous)
    else {
        return text
    }
    var escaped = ""
    for scalar in text.unicodeScalars {
        if scalar.isDangerous {
            escaped += "\\u{\(String(scalar.value, radix: 16))}"
        } else {
            escaped.unicodeScalars.append(scalar)
        }
    }
    return escaped
}

/// JSON as it may be shown: the same with `\u` and four digits, which only texts can hold.
public func printableJSON(_ json: String) -> String {
    guard !json.utf8.allSatisfy({ 0x20..<0x7F ~= $0 || $0 == 0x0A }),
        json.unicodeScalars.contains(where: { $0.isDangerous && $0 != "\n" })
    else { return json }
    var escaped = ""
    for scalar in json.unicodeScalars {
        guard scalar.isDangerous, scalar != "\n" else {
            escaped.unicodeScalars.append(scalar)
            continue
        }
        for unit in String(scalar).utf16 {
            let digits = String(unit, radix: 16)
            escaped += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
        }
    }
    return escaped
}

extension Unicode.Scalar {
    fileprivate var isDangerous: Bool {
        switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        // Joiners make emoji and Indic and Arabic script; the others can turn the direction of a line.
        case .format: value != 0x200C && value != 0x200D
        default: false
        }
    }
}
