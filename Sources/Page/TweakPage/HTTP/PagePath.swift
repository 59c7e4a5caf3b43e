// SPDX-License-Identifier: BSD-3-Clause

/// The path below which the page is served. It begins and ends with a slash.
struct PagePath: Hashable, Sendable {
    static let root = PagePath(text: "/")

    let text: String

    private init(text: String) { self.text = text }

    /// - Returns: `nil` if a segment is empty, goes up, or has characters that URLs encode.
    init?(_ text: String) {
        let segments = text.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        let names = segments.last?.isEmpty == true ? segments.dropLast() : segments
        let isPlain = names.allSatisfy { name in
            !name.isEmpty && name != "." && name != ".." && name.utf8.allSatisfy(Self.isInName)
        }
        guard text.hasPrefix("/"), isPlain else { return nil }
        self.init(text: "/" + names.map { $0 + "/" }.joined())
    }

    /// The rest of a path in the page, with a slash at the beginning; `nil` if it is not below this one.
    func rest(of path: String) -> String? {
        path.hasPrefix(text) ? String(path.utf8.dropFirst(text.utf8.count - 1)) : nil
    }

    /// The relative address of the page from a path that only lacks the slash at the end.
    func address(from path: String) -> String? {
        path + "/" == text ? text.split(separator: "/").last.map { "\($0)/" } : nil
    }

    private static func isInName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "-._~".utf8.contains(byte)
        }
    }
}
