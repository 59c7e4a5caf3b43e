// SPDX-License-Identifier: BSD-3-Clause
extension String {
    /// The text as one word of a POSIX shell, in single quotes.
    package var shellQuoted: String { "'" + replacingScalar("'", with: "'\\''") + "'" }

    /// The text as a field of comma-separated values (RFC 4180) in one line.
    ///
    /// Line breaks are escaped, because not every program reads multi-line fields. Blanks and semicolons are quoted because
    /// PlotJuggler guesses the separator from the characters outside quotation marks. A text that a spreadsheet would take
    /// for a formula and execute begins with an apostrophe, as spreadsheets themselves mark texts; numbers do not.
    package var csvField: String {
        var text = printable
        // With the wide forms, which spreadsheets take for the others: OWASP, CSV Injection.
        if let first = text.unicodeScalars.first, "=+-@＝＋－＠".unicodeScalars.contains(first),
            Double(text) == nil
        {
            text = "'" + text
        }
        guard text.utf8.contains(where: { "\",; ".utf8.contains($0) }) else { return text }
        return "\"" + text.replacingScalar("\"", with: "\"\"") + "\""
    }

    /// By scalars, because a quotation mark followed by a combining mark is another `Character`.
    private func replacingScalar(_ scalar: Unicode.Scalar, with replacement: String) -> String {
        unicodeScalars.map { $0 == scalar ? replacement : String($0) }.joined()
    }
}

/// The bytes as one word of a bash command line for people: quoted only if necessary, and without invisible characters.
package func shellWord(_ bytes: [UInt8]) -> String {
    let text = String(validating: bytes, as: UTF8.self)
    if let text, !text.isEmpty,
        text.utf8.allSatisfy({ byte in
            UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte || UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte
                || UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte || "_@%+=:,./-".utf8.contains(byte)
        })
    {
        return text
    }
    if let text, text.unicodeScalars.allSatisfy({ !invisible.contains($0.properties.generalCategory) }) {
        return text.shellQuoted
    }
    let escaped = bytes.map { byte in
        switch byte {
        case UInt8(ascii: "'"), UInt8(ascii: "\\"): "\\" + String(UnicodeScalar(byte))
        case 0x20...0x7E: String(UnicodeScalar(byte))
        default: "\\x" + byte.digits(2, radix: 16)
        }
    }
    return "$'" + escaped.joined() + "'"
}

private let invisible: Set<Unicode.GeneralCategory> = [
    .control, .format, .lineSeparator, .paragraphSeparator, .privateUse, .surrogate, .unassigned,
]
