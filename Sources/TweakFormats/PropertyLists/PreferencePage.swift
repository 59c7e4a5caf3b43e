internal import TweakRecords

/// A page of a `Settings.bundle` that a person looks after: a property list in XML with an array of specifiers.
package struct PreferencePage {
    /// A specifier that the page should have.
    package struct Item {
        /// The members by which it is recognized.
        let identity: [String: String]
        /// The others that it gets.
        let others: [String: String]

        /// Makes a specifier of letters and digits.
        package init(identity: [String: String], others: [String: String] = [:]) {
            self.identity = identity
            self.others = others
        }

        fileprivate func isPresent(in specifiers: [PropertyList]) -> Bool {
            specifiers.contains { specifier in
                identity.allSatisfy { specifier[$0.key] == .scalar(.string($0.value)) }
            }
        }

        /// The lines of the specifier.
        fileprivate var lines: [String] {
            let members = identity.merging(others) { own, _ in own }.sorted { $0.key < $1.key }
            return ["<dict>"]
                + members.flatMap { ["\t<key>\($0.key)</key>", "\t<string>\($0.value)</string>"] }
                + ["</dict>"]
        }
    }

    private static let key = "PreferenceSpecifiers"

    private let bytes: [UInt8]
    private let path: String
    private let specifiers: [PropertyList]?

    /// Reads a page.
    ///
    /// - Throws: ``FormatError`` if it is none.
    package init(_ bytes: [UInt8], path: String) throws(FormatError) {
        guard !bytes.starts(with: BinaryPropertyList.start) else {
            throw .malformed(path: path, reason: "it is a binary property list; one in XML is needed")
        }
        let list = try PropertyList(bytes, path: path)
        guard case .dictionary(let members) = list else {
            throw .malformed(path: path, reason: "\(list.summary) is here, but a dictionary is expected")
        }
        switch members[Self.key] {
        case nil: specifiers = nil
        case .array(let array)?: specifiers = array
        case let other?:
            throw .invalid(
                path: path, place: [Self.key], reason: "\(other.summary) is here, but an array is expected")
        }
        self.bytes = bytes
        self.path = path
    }

    /// The page with the items that it does not have yet at its end. All else stays, byte for byte.
    package func adding(_ items: [Item]) throws(FormatError) -> [UInt8] {
        let missing = items.filter { !$0.isPresent(in: specifiers ?? []) }
        guard !missing.isEmpty else { return bytes }
        guard let (range, isOpen) = insertionPoint else {
            throw .malformed(path: path, reason: "where its array \(Self.key) ends is not clear")
        }
        // Two tabs are how far Xcode indents what is in the array.
        let lines = missing.flatMap(\.lines)
        var text = lines.map { "\t\t\($0)\n" }.joined()
        switch (isOpen, specifiers) {
        case (true, _): text = text.dropFirst() + "\t"
        case (false, nil): text = "\t<key>\(Self.key)</key>\n\t<array>\n\(text)\t</array>\n"
        case (false, _): text = "<array>\n\(text)\t</array>"
        }
        var changed = bytes
        changed.replaceSubrange(range, with: text.utf8)
        return changed
    }

    /// What to replace: the empty place before the end of the array, all of an array `<array/>`, or the empty place
    /// before the end of the dictionary if there is no array. Besides, whether the array has a tag of its own for its
    /// end.
    private var insertionPoint: (range: Range<Int>, isOpen: Bool)? {
        var result: (Range<Int>, Bool)?
        var lastKey = ""
        XMLTag.forEach(in: bytes) { tag in
            let (start, end) = (tag.content.startIndex - 1, tag.content.endIndex + 1)
            let isMember = tag.depth == 1 && lastKey == Self.key
            switch String(decoding: tag.content, as: UTF8.self) {
            case "key" where tag.depth == 1:
                lastKey = String(decoding: bytes[end...].prefix { $0 != UInt8(ascii: "<") }, as: UTF8.self)
            case "array/" where isMember: result = (start..<end, false)
            case "/array" where isMember: result = (start..<start, true)
            case "/dict" where tag.depth == 0 && specifiers == nil: result = (start..<start, false)
            default: break
            }
            return result == nil
        }
        return result
    }
}
