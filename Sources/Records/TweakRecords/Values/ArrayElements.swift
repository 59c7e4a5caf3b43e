// SPDX-License-Identifier: BSD-3-Clause
/// An array is a string tweak whose text is a JSON array of numbers or texts, such as `[80, 443]`. The attribute
/// `element` has the type of the elements, and their limits: `int64 min=1 max=65535`.
extension TweakDeclaration {
    /// The type and the limits of an array's elements; `nil` for another tweak.
    package var element: TweakDeclaration? {
        guard type == .string, let words = text(of: "element")?.split(separator: " "), let name = words.first,
            let type = TweakType(String(name)), type.isNumeric || type == .string
        else { return nil }
        let unlimited = TweakDeclaration(key: key, type: type, defaultValue: .nothing)
        var element = unlimited
        for word in words.dropFirst() where type.isNumeric {
            let limit = (try? unlimited.admit(text: String(word.dropFirst(4))))?.value
            if word.hasPrefix("min=") { element.minimum = limit }
            if word.hasPrefix("max=") { element.maximum = limit }
        }
        return element
    }

    /// The attribute of an array with elements that this declares.
    package var elementAttribute: Attribute {
        let limits = (minimum.map { " min=\($0)" } ?? "") + (maximum.map { " max=\($0)" } ?? "")
        return Attribute(key: "element", value: "\(type)\(limits)")
    }

    /// Checks the text of an array. Elements outside the limits are refused, not clamped.
    ///
    /// - Returns: The text with the elements in the form in which they are stored.
    func admit(array text: String, of element: TweakDeclaration) throws(TweakValueError) -> TweakValue {
        let given = TweakValue.string(text).quoted
        guard var elements = TweakValue.elements(of: text) else { throw .wrongType(self, given: given) }
        for index in elements.indices {
            guard let admission = try? element.admit(elements[index]) else {
                throw .wrongType(self, given: given)
            }
            guard !admission.wasClamped else {
                throw .notCalculable(self, given: given, reason: "\(elements[index]) is outside the limits")
            }
            elements[index] = admission.value
        }
        return TweakValue(elements: elements)
    }
}

extension TweakValue {
    /// The text of an array.
    package init(elements: [TweakValue]) {
        var json = ""
        for element in elements {
            json += json.isEmpty ? "[" : ", "
            guard case .string(let text) = element else {
                json += element.description
                continue
            }
            json += "\""
            for scalar in text.unicodeScalars {
                if scalar == "\"" || scalar == "\\" { json += "\\" }
                if scalar.value < 0x20 {
                    json += "\\u" + scalar.value.digits(4, radix: 16)
                } else {
                    json.unicodeScalars.append(scalar)
                }
            }
            json += "\""
        }
        self = .string(json.isEmpty ? "[]" : json + "]")
    }

    /// The numbers and texts of a JSON array; `nil` if the text is not one.
    package static func elements(of text: String) -> [TweakValue]? {
        var reader = ArrayReader(bytes: Array(text.utf8))
        return reader.elements()
    }
}

/// Reads a JSON array of numbers and texts (RFC 8259). The parser of all of JSON is in a module above this one.
private struct ArrayReader {
    let bytes: [UInt8]
    var position = 0

    /// The next byte, or 0, which no JSON contains.
    private var next: UInt8 { position < bytes.count ? bytes[position] : 0 }

    private mutating func take(_ mark: Unicode.Scalar) -> Bool {
        guard next == UInt8(ascii: mark) else { return false }
        position += 1
        return true
    }

    private mutating func takeAfterSpace(_ mark: Unicode.Scalar) -> Bool {
        skipSpace()
        return take(mark)
    }

    private mutating func skipSpace() {
        while next == 0x20 || next == 0x0A || next == 0x0D || next == 0x09 { position += 1 }
    }

    mutating func elements() -> [TweakValue]? {
        guard takeAfterSpace("[") else { return nil }
        var elements: [TweakValue] = []
        if !takeAfterSpace("]") {
            repeat {
                guard let element = takeAfterSpace("\"") ? string() : number() else { return nil }
                elements.append(element)
            } while takeAfterSpace(",")
            guard take("]") else { return nil }
        }
        skipSpace()
        return position == bytes.count ? elements : nil
    }

    private mutating func number() -> TweakValue? {
        let start = position
        _ = take("-")
        let isZero = next == UInt8(ascii: "0")
        let count = skipDigits()
        guard count == 1 || count > 1 && !isZero else { return nil }
        if take("."), skipDigits() == 0 { return nil }
        if take("e") || take("E") {
            if !take("-") { _ = take("+") }
            if skipDigits() == 0 { return nil }
        }
        let text = String(decoding: bytes[start..<position], as: UTF8.self)
        if let integer = Int128(text) { return .integer(integer) }
        return Double(text).map { .double($0) }
    }

    private mutating func skipDigits() -> Int {
        let start = position
        while next >= UInt8(ascii: "0"), next <= UInt8(ascii: "9") { position += 1 }
        return position - start
    }

    /// Reads a text behind its quotation mark.
    private mutating func string() -> TweakValue? {
        var text: [UInt8] = []
        while next >= 0x20 {
            if take("\"") { return .string(String(decoding: text, as: UTF8.self)) }
            if take("\\") {
                guard escape(into: &text) else { return nil }
            } else {
                text.append(next)
                position += 1
            }
        }
        return nil
    }

    /// Reads what follows a backslash.
    private mutating func escape(into text: inout [UInt8]) -> Bool {
        let mark = next
        position += 1
        switch mark {
        case UInt8(ascii: "b"): text.append(0x08)
        case UInt8(ascii: "t"): text.append(0x09)
        case UInt8(ascii: "n"): text.append(0x0A)
        case UInt8(ascii: "f"): text.append(0x0C)
        case UInt8(ascii: "r"): text.append(0x0D)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): text.append(mark)
        case UInt8(ascii: "u"):
            var code = codeUnit()
            if 0xD800..<0xDC00 ~= code {
                guard take("\\"), take("u") else { return false }
                let trail = codeUnit()
                guard 0xDC00..<0xE000 ~= trail else { return false }
                code = 0x10000 + (code - 0xD800) << 10 + (trail - 0xDC00)
            }
            guard let scalar = Unicode.Scalar(code) else { return false }
            text += Array(String(scalar).utf8)
        default: return false
        }
        return true
    }

    /// Reads four hexadecimal digits; without them it returns what is not a scalar.
    private mutating func codeUnit() -> UInt32 {
        var code: UInt32 = 0
        for _ in 0..<4 {
            guard let digit = Character(Unicode.Scalar(next)).hexDigitValue else { return .max }
            code = code << 4 | UInt32(truncatingIfNeeded: digit)
            position += 1
        }
        return code
    }
}
