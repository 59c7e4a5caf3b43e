// SPDX-License-Identifier: BSD-3-Clause
internal import TweakJSON
internal import TweakRecords

/// A streaming JSON parser that tracks the file and the current place, for error messages.
struct PlacedParser {
    private var parser: JSONParser
    private let path: String
    private var place: [String] = []

    /// Reads a file.
    ///
    /// - Parameter body: Reads the value in the file.
    static func read<Result>(
        _ bytes: [UInt8], path: String, _ body: (inout PlacedParser) throws(FormatError) -> Result
    ) throws(FormatError) -> Result {
        var file = PlacedParser(parser: JSONParser(bytes, valueLimit: mostValuesInFile), path: path)
        let result = try body(&file)
        try file.end()
        return result
    }

    private mutating func parse<Result>(
        _ body: (inout JSONParser) throws(JSONError) -> Result
    ) throws(FormatError) -> Result {
        do throws(JSONError) { return try body(&parser) } catch {
            throw .malformed(path: path, reason: error.reason)
        }
    }

    /// Reads an object.
    ///
    /// - Parameters:
    ///   - expectation: The expected value, such as "a feature, an object".
    ///   - body: Reads the value of a member; gets its name.
    mutating func members(
        _ expectation: String, _ body: (inout PlacedParser, String) throws(FormatError) -> Void
    ) throws(FormatError) {
        guard try parse({ (parser) throws(JSONError) in try parser.beginObject() }) else {
            throw try somethingElse(than: expectation)
        }
        while let name = try parse({ (parser) throws(JSONError) in try parser.nextName() }) {
            place.append(name)
            try body(&self, name)
            place.removeLast()
        }
    }

    /// Reads an array.
    ///
    /// - Parameters:
    ///   - expectation: What is expected here, such as "an array of paths".
    ///   - body: Reads an element.
    mutating func elements<Element>(
        _ expectation: String, _ body: (inout PlacedParser) throws(FormatError) -> Element
    ) throws(FormatError) -> [Element] {
        guard try parse({ (parser) throws(JSONError) in try parser.beginArray() }) else {
            throw try somethingElse(than: expectation)
        }
        var elements: [Element] = []
        while try parse({ (parser) throws(JSONError) in try parser.nextElement(isFirst: elements.isEmpty) }) {
            place.append("\(elements.count)")
            elements.append(try body(&self))
            place.removeLast()
        }
        return elements
    }

    /// Reads a value of any kind.
    mutating func value() throws(FormatError) -> JSONValue {
        try parse { (parser) throws(JSONError) in try parser.value() }
    }

    /// Reads text without NUL characters, which would end it in C.
    mutating func text() throws(FormatError) -> String {
        let value = try value()
        return try here.textWithoutNUL(value)
    }

    /// Reads text, if it is next.
    mutating func textIfNext() throws(FormatError) -> String? { parser.isTextNext() ? try text() : nil }

    /// Throws if the text contains a NUL.
    func checkText(_ text: String) throws(FormatError) {
        guard !text.utf8.contains(0) else { throw invalid("the text contains a NUL character") }
    }

    mutating func flag() throws(FormatError) -> Bool {
        let value = try value()
        return try here.flag(value)
    }

    /// The last name of the place, such as that of a feature or a tweak.
    var name: String {
        get throws(FormatError) {
            guard var name = place.last, !name.isEmpty else { throw invalid("a name is empty") }
            let isControl = { (scalar: Unicode.Scalar) in scalar.value < 0x20 || 0x7F..<0xA0 ~= scalar.value }
            // Checking the bytes usually suffices, and is faster.
            let isPrintableASCII = name.withUTF8 { $0.allSatisfy { 0x20..<0x7F ~= $0 } }
            guard isPrintableASCII || !name.unicodeScalars.contains(where: isControl) else {
                throw invalid("a name contains a control character")
            }
            return name
        }
    }

    /// The error for an unexpected value.
    private mutating func somethingElse(than expectation: String) throws(FormatError) -> FormatError {
        let value = try value()
        // If more follows, the file is not JSON, which is reported first.
        if place.isEmpty { try end() }
        return unexpected(value, expectation)
    }

    private mutating func end() throws(FormatError) {
        try parse { (parser) throws(JSONError) in try parser.end() }
    }

    func unexpected(_ value: JSONValue, _ expectation: String) -> FormatError {
        here.unexpected(value, expectation)
    }

    func invalid(_ reason: String) -> FormatError { here.invalid(reason) }

    private var here: JSONPlace<FormatError> { JSONPlace(path: path, names: place) }
}
