// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// Reads a property list in XML, in UTF-8.
///
///     <plist version="1.0"><dict><key>mass</key><real>1.5</real></dict></plist>
///
/// The elements are those of Apple's PropertyList-1.0.dtd. Attributes are ignored.
struct XMLPropertyList {
    private let bytes: [UInt8]
    private var position = 0
    /// The open arrays and dictionaries. A stack of our own, because those of the library's threads are small.
    private var containers: [Container] = []
    /// The values read inside them, container by container, and the names of members.
    private var values: [PropertyList] = []
    private var names: [ByteText] = []
    /// The number of values started.
    private var count = 0

    /// An open array or dictionary.
    private struct Container {
        let tag: String
        /// The number of values and names in the enclosing ones.
        let values: Int
        let names: Int

        var isDictionary: Bool { tag == "dict" }
    }

    private struct Tag {
        let name: String
        let isClosing: Bool
        let isEmpty: Bool
    }

    /// Reads a file.
    static func value(of bytes: [UInt8]) throws(PropertyListError) -> PropertyList {
        var reader = XMLPropertyList(bytes: bytes)
        // A byte order mark.
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { reader.position = 3 }
        return try reader.document()
    }

    private init(bytes: [UInt8]) { self.bytes = bytes }

    private mutating func document() throws(PropertyListError) -> PropertyList {
        try skipSpace(inProlog: true)
        var first = try tag()
        let hasPlist = first.name == "plist" && !first.isClosing && !first.isEmpty
        if hasPlist {
            try skipSpace()
            first = try tag()
        }
        let value = try value(beginning: first)
        if hasPlist {
            try skipSpace()
            try close("plist")
        }
        try skipSpace()
        guard next == nil else { throw failure("the end is expected") }
        return value
    }

    /// Reads the value that starts with a tag.
    private mutating func value(beginning first: Tag) throws(PropertyListError) -> PropertyList {
        var tag = first
        while true {
            if let value = tag.isClosing ? try end(tag) : try begin(tag) {
                if containers.isEmpty { return value }
                values.append(value)
            }
            try skipSpace()
            tag = try self.tag()
            guard let container = containers.last, container.isDictionary, !tag.isClosing else { continue }
            guard tag.name == "key" else { throw failure("a key is expected") }
            names.append(ByteText(tag.isEmpty ? "" : try text(of: "key")))
            try skipSpace()
            tag = try self.tag()
            guard !tag.isClosing else { throw failure("a value is expected") }
        }
    }

    /// Reads the content after an opening tag.
    ///
    /// - Returns: The value; `nil` at the start of an array or a dictionary.
    private mutating func begin(_ tag: Tag) throws(PropertyListError) -> PropertyList? {
        count += 1
        guard count <= PropertyList.mostValues else { throw .tooMany }
        switch tag.name {
        case "array" where tag.isEmpty: return .array([])
        case "dict" where tag.isEmpty: return .dictionary([:])
        case "array", "dict":
            guard containers.count < PropertyList.deepestNesting else { throw .tooDeep }
            containers.append(Container(tag: tag.name, values: values.count, names: names.count))
            return nil
        case "true", "false":
            if !tag.isEmpty { try close(tag.name) }
            return .scalar(.bool(tag.name == "true"))
        case "string": return .scalar(.string(tag.isEmpty ? "" : try text(of: tag.name)))
        case "integer", "real", "data", "date":
            let content = tag.isEmpty ? [] : try content(of: tag.name)
            switch tag.name {
            case "integer": return try integer(content)
            case "real": return try real(content)
            case "data": return .data(try data(content))
            default: return .other
            }
        default: throw failure("there is no element \(Self.shown(tag.name))")
        }
    }

    /// Creates the value of the array or dictionary that ends.
    private mutating func end(_ tag: Tag) throws(PropertyListError) -> PropertyList {
        guard let container = containers.popLast(), tag.name == container.tag else {
            throw failure("</\(Self.shown(tag.name))> ends nothing")
        }
        // There are at least as many values and names as when the container started, because reading inside it removes
        // no more than it adds. Each name has a value, because after a key no tag may close anything.
        let value: PropertyList
        if container.isDictionary {
            var members = [ByteText: PropertyList](minimumCapacity: values.count - container.values)
            for (name, member) in zip(names[container.names...], values[container.values...]) {
                members[name] = member
            }
            value = .dictionary(members)
        } else {
            value = .array(Array(values[container.values...]))
        }
        // No slices remain, which would make each end of a dictionary copy everything.
        while values.count > container.values { values.removeLast() }
        while names.count > container.names { names.removeLast() }
        return value
    }

    // MARK: - Leaves

