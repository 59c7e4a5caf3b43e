// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// A parser for JSON in UTF-8: RFC 8259.
///
/// Foundation's decoder does not distinguish 1.0 from 1, ignores repeated names, treats composed and decomposed letters
/// as the same name, and traps on some deeply nested text.
///
///     let value = try JSONParser.value(of: bytes)
///
/// Or, for a large file, member by member without a value for each object:
///
///     var parser = JSONParser(bytes)
///     guard try parser.beginObject() else { … }
///     while let name = try parser.nextName() { values[name] = try parser.value() }
///     try parser.end()
package struct JSONParser {
    private let bytes: [UInt8]
    private let repeatedNames: RepeatedNames
    private let valueLimit: Int
    /// The remaining number of values.
    private var valuesLeft: Int
    /// Whether to return a number that no double can hold as an infinity, which JSON lacks, so that the caller can
    /// report its place.
    var allowsInfinities = false
    private var position = 0
    /// The open arrays and objects. A stack of our own, because those of the library's threads are small.
    private var containers: [Container] = []
    /// The values read inside them, container by container, and the names of members.
    private var values: [JSONValue] = []
    private var names: [(text: ByteText, start: Int)] = []

    /// The treatment of a name that an object repeats.
    package enum RepeatedNames: Sendable {
        case refused, firstCounts
        /// Objects with the same name are merged, and of other values the last counts. An object and another value are
        /// refused.
        case merged
    }

    /// An open array or object.
    private struct Container {
        let isObject: Bool
        /// The number of values and names in the enclosing ones.
        let values: Int
        let names: Int

        var end: UInt8 { isObject ? UInt8(ascii: "}") : UInt8(ascii: "]") }
    }

    /// Creates a parser for a file or text.
    ///
    /// - Parameters:
    ///   - bytes: UTF-8, with or without a byte order mark.
    ///   - repeatedNames: The treatment of repeated names. If they are allowed, ``nextName()`` returns all of them.
    ///   - valueLimit: The maximum number of values, including objects and arrays.
    package init(_ bytes: [UInt8], repeatedNames: RepeatedNames = .refused, valueLimit: Int = .max) {
        self.bytes = bytes
        self.repeatedNames = repeatedNames
        self.valueLimit = valueLimit
        valuesLeft = valueLimit
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// Parses the value in a file or text.
    ///
    /// - Parameters:
    ///   - bytes: UTF-8, with or without a byte order mark.
    ///   - repeatedNames: The treatment of repeated names.
    ///   - valueLimit: The maximum number of values, including objects and arrays.
    /// - Throws: ``JSONError`` with the place of the mistake.
    package static func value(
        of bytes: [UInt8], repeatedNames: RepeatedNames = .refused, valueLimit: Int = .max
    ) throws(JSONError) -> JSONValue {
        var parser = JSONParser(bytes, repeatedNames: repeatedNames, valueLimit: valueLimit)
        let value = try parser.value()
        try parser.end()
        return value
    }

    // MARK: - Step by step

    /// Reads the start of an object.
    ///
    /// - Returns: `false` if there is none; then nothing is consumed.
    package mutating func beginObject() throws(JSONError) -> Bool {
        guard isNext(UInt8(ascii: "{")) else { return false }
        try enter()
        return true
    }

    /// Reads the start of an array.
    ///
    /// - Returns: `false` if there is none; then nothing is consumed.
    package mutating func beginArray() throws(JSONError) -> Bool {
        guard isNext(UInt8(ascii: "[")) else { return false }
        try enter()
        return true
    }

    /// Reads the name of the next member of the innermost open object; its value comes next.
    ///
    /// - Returns: `nil` at the end of the object, which is consumed.
    package mutating func nextName() throws(JSONError) -> String? {
        skipSpace()
        guard let object = containers.last else { return nil }
        if names.count == object.names, next != object.end {
            try name()
        } else if try !goesOn(object) {
            try checkNames(of: object)
            try leave(object)
            return nil
        }
        return names.last?.text.text
    }

    /// Advances to the next element of the innermost open array.
    ///
    /// - Parameter isFirst: Whether it is the first element.
    /// - Returns: `false` at the end of the array, which is consumed.
    package mutating func nextElement(isFirst: Bool) throws(JSONError) -> Bool {
        skipSpace()
        guard let array = containers.last else { return false }
        if isFirst ? next != array.end : try goesOn(array) { return true }
        try leave(array)
        return false
    }

    /// Returns whether the next value is a string.
    package mutating func isTextNext() -> Bool { isNext(UInt8(ascii: "\"")) }

    /// Throws unless the input is at its end.
    package mutating func end() throws(JSONError) {
        skipSpace()
        guard next == nil else { throw failure("the end is expected") }
    }

    private mutating func checkNames(of object: Container) throws(JSONError) {
        guard repeatedNames == .refused, names.count > object.names + 1 else { return }
        let own = names[object.names...]
        // A few comparisons are faster than hashing.
        let isSmall = own.count < 16
        var known = Set<ByteText>(minimumCapacity: isSmall ? 0 : own.count)
        for (index, name) in own.enumerated() {
            let isRepeated =
                isSmall
                ? own.prefix(index).contains { $0.text == name.text } : !known.insert(name.text).inserted
            if isRepeated { throw repeated(name) }
        }
    }

    // MARK: - Values

    /// Reads the next value, of any kind.
    package mutating func value() throws(JSONError) -> JSONValue {
        let depth = containers.count
        while true {
            skipSpace()
            if next == UInt8(ascii: "{") || next == UInt8(ascii: "[") {
                if try begin() { continue }
            } else {
                values.append(try scalar())
            }
            skipSpace()
            // After a value, or at the end of an empty container.
            while containers.count > depth, let container = containers.last, try !goesOn(container) {
                try end(container)
                skipSpace()
            }
            if containers.count == depth, let value = values.popLast() { return value }
        }
    }

    private mutating func scalar() throws(JSONError) -> JSONValue {
        try countValue()
        switch next {
        case UInt8(ascii: "\""): return .scalar(.string(try string()))
        case UInt8(ascii: "t"): return try literal("true", .scalar(true))
        case UInt8(ascii: "f"): return try literal("false", .scalar(false))
        case UInt8(ascii: "n"): return try literal("null", .null)
        case let byte? where byte == UInt8(ascii: "-") || Self.digits ~= byte: return .scalar(try number())
        default: throw failure("a value is expected")
        }
    }

    private mutating func countValue() throws(JSONError) {
        guard valuesLeft > 0 else {
            throw .malformed(reason: "it has more than \(valueLimit) values, the maximum that is read")
        }
        valuesLeft -= 1
    }

    /// Reads the start of an array or object.
    ///
    /// - Returns: Whether a value follows.
    private mutating func begin() throws(JSONError) -> Bool {
        let container = try enter()
        skipSpace()
        guard next != container.end else { return false }
        if container.isObject { try name() }
        return true
    }

    @discardableResult
    private mutating func enter() throws(JSONError) -> Container {
        guard containers.count < deepestNesting else {
            throw .malformed(reason: "more than \(deepestNesting) levels are nested")
        }
        try countValue()
        let container = Container(
            isObject: next == UInt8(ascii: "{"), values: values.count, names: names.count)
        containers.append(container)
        position += 1
        return container
    }

    /// Reads a comma, and in an object the name of the next member.
    ///
    /// - Returns: `false` if there is no comma.
    private mutating func goesOn(_ container: Container) throws(JSONError) -> Bool {
        guard next == UInt8(ascii: ",") else { return false }
        position += 1
        if container.isObject { try name() }
        return true
    }

    /// Reads the end of an array or object, and creates its value.
    private mutating func end(_ container: Container) throws(JSONError) {
        let value: JSONValue =
            container.isObject ? .object(try object(container)) : .array(Array(values[container.values...]))
        try leave(container)
        values.append(value)
    }

    /// Reads the end of an array or object, and discards its content.
    private mutating func leave(_ container: Container) throws(JSONError) {
        guard next == container.end else {
            throw failure("a comma or \(Unicode.Scalar(container.end)) is expected")
        }
        position += 1
        // The container is the innermost one.
        containers.removeLast()
        // One at a time, because removing an empty range is slower.
        while values.count > container.values { values.removeLast() }
        while names.count > container.names { names.removeLast() }
    }

    private func object(_ container: Container) throws(JSONError) -> JSONObject {
        // With its final capacity it does not grow. There are at least as many values and names as when the object
        // started, because reading inside it removes no more than it adds.
        var object = JSONObject(minimumCapacity: values.count - container.values)
        for (name, value) in zip(names[container.names...], values[container.values...]) {
            guard let other = object.updateValue(value, forKey: name.text) else { continue }
            switch repeatedNames {
            case .refused: throw repeated(name)
            case .firstCounts: object[name.text] = other
            case .merged:
                guard let merged = other.merged(with: value) else { throw repeated(name) }
                object[name.text] = merged
            }
        }
        return object
    }

    private func repeated(_ name: (text: ByteText, start: Int)) -> JSONError {
        failure("\"\(name.text.text)\" is repeated", at: name.start)
    }

    /// Reads the name of a member and the colon after it.
    private mutating func name() throws(JSONError) {
        skipSpace()
        let start = position
        guard next == UInt8(ascii: "\"") else { throw failure("a name in quotation marks is expected") }
        names.append((ByteText(try string()), start))
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
            throw failure("a number has digits, without leading zeros")
        }
        let end = position
        if next == UInt8(ascii: ".") {
            position += 1
            try digits("after the point")
        }
        if next == UInt8(ascii: "e") || next == UInt8(ascii: "E") {
            position += 1
            if next == UInt8(ascii: "+") || next == UInt8(ascii: "-") { position += 1 }
            try digits("in the exponent")
        }
        // The fast path for up to 18 digits, which fit into 64 bits.
        if position == end, count <= 18 {
            let number = bytes[(end - count)..<end].reduce(0) { 10 * $0 + Int64($1 - UInt8(ascii: "0")) }
            return .integer(Int128(end - start > count ? -number : number))
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if position == end, let number = Int128(text), Int64.min <= number, number <= UInt64.max {
            return .integer(number)
        }
        guard let number = Double(text), number.isFinite || allowsInfinities else {
            position = start
            throw failure(outOfRange(text))
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
                throw failure("the text is not UTF-8")
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
        // Moves past the escaped character; after a backslash at the very end that is one too far, which `default`
        // undoes.
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
                throw failure("half of a surrogate pair is not a character")
            }
            position += 2
            let trail = try codeUnit()
            guard UTF16.isTrailSurrogate(trail) else {
                throw failure("half of a surrogate pair is not a character")
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

    private mutating func isNext(_ byte: UInt8) -> Bool {
        skipSpace()
        return next == byte
    }

    @discardableResult
    private mutating func skip(_ isSkipped: (UInt8) -> Bool) -> Int {
        // In a local variable, which can be in a register.
        var end = position
        while end < bytes.count, isSkipped(bytes[end]) { end += 1 }
        defer { position = end }
        return end - position
    }

    private mutating func skipSpace() {
        skip { $0 == 0x20 || $0 == 0x0A || $0 == 0x0D || $0 == 0x09 }
    }

    private func failure(_ reason: String, at position: Int? = nil) -> JSONError {
        let before = bytes.prefix(position ?? self.position)
        let line = before.reduce(1) { $0 + ($1 == 0x0A ? 1 : 0) }
        let start = before.lastIndex(of: 0x0A).map { $0 + 1 } ?? 0
        let column = String(decoding: before[start...], as: UTF8.self).count + 1
        return .malformed(reason: "it is not JSON: line \(line), column \(column): \(reason)")
    }
}
