// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// A hand-written page of a `Settings.bundle`: a property list in XML with an array of specifiers.
package struct PreferencePage {
    /// A specifier to add.
    package struct Item {
        /// The members that identify it.
        let identity: [String: String]
        /// Its other members.
        let others: [String: String]

        /// Creates a specifier from letters and digits.
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
            var members = others
            for (name, value) in identity { members[name] = value }
            return ["<dict>"]
                + members.sorted { $0.key < $1.key }.flatMap {
                    ["\t<key>\($0.key)</key>", "\t<string>\($0.value)</string>"]
                }
                + ["</dict>"]
        }
    }

    private static let key = "PreferenceSpecifiers"

    private let bytes: [UInt8]
    private let path: String
    private let specifiers: [PropertyList]?

    /// Reads a page.
    ///
    /// - Throws: ``FormatError`` if it is malformed.
    package init(_ bytes: [UInt8], path: String) throws(FormatError) {
        guard !bytes.starts(with: BinaryPropertyList.start) else {
            throw .malformed(path: path, reason: "it is a binary property list; one in XML is needed")
        }
        let members = try PropertyList(bytes, path: path).dictionary(path: path)
        switch members[ByteText(Self.key)] {
        case nil: specifiers = nil
        case .array(let array)?: specifiers = array
        case let other?:
            throw .invalid(
                path: path, place: [Self.key], reason: "got \(other.summary), expected an array")
        }
        self.bytes = bytes
        self.path = path
    }

    /// The page with missing items appended. Everything else stays, byte for byte.
    package func adding(_ items: [Item]) throws(FormatError) -> [UInt8] {
        let missing = items.filter { !$0.isPresent(in: specifiers ?? []) }
        guard !missing.isEmpty else { return bytes }
        guard let (range, place) = insertionPoint else {
            throw .malformed(path: path, reason: "the end of its array \(Self.key) was not found")
        }
        // Xcode indents elements of the array by two tabs.
        let content = missing.flatMap { $0.lines }.map { "\t\t\($0)\n" }.joined()
        let member = "\t<key>\(Self.key)</key>\n\t<array>\n\(content)\t</array>\n"
        let text: String =
            switch place {
            case .endOfArray: content.dropFirst() + "\t"
            case .emptyArray: "<array>\n\(content)\t</array>"
            case .endOfDictionary: member
            case .emptyDictionary: "<dict>\n\(member)</dict>"
            }
        var changed = bytes
        changed.replaceSubrange(range, with: text.utf8)
        return changed
    }

    /// The place for new specifiers: the end of their array, or a place for a new array.
    private enum Place {
        case endOfArray, emptyArray, endOfDictionary, emptyDictionary
    }

    /// The range to replace: an empty tag, or the empty range before a closing one.
    private var insertionPoint: (range: Range<Int>, place: Place)? {
        var result: (Range<Int>, Place)?
        var lastKey = ""
        XMLTag.forEach(in: bytes) { tag in
            // `<` and `>` are inside the file.
            let (start, end) = (tag.content.startIndex - 1, tag.content.endIndex + 1)
            let isMember = tag.depth == 1 && lastKey == Self.key
            let isRoot = tag.depth == 0 && specifiers == nil
            switch String(decoding: tag.content, as: UTF8.self) {
            case "key" where tag.depth == 1:
                lastKey = String(decoding: bytes[end...].prefix { $0 != UInt8(ascii: "<") }, as: UTF8.self)
            case "array/" where isMember: result = (start..<end, .emptyArray)
            case "/array" where isMember: result = (start..<start, .endOfArray)
            case "dict/" where isRoot: result = (start..<end, .emptyDictionary)
            case "/dict" where isRoot: result = (start..<start, .endOfDictionary)
            default: break
            }
            return result == nil
        }
        return result
    }
}
