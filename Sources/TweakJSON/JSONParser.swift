internal import TweakRecords

/// Reads JSON as RFC 8259 defines it, in UTF-8.
///
/// Foundation's decoder tells neither 1.0 from 1 nor a name that an object has twice, and some text that is nested
/// deeply makes it trap.
package struct JSONParser {
    private let bytes: [UInt8]
    private let allowsRepeatedNames: Bool
    private var position = 0
    /// The arrays and objects that have begun and not ended. They are kept here, as the stacks of the library's threads
    /// are small.
    private var containers: [Container] = []
    /// The values that have been read inside them, one container's after another's, and the names of members.
    private var values: [JSONValue] = []
    private var names: [(text: String, start: Int)] = []

    /// An array or an object that has begun.
    private struct Container {
        let isObject: Bool
        /// How many values and names those around it have.
        let values: Int
        let names: Int

        var end: UInt8 { isObject ? UInt8(ascii: "}") : UInt8(ascii: "]") }
    }

    private init(_ bytes: [UInt8], allowsRepeatedNames: Bool) {
        self.bytes = bytes
        self.allowsRepeatedNames = allowsRepeatedNames
    }

    /// Reads the one value that a file or a text holds.
    ///
    /// - Parameters:
    ///   - bytes: UTF-8, also with a byte order mark.
    ///   - allowsRepeatedNames: Whether an object may have a name twice. The last one counts.
    /// - Throws: ``JSONError`` with the place of a mistake.
    package static func value(
        of bytes: [UInt8], allowsRepeatedNames: Bool = false
    ) throws(JSONError) -> JSONValue {
        var parser = JSONParser(bytes, allowsRepeatedNames: allowsRepeatedNames)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { parser.position = 3 }
        let value = try parser.value()
        guard parser.next == nil else { throw parser.failure("the end is expected") }
        return value
    }

    // MARK: - Values

    private mutating func value() throws(JSONError) -> JSONValue {
        while true {
            skipSpace()
            if next == UInt8(ascii: "{") || next == UInt8(ascii: "[") {
                if try begin() { continue }
            } else {
                values.append(try scalar())
            }
            skipSpace()
            // A value has been read, or there is none in the container that has begun.
            while let container = containers.last, try !goesOn(container) {
                try end(container)
                skipSpace()
            }
            if containers.isEmpty, let value = values.popLast() { return value }
        }
    }

    private mutating func scalar() throws(JSONError) -> JSONValue {
        switch next {
        case UInt8(ascii: "\""): return .scalar(.string(try string()))
        case UInt8(ascii: "t"): return try literal("true", .scalar(true))
        case UInt8(ascii: "f"): return try literal("false", .scalar(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case let byte? where byte == UInt8(ascii: "-") || Self.digits ~= byte: return .scalar(try number())
        default: throw failure("a value is expected")
        }
    }

    /// Reads the beginning of an array or object.
    ///
    /// - Returns: Whether a value comes next.
    private mutating func begin() throws(JSONError) -> Bool {
        guard containers.count < deepestNesting else {
            throw .malformed(reason: "more than \(deepestNesting) levels are inside each other")
        }
        let container = Container(
            isObject: next == UInt8(ascii: "{"), values: values.count, names: names.count)
        containers.append(container)
        position += 1
        skipSpace()
        guard next != container.end else { return false }
        if container.isObject { try name() }
        return true
    }

    /// Reads a comma, and the name of the next member of an object.
    ///
    /// - Returns: Whether it is there.
    private mutating func goesOn(_ container: Container) throws(JSONError) -> Bool {
        guard next == UInt8(ascii: ",") else { return false }
        position += 1
        if container.isObject { try name() }
        return true
    }

    /// Reads the end of an array or object, and makes a value of those inside.
    private mutating func end(_ container: Container) throws(JSONError) {
        guard next == container.end else {
            throw failure("a comma or \(Unicode.Scalar(container.end)) is expected")
        }
        position += 1
        containers.removeLast()
        let value: JSONValue =
            container.isObject ? .object(try object(container)) : .array(Array(values[container.values...]))
        values.removeLast(values.count - container.values)
        names.removeLast(names.count - container.names)
        values.append(value)
    }

    private mutating func object(_ container: Container) throws(JSONError) -> [String: JSONValue] {
        // Made at once, it need not grow.
        var object = [String: JSONValue](minimumCapacity: values.count - container.values)
        for (name, value) in zip(names[container.names...], values[container.values...])
        where object.updateValue(value, forKey: name.text) != nil {
            guard !allowsRepeatedNames else { continue }
            position = name.start
            throw failure("\"\(name.text)\" is here for the second time")
        }
        return object
    }

    /// Reads the name of a member and the colon behind it.
    private mutating func name() throws(JSONError) {
        skipSpace()
        let start = position
        guard next == UInt8(ascii: "\"") else { throw failure("a name in quotation marks is expected") }
        names.append((try string(), start))
        skipSpace()
        guard next == UInt8(ascii: ":") else { throw failure("a colon is expected") }
        position += 1
    }

    private mutating func literal(_ word: String, _ value: JSONValue) throws(JSONError) -> JSONValue {
        guard bytes[position...].starts(with: word.utf8) else { throw failure("a value is expected") }
        position += word.utf8.count
        return value
    }

    private mutating func number() throws(JSONError) -> TweakValue {
        let start = position
        skip { $0 == UInt8(ascii: "-") }
        let firstDigit = next
        let count = skip { Self.digits ~= $0 }
        guard position - count - start <= 1, count == 1 || count > 1 && firstDigit != UInt8(ascii: "0") else {
            position = start
            throw failure("a number has digits, and no zeros before them")
        }
        let end = position
        if next == UInt8(ascii: ".") {
            position += 1
            try digits("behind the point")
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            position += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
            try digits("in the exponent")
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if position == end, let number = Int128(text), Int64.min <= number, number <= UInt64.max {
            return .integer(number)
        }
        guard let number = Double(text), number.isFinite else {
            position = start
            throw failure("the number is too large")
        }
        return .double(number)
    }

    private mutating func digits(_ place: String) throws(JSONError) {
        guard skip({ Self.digits ~= $0 }) > 0 else { throw failure("a digit \(place) is expected") }
    }

    // MARK: - Texts

    private mutating func string() throws(JSONError) -> String {
        position += 1
        var text = ""
        while true {
            let start = position
            var bits: UInt8 = 0
            skip { byte in
                guard byte >= 0x20, byte != UInt8(ascii: "\""), byte != UInt8(ascii: "\\") else {
                    return false
                }
                bits |= byte
                return true
            }
            guard let part = self.text(start..<position, isASCII: bits < 0x80) else {
                throw failure("the text is no UTF-8")
            }
            switch next {
            case UInt8(ascii: "\""):
                position += 1
                return text.isEmpty ? part : text + part
            case UInt8(ascii: "\\"):
                text += part
                text.unicodeScalars.append(try escape())
            case nil: throw failure("a quotation mark is expected")
            default: throw failure("a control character in a text is written as \\u and four digits")
            }
        }
    }

    private func text(_ range: Range<Int>, isASCII: Bool) -> String? {
        // Validating takes several times as long.
        isASCII
            ? String(decoding: bytes[range], as: UTF8.self) : String(validating: bytes[range], as: UTF8.self)
    }

    private mutating func escape() throws(JSONError) -> Unicode.Scalar {
        position += 2
        switch position <= bytes.count ? bytes[position - 1] : 0 {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "u"):
            let unit = try codeUnit()
            guard UTF16.isLeadSurrogate(unit), bytes[position...].starts(with: "\\u".utf8) else {
                if let scalar = Unicode.Scalar(unit) { return scalar }
                throw failure("half of a surrogate pair is no character")
            }
            position += 2
            let trail = try codeUnit()
            guard UTF16.isTrailSurrogate(trail) else {
                throw failure("half of a surrogate pair is no character")
            }
            return UTF16.decode(UTF16.EncodedScalar([unit, trail]))
        default:
            position = min(position, bytes.count)
            throw failure("no such escape: \\ stands before one of \" \\ / b f n r t u")
        }
    }

    private mutating func codeUnit() throws(JSONError) -> UInt16 {
        let digits = bytes[position...].prefix(4)
        guard digits.count == 4, digits.allSatisfy({ Unicode.Scalar($0).properties.isASCIIHexDigit }),
            let unit = UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
        else { throw failure("four hexadecimal digits are expected") }
        position += 4
        return unit
    }

    // MARK: - Bytes

    private static let digits = UInt8(ascii: "0")...UInt8(ascii: "9")

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    @discardableResult
    private mutating func skip(_ isSkipped: (UInt8) -> Bool) -> Int {
        let start = position
        while position < bytes.count, isSkipped(bytes[position]) { position += 1 }
        return position - start
    }

    private mutating func skipSpace() {
        skip { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
    }

    private func failure(_ reason: String) -> JSONError {
        let before = bytes.prefix(position)
        let line = before.reduce(1) { $0 + ($1 == 0x0A ? 1 : 0) }
        let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        let column = String(decoding: before[start...], as: UTF8.self).count + 1
        return .malformed(reason: "it is no JSON: line \(line), column \(column): \(reason)")
    }
}
