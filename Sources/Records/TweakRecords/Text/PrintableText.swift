// SPDX-License-Identifier: BSD-3-Clause
extension String {
    /// The text in a form that is safe to show in one line: anything that a terminal may interpret (control characters
    /// of both sets, line separators, changes of the writing direction) is escaped as `\u{…}`, as are replacements for
    /// bytes that are not UTF-8.
    package var printable: String {
        escaping { $0.pathByte.map { "\\x\($0)" } ?? "\\u{\(String($0.value, radix: 16))}" }
    }

    /// JSON in a form that is safe to show: like ``printable``, but with line breaks, and with JSON's escapes.
    package var printableJSON: String {
        escaping(but: "\n") { String($0).utf16.map { "\\u" + $0.digits(4, radix: 16) }.joined() }
    }

    private func escaping(but kept: Unicode.Scalar? = nil, _ escape: (Unicode.Scalar) -> String) -> String {
        // Checking the bytes usually suffices, and is faster.
        let other = kept.map { UInt8(truncatingIfNeeded: $0.value) } ?? UInt8(ascii: " ")
        let isPlain = utf8.withContiguousStorageIfAvailable { bytes in
            bytes.allSatisfy { 0x20..<0x7F ~= $0 || $0 == other }
        }
        guard isPlain != true else { return self }
        var escaped = ""
        var last: Unicode.Scalar?
        var rest = unicodeScalars[...]
        while let scalar = rest.popFirst() {
            let isInPlace = !scalar.isJoiner || last?.isJoined == true && rest.first?.isJoined == true
            if scalar == kept || isInPlace && !scalar.isDangerous {
                escaped.unicodeScalars.append(scalar)
            } else {
                escaped += escape(scalar)
            }
            last = scalar
        }
        return escaped
    }
}

extension Unicode.Scalar {
    /// The byte, in hexadecimal, that a scalar represents in a path that is not UTF-8.
    fileprivate var pathByte: String? {
        0x10FE80...0x10FEFF ~= value ? String(value & 0xFF, radix: 16) : nil
    }

    /// Joiners form emoji and Indic and Arabic script. Elsewhere they are merely invisible.
    fileprivate var isJoiner: Bool { value == 0x200C || value == 0x200D }

    /// Whether a joiner next to it is visible.
    fileprivate var isJoined: Bool { value > 0x7F && !isJoiner }

    fileprivate var isDangerous: Bool {
        if value < 0x7F { return value < 0x20 }
        // The replacement character of decoders for bytes that are not UTF-8.
        if value == 0xFFFD || pathByte != nil { return true }
        return switch properties.generalCategory {
        case .control, .lineSeparator, .paragraphSeparator: true
        // Most of them can change the direction of a line.
        case .format: !isJoiner
        default: false
        }
    }
}
