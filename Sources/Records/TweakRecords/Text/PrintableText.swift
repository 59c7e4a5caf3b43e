extension String {
    /// The text as it may be shown in one line: what a terminal would take as a command (control characters of both sets,
    /// line separators, changes of the writing direction) is written as `\u{…}`, and so is what stands for bytes that
    /// were not UTF-8.
    package var printable: String {
        // As a rule looking at the bytes is enough, and takes less time.
        guard !utf8.allSatisfy({ 0x20..<0x7F ~= $0 }), unicodeScalars.contains(where: \.isDangerous) else {
            return self
        }
        var escaped = ""
        for scalar in unicodeScalars {
            if scalar.isDangerous {
                escaped += scalar.pathByte.map { "\\x\($0)" } ?? "\\u{\(String(scalar.value, radix: 16))}"
            } else {
                escaped.unicodeScalars.append(scalar)
            }
        }
        return escaped
    }

    /// The text, which holds JSON, as it may be shown: the same with `\u` and four digits, which only texts can hold, and
    /// with its lines.
    package var printableJSON: String {
        guard !utf8.allSatisfy({ 0x20..<0x7F ~= $0 || $0 == 0x0A }),
            unicodeScalars.contains(where: { $0.isDangerous && $0 != "\n" })
        else { return self }
        var escaped = ""
        for scalar in unicodeScalars {
            guard scalar.isDangerous, scalar != "\n" else {
                escaped.unicodeScalars.append(scalar)
                continue
            }
            for unit in String(scalar).utf16 { escaped += "\\u" + unit.digits(4, radix: 16) }
        }
        return escaped
    }
}

extension Unicode.Scalar {
    /// The byte, in hexadecimal digits, for which it stands in a path that is not UTF-8.
    fileprivate var pathByte: String? {
        0x10FE80...0x10FEFF ~= value ? String(value & 0xFF, radix: 16) : nil
    }

    fileprivate var isDangerous: Bool {
        if value < 0x7F { return value < 0x20 }
        // What decoding puts in the place of bytes that are not UTF-8.
        if value == 0xFFFD || pathByte != nil { return true }
        return switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        // Joiners make emoji and Indic and Arabic script; the others can turn the direction of a line.
        case .format: value != 0x200C && value != 0x200D
        default: false
        }
    }
}
