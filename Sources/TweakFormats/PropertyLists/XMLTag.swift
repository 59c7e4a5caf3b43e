/// A tag of an XML property list, as far as it must be known to change the file and leave all else as it is.
struct XMLTag {
    /// What stands between `<` and `>`.
    let content: ArraySlice<UInt8>
    /// How many arrays and dictionaries the tag is in.
    let depth: Int

    /// Calls a function for each tag. Comments, declarations and sections of text are none.
    ///
    /// - Parameter body: Whether to go on.
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