    private func integer(_ content: ArraySlice<UInt8>) throws(PropertyListError) -> PropertyList {
        var digits = String(decoding: content, as: UTF8.self).filter { !$0.isWhitespace }[...]
        let isNegative = digits.hasPrefix("-")
        if isNegative || digits.hasPrefix("+") { digits.removeFirst() }
        let isHexadecimal = digits.hasPrefix("0x") || digits.hasPrefix("0X")
        if isHexadecimal { digits.removeFirst(2) }
        // Int128 would accept a second sign, and Double an exponent.
        guard digits.utf8.allSatisfy({ isHexadecimal ? Self.isHexDigit($0) : Self.isDigit($0) }) else {
            throw failure("an integer is expected")
        }
        if let number = Int128(digits, radix: isHexadecimal ? 16 : 10) {
            // It has no sign, so it is not the smallest number, which cannot be negated.
            let signed = isNegative ? -number : number
            if Int128(Int64.min)...Int128(UInt64.max) ~= signed { return .scalar(.integer(signed)) }
        }
        guard let number = Double((isHexadecimal ? "0x" : "") + digits) else {
            throw failure("an integer is expected")
        }
        guard number.isFinite else {
            throw failure("\(Self.shown(String(digits))) is out of the range of a double")
        }
        return .scalar(.double(isNegative ? -number : number))
    }

    private func real(_ content: ArraySlice<UInt8>) throws(PropertyListError) -> PropertyList {
        let text = String(decoding: content, as: UTF8.self).filter { !$0.isWhitespace }
        // Hexadecimal numbers are not allowed.
        guard !text.utf8.contains(where: { $0 | 0x20 == UInt8(ascii: "x") }), let number = Double(text) else {
            throw failure("a number is expected")
        }
        // Only a named infinity is allowed.
        guard !number.isInfinite || !text.utf8.contains(where: Self.isDigit) else {
            throw failure("\(Self.shown(text)) is out of the range of a double")
        }
        return PropertyList(number)
    }

    /// Decodes Base64 with spaces anywhere.
    private func data(_ content: ArraySlice<UInt8>) throws(PropertyListError) -> [UInt8] {
        let text = String(decoding: content.filter { !Self.isSpace($0) }, as: UTF8.self)
        guard let data = Base64.bytes(of: text) else { throw failure("Base64 is expected") }
        return data
    }

    /// The bytes up to the closing tag, which is consumed.
    private mutating func content(of name: String) throws(PropertyListError) -> ArraySlice<UInt8> {
        let start = position
        while let byte = next, byte != UInt8(ascii: "<") { position += 1 }
        let content = bytes[start..<position]
        try close(name)
        return content
    }

    /// The text up to the closing tag, which is consumed.
    private mutating func text(of name: String) throws(PropertyListError) -> String {
        var text: [UInt8] = []
        while true {
            let start = position
            while let byte = next, byte != UInt8(ascii: "<"), byte != UInt8(ascii: "&") { position += 1 }
            text += bytes[start..<position]
            if next == UInt8(ascii: "&") {
                text += String(try reference()).utf8
            } else if skip("<![CDATA[") {
                text += try skip(through: "]]>")
            } else {
                try close(name)
                guard let text = String(validating: text, as: UTF8.self) else {
                    throw failure("the text is not UTF-8")
                }
                return text
            }
        }
    }

    /// Reads a character reference, such as `&lt;` or `&#x3C;`.
    private mutating func reference() throws(PropertyListError) -> Unicode.Scalar {
        let name = bytes[(position + 1)...].prefix(10).prefix { $0 != UInt8(ascii: ";") }
        guard name.endIndex < bytes.count, bytes[name.endIndex] == UInt8(ascii: ";") else {
            throw failure("no such character")
        }
        let text = String(decoding: name, as: UTF8.self)
        let number =
            text.hasPrefix("#x") ? UInt32(text.dropFirst(2), radix: 16) : UInt32(text.dropFirst(), radix: 10)
        let scalar: Unicode.Scalar? =
            switch text {
            case "lt": "<"
            case "gt": ">"
            case "amp": "&"
            case "apos": "'"
            case "quot": "\""
            default: text.hasPrefix("#") ? number.flatMap(Unicode.Scalar.init) : nil
            }
        guard let scalar else { throw failure("no such character") }
        position = name.endIndex + 1
        return scalar
    }

    // MARK: - Tags

    /// Reads a tag.
    private mutating func tag() throws(PropertyListError) -> Tag {
        guard next == UInt8(ascii: "<") else { throw failure("a tag is expected") }
        let start = position + 1
        guard let end = bytes[start...].firstIndex(of: UInt8(ascii: ">")) else {
            throw failure("the end of a tag is missing")
        }
        // There are bytes at `start` and before `end`, if only `end` itself and the one before `start`.
        let isClosing = bytes[start] == UInt8(ascii: "/")
        let name = bytes[(isClosing ? start + 1 : start)..<end].prefix {
            !Self.isSpace($0) && $0 != UInt8(ascii: "/")
        }
        position = end + 1
        return Tag(
            name: String(decoding: name, as: UTF8.self), isClosing: isClosing,
            isEmpty: !isClosing && bytes[end - 1] == UInt8(ascii: "/"))
    }

