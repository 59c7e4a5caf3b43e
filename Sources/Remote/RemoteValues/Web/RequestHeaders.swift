// SPDX-License-Identifier: BSD-3-Clause
#if Remote
package import TweakFormats
internal import TweakRecords
internal import TweakSystem

/// Headers to add to requests, from a private file with a line `Name: value` for each.
///
/// They may be secrets, so messages name lines, and never quote them.
package struct RequestHeaders: Hashable, Sendable {
    package struct Header: Hashable, Sendable {
        package let name, value: String
    }

    package let all: [Header]

    private static let largestFile = 1 << 16

    /// The headers that describe the connection, or the body that is sent or accepted.
    private static let reserved: Set = [
        "accept-encoding", "connection", "content-encoding", "content-length", "content-type", "expect",
        "host",
        "if-match", "if-modified-since", "if-none-match", "if-range", "if-unmodified-since", "keep-alive",
        "proxy-authorization", "proxy-connection", "range", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// Reads a file.
    ///
    /// - Throws: ``FormatError`` if the file cannot be read, is world-readable, or is malformed.
    package init(path: String) throws(FormatError) {
        try self.init(bytes: try readSecret(path, limit: Self.largestFile), path: path)
    }

    /// - Parameter path: For error messages.
    package init(bytes: [UInt8], path: String) throws(FormatError) {
        guard bytes.count <= Self.largestFile else {
            throw .malformed(path: path, reason: "the file has more than \(Self.largestFile) bytes")
        }
        var all: [Header] = []
        let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (index, line) in lines.enumerated() {
            func malformed(_ reason: String) -> FormatError {
                .malformed(path: path, reason: "line \(index + 1): \(reason)")
            }
            let line = line.last == UInt8(ascii: "\r") ? line.dropLast() : line
            guard !line.isEmpty else { continue }
            let name = line.prefix { $0 != UInt8(ascii: ":") }
            guard name.count < line.count, !name.isEmpty, name.allSatisfy(Self.isInName) else {
                throw malformed("Name: value is expected")
            }
            let value = line.dropFirst(name.count + 1).trimmed { $0 == 0x20 || $0 == 0x09 }
            guard !value.isEmpty, value.allSatisfy({ 0x20..<0x7F ~= $0 || $0 == 0x09 }) else {
                throw malformed("the value is not a text of visible characters of ASCII")
            }
            let header = Header(
                name: String(decoding: name, as: UTF8.self), value: String(decoding: value, as: UTF8.self))
            guard !Self.reserved.contains(header.name.lowercased()) else {
                throw malformed("\(header.name) cannot be set")
            }
            all.append(header)
        }
        guard !all.isEmpty else { throw .malformed(path: path, reason: "the file contains no headers") }
        self.all = all
    }

    /// Returns whether a byte is allowed in names: RFC 9110, section 5.6.2.
    private static func isInName(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}

extension ArraySlice {
    fileprivate func trimmed(_ isSpace: (Element) -> Bool) -> ArraySlice {
        let end = lastIndex { !isSpace($0) }.map { $0 + 1 } ?? startIndex
        return self[..<end].drop(while: isSpace)
    }
}
#endif
