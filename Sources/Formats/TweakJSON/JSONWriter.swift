// SPDX-License-Identifier: BSD-3-Clause
package import TweakRecords

/// A type whose values are written as JSON.
package protocol JSONWritable {
    func write(to writer: inout JSONWriter)
}

extension JSONWritable {
    /// The value as JSON.
    ///
    /// - Parameter isPretty: Whether to format it for people, with lines and indentation.
    package func json(isPretty: Bool = false) -> [UInt8] {
        writtenJSON(isPretty: isPretty) { write(to: &$0) }
    }
}

/// The JSON that `body` writes.
///
/// - Parameter isPretty: Whether to format it for people, with lines and indentation.
package func writtenJSON(isPretty: Bool = false, _ body: (inout JSONWriter) -> Void) -> [UInt8] {
    var writer = JSONWriter(isPretty: isPretty)
    body(&writer)
    return writer.bytes
}

/// Writes JSON, with the names of objects sorted by their UTF-8 bytes.
///
/// The layout for people is that of Foundation's `JSONEncoder`, which wrote the files before: two spaces per level,
/// spaces around the colon, and a blank line in empty containers. A number has the fewest digits that are read back as
/// the same value.
package struct JSONWriter {
    private(set) var bytes: [UInt8] = []
    private let isPretty: Bool
    private var depth = 0
    /// Whether the innermost open array or object is empty.
    private var isEmpty = true

    init(isPretty: Bool) { self.isPretty = isPretty }

    // MARK: - Values

    /// Writes a value, recursively: values that were read have at most ``deepestNesting`` levels.
    package mutating func write(_ value: JSONValue) {
        switch value {
        case .null: write("null")
        case .scalar(let value): write(value)
        case .array(let elements): array(count: elements.count) { $0.write(elements[$1]) }
        case .object(let members): write(members) { $0.write($1) }
        }
    }

    package mutating func write(_ value: TweakValue) {
        switch value {
        case .bool(let flag): write(flag ? "true" : "false")
        case .integer(let number): write(number)
        case .double(let number): write(number)
        case .string(let text): write(text: text)
        case .color(let color): write(text: "\(color)")
        case .nothing: write("null")
        }
    }

    private mutating func write(_ number: Int128) {
        // Printing an Int takes a third of the time.
        write(Int(exactly: number)?.description ?? number.description)
    }

    /// Writes a number without a fraction as an integer, and an infinity or NaN, which JSON lacks, as a string.
    private mutating func write(_ number: Double) {
        guard number.isFinite else { return write(text: "\(number)") }
        let text = number.description.utf8
        bytes.append(contentsOf: text.suffix(2).elementsEqual(".0".utf8) ? text.dropLast(2) : text[...])
    }

    // MARK: - Arrays and objects

    /// Writes an array.
    ///
    /// - Parameter item: Writes the element with an index. It does not get the element, which would be copied.
    package mutating func array(count: Int, _ item: (inout JSONWriter, Int) -> Void) {
        begin("[")
        for index in 0..<count {
            next()
            item(&self, index)
        }
        end("]")
    }

    /// Writes an object, its members sorted.
    ///
    /// - Parameter item: Writes a value.
    mutating func write<Value>(_ members: [ByteText: Value], _ item: (inout JSONWriter, Value) -> Void) {
        object { writer in
            for (name, value) in members.sorted(by: { $0.key < $1.key }) {
                writer.name(name.text)
                item(&writer, value)
            }
        }
    }

    /// Writes an object.
    ///
    /// - Parameter body: Writes the names, sorted, each followed by a value.
    package mutating func object(_ body: (inout JSONWriter) -> Void) {
        begin("{")
        body(&self)
        end("}")
    }

    /// Writes the name of a member and a colon.
    package mutating func name(_ name: String) {
        next()
        write(text: name)
        write(isPretty ? " : " : ":")
    }

    /// Writes a member, or nothing if it has no value.
    package mutating func member(_ name: String, _ value: (some JSONWritable)?) {
        guard let value else { return }
        self.name(name)
        value.write(to: &self)
    }

    private mutating func begin(_ start: Unicode.Scalar) {
        bytes.append(UInt8(ascii: start))
        depth += 1
        if isPretty { bytes.append(UInt8(ascii: "\n")) }
        isEmpty = true
    }

    private mutating func next() {
        if !isEmpty {
            bytes.append(UInt8(ascii: ","))
            if isPretty { bytes.append(UInt8(ascii: "\n")) }
        }
        isEmpty = false
        indent()
    }

    private mutating func end(_ end: Unicode.Scalar) {
        depth -= 1
        if isPretty { bytes.append(UInt8(ascii: "\n")) }
        indent()
        bytes.append(UInt8(ascii: end))
        isEmpty = false
    }

    private mutating func indent() {
        guard isPretty else { return }
        bytes.append(contentsOf: repeatElement(UInt8(ascii: " "), count: 2 * depth))
    }

    // MARK: - Texts

    private mutating func write(_ text: String) { bytes.append(contentsOf: text.utf8) }

    /// Writes a string in quotation marks. Only quotation marks, backslashes and the 32 control characters are escaped.
    package mutating func write(text: String) {
        bytes.append(UInt8(ascii: "\""))
        write(content: text)
        bytes.append(UInt8(ascii: "\""))
    }

    /// Writes `Category/Collection/Name` without creating that string.
    package mutating func write(_ key: TweakKey) {
        bytes.append(UInt8(ascii: "\""))
        write(content: TweakKey.escape(key.category))
        bytes.append(UInt8(ascii: "/"))
        write(content: TweakKey.escape(key.collection))
        bytes.append(UInt8(ascii: "/"))
        write(content: TweakKey.escape(key.name))
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func write(content text: String) {
        // `withUTF8` copies the text, which takes as long as the rest.
        if text.utf8.withContiguousStorageIfAvailable({ write(content: $0) }) == nil {
            var text = text
            text.withUTF8 { write(content: $0) }
        }
    }

    private mutating func write(content text: UnsafeBufferPointer<UInt8>) {
        var start = 0
        for index in text.indices {
            let byte = text[index]
            guard byte < 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else { continue }
            // Both are at most `index`, which is valid.
            bytes.append(contentsOf: text[start..<index])
            start = index + 1
            escape(byte)
        }
        bytes.append(contentsOf: text[start...])
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

// MARK: - Values

extension JSONValue: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.write(self) }
}

extension TweakKey: JSONWritable {
    /// Writes `Category/Collection/Name`.
    package func write(to writer: inout JSONWriter) { writer.write(self) }
}

extension String: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.write(text: self) }
}

extension Bool: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.write(.bool(self)) }
}

extension Double: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.write(.double(self)) }
}

extension Int: JSONWritable {}
extension Int32: JSONWritable {}
extension Int64: JSONWritable {}

extension FixedWidthInteger {
    package func write(to writer: inout JSONWriter) { writer.write(.integer(Int128(self))) }
}

extension Array: JSONWritable where Element: JSONWritable {
    package func write(to writer: inout JSONWriter) {
        writer.array(count: count) { self[$1].write(to: &$0) }
    }
}

extension Dictionary: JSONWritable where Key == ByteText, Value: JSONWritable {
    package func write(to writer: inout JSONWriter) { writer.write(self) { $1.write(to: &$0) } }
}

/// Enumerations of texts and the like.
extension JSONWritable where Self: RawRepresentable, RawValue: JSONWritable {
    package func write(to writer: inout JSONWriter) { rawValue.write(to: &writer) }
}
