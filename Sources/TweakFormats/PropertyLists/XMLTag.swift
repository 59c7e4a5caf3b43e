/// A tag of an XML property list, as far as it must be known before and beside Foundation's decoder.
package struct XMLTag {
    /// What stands between `<` and `>`.
    package let content: ArraySlice<UInt8>
    /// How many arrays and dictionaries the tag is in.
    package let depth: Int

    /// Calls a function for each tag. Comments, declarations and sections of text are none.
    ///
    /// - Parameter body: Whether to go on.
    package static func forEach(in bytes: [UInt8], _ body: (XMLTag) -> Bool) {
        var depth = 0
        var rest = bytes[...]
        while let start = rest.firstIndex(of: UInt8(ascii: "<")) {
            rest = rest[(start + 1)...]
            if let end = skipped.first(where: { rest.starts(with: $0.start.utf8) })?.end {
                while !rest.isEmpty, !rest.starts(with: end.utf8) { rest.removeFirst() }
                continue
            }
            let end = rest.firstIndex(of: UInt8(ascii: ">")) ?? rest.endIndex
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

    /// How many arrays and dictionaries are at most inside each other.
    static func nesting(in bytes: [UInt8]) -> Int {
        var deepest = 0
        forEach(in: bytes) { tag in
            deepest = max(deepest, tag.depth)
            return true
        }
        return deepest
    }

    /// Gives references of a keyed archive a key that Foundation's decoder takes for an ordinary one.
    static func renameReferences(in bytes: inout [UInt8]) {
        let (key, replacement) = ("<key>CF$UID</key>", "<key>\(PropertyList.referenceKey)</key>")
        var position = 0
        while let start = bytes[position...].firstIndex(of: UInt8(ascii: "<")) {
            if bytes[start...].starts(with: key.utf8) {
                bytes.replaceSubrange(start..<start + key.utf8.count, with: replacement.utf8)
            }
            position = start + 1
        }
    }
}