    private mutating func close(_ name: String) throws(PropertyListError) {
        let tag = try tag()
        guard tag.isClosing, tag.name == name else { throw failure("</\(name)> is expected") }
    }

    /// Skips spaces, comments and instructions, and in the prolog the document type.
    private mutating func skipSpace(inProlog: Bool = false) throws(PropertyListError) {
        while let byte = next {
            if Self.isSpace(byte) {
                position += 1
            } else if skip("<!--") {
                _ = try skip(through: "-->")
            } else if skip("<?") {
                let content = try skip(through: "?>")
                if inProlog { try checkEncoding(content) }
            } else if inProlog, skip("<!DOCTYPE") {
                let content = try skip(through: ">")
                guard !content.contains(UInt8(ascii: "[")) else {
                    throw failure("an internal document type is not supported")
                }
            } else {
                return
            }
        }
    }

    /// Throws if a declaration names another encoding.
    private func checkEncoding(_ declaration: ArraySlice<UInt8>) throws(PropertyListError) {
        let words = String(decoding: declaration, as: UTF8.self).lowercased()
            .split { $0.isWhitespace || $0 == "=" || $0 == "\"" || $0 == "'" }
        guard words.first == "xml", let place = words.firstIndex(of: "encoding"), words.count > place + 1
        else {
            return
        }
        guard ["utf-8", "us-ascii", "ascii"].contains(words[place + 1]) else {
            throw failure("only UTF-8 is supported")
        }
    }

    // MARK: - Bytes

    private var next: UInt8? { position < bytes.count ? bytes[position] : nil }

    private static func isSpace(_ byte: UInt8) -> Bool {
        byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09
    }

    private static func isDigit(_ byte: UInt8) -> Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        isDigit(byte) || UInt8(ascii: "a")...UInt8(ascii: "f") ~= byte | 0x20
    }

    private mutating func skip(_ text: String) -> Bool {
        guard bytes[position...].starts(with: text.utf8) else { return false }
        position += text.utf8.count
        return true
    }

    /// Skips bytes through a text.
    ///
    /// - Returns: The bytes before the text.
    private mutating func skip(through end: String) throws(PropertyListError) -> ArraySlice<UInt8> {
        let start = position
        while position < bytes.count {
            let content = bytes[start..<position]
            if skip(end) { return content }
            position += 1
        }
        position = start
        throw failure("\(end) is missing")
    }

    /// Text from a file, shortened for a message.
    private static func shown(_ text: String) -> String { text.count <= 40 ? text : text.prefix(40) + "…" }

    private func failure(_ reason: String) -> PropertyListError {
        let line = bytes[..<position].reduce(1) { $0 + ($1 == 0x0A ? 1 : 0) }
        return PropertyListError("line \(line): \(reason)")
    }
}

/// A tag of an XML property list, for editing the file without changing anything else.
struct XMLTag {
    /// The bytes between `<` and `>`.
    let content: ArraySlice<UInt8>
    /// The number of enclosing arrays and dictionaries.
    let depth: Int

    /// Calls a function for each tag, except comments, declarations and CDATA sections.
    ///
    /// - Parameter body: Returns whether to continue.
    static func forEach(in bytes: [UInt8], _ body: (XMLTag) -> Bool) {
        var depth = 0
        var rest = bytes[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(start + 1)...]
            if let other = skipped.first(where: { rest.starts(with: $0.start.utf8) }) {
                rest = rest.dropFirst(other.start.utf8.count)
                while !rest.isEmpty, !rest.starts(with: other.end.utf8) { rest.removeFirst() }
                continue
            }
            guard let end = rest.firstIndex(of: UInt8(ascii: ">")) else { return }
            let content = rest[..<end]
            rest = rest[end...]
            let name = content.drop { $0 == UInt8(ascii: "/") }.prefix {
                $0 > 0x20 && $0 != UInt8(ascii: "/")
            }
            let isContainer = name.elementsEqual("array".utf8) || name.elementsEqual("dict".utf8)
            let isClosing = content.first == UInt8(ascii: "/")
            if isContainer, isClosing { depth -= 1 }
            guard body(XMLTag(content: content, depth: depth)) else { return }
            if isContainer, !isClosing, content.last != UInt8(ascii: "/") { depth += 1 }
        }
    }

    private static let skipped = [
        (start: "!--", end: "-->"), (start: "![CDATA[", end: "]]>"), (start: "?", end: "?>"),
    ]
}
