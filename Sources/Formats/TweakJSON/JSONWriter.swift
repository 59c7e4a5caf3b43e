// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// Writes JSON, with the names of objects sorted by their UTF-8 bytes.
///
/// The layout for people is that of Foundation's `JSONEncoder`, which wrote the files before: two spaces per level,
/// spaces around the colon, and a blank line in empty containers. A number has the fewest digits that are read back as
/// the same value.
struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    private let isPretty: Bool
    private var depth = 0

    init(isPretty: Bool) { self.isPretty = isPretty }

    // MARK: - Values

    /// Writes a value, recursively: values that were read have at most ``deepestNesting`` levels.
    mutating func write(_ value: JSONValue) {
        switch value {
        case .null: write("null")
        case .scalar(let value): write(value)
        case .array(let elements): items("[", "]", elements) { $0.write($1) }
        case .object(let members):
            items("{", "}", members.sorted { $0.key < $1.key }) { writer, member in
                writer.name(member.key.text)
                writer.write(member.value)
            }
        }
    }

    private mutating func write(_ value: TweakValue) {
        switch value {
        case .bool(let flag): write(flag ? "true" : "false")
        case .integer(let number): write(number)
        case .double(let number): write(number)
        case .string(let text): writeText(text)
        case .color(let color): writeText("\(color)")
        case .nothing: write("null")
        }
    }

    private mutating func write(_ number: Int128) {
        guard let digit = UInt8(exactly: number), digit < 10 else { return write(number.description) }
        // The fast path for the most frequent numbers.
        bytes.append(UInt8(ascii: "0") + digit)
    }

    /// Writes a number without a fraction as an integer, and an infinity or NaN, which JSON lacks, as a string.
    private mutating func write(_ number: Double) {
        guard number.isFinite else { return writeText("\(number)") }
        let text = number.description
        write(text.utf8.suffix(2).elementsEqual(".0".utf8) ? String(text.dropLast(2)) : text)
    }

    // MARK: - Arrays and objects

    private mutating func items<Items: Collection>(
        _ start: Unicode.Scalar, _ end: Unicode.Scalar, _ items: Items,
        _ item: (inout JSONWriter, Items.Element) -> Void
    ) {
        bytes.append(UInt8(ascii: start))
        depth += 1
        if isPretty { bytes.append(UInt8(ascii: "\n")) }
        var isFirst = true
        for each in items {
            if !isFirst {
                bytes.append(UInt8(ascii: ","))
                if isPretty { bytes.append(UInt8(ascii: "\n")) }
            }
            isFirst = false
            indent()
            item(&self, each)
        }
        depth -= 1
        if isPretty { bytes.append(UInt8(ascii: "\n")) }
        indent()
        bytes.append(UInt8(ascii: end))
    }

    private mutating func indent() {
        guard isPretty else { return }
        for _ in 0..<depth {
            bytes.append(UInt8(ascii: " "))
            bytes.append(UInt8(ascii: " "))
        }
    }

    /// Writes the name of a member and a colon.
    private mutating func name(_ name: String) {
        writeText(name)
        write(isPretty ? " : " : ":")
    }

    // MARK: - Texts

    private mutating func write(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// Writes a string in quotation marks. Only quotation marks, backslashes and the 32 control characters are escaped.
    private mutating func writeText(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        var text = text
        text.withUTF8 { text in
            var start = 0
            for index in text.indices {
                let byte = text[index]
                guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else {
                    continue
                }
                // Both are at most `index`, which is valid.
                bytes.append(contentsOf: text[start..<index])
                start = index + 1
                escape(byte)
            }
            bytes.append(contentsOf: text[start...])
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ byte: UInt8) {
        switch byte {
        case UInt8(ascii: "\""): write("\\\"")
        case UInt8(ascii: "\\"): write("\\\\")
        case 0x08: write("\\b")
        case 0x09: write("\\t")
        case 0x0A: write("\\n")
        case 0x0C: write("\\f")
        case 0x0D: write("\\r")
        default:
            write("\\u" + byte.digits(4, radix: 16))
        }
    }
}

extension JSONValue {
    /// The value as JSON, with sorted names.
    ///
    /// - Parameter isPretty: Whether to format it for people, with lines and indentation.
    package func json(isPretty: Bool = false) -> [UInt8] {
        var writer = JSONWriter(isPretty: isPretty)
        writer.write(self)
        return writer.bytes
    }
}
