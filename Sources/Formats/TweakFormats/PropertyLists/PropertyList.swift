// SPDX-License-Identifier: BSD-3-Clause
internal import TweakJSON
internal import TweakRecords

/// A property list, in XML or binary.
///
/// Foundation's decoder is not used: some files make it trap, and features are read in the program's own process. A
/// number without a fraction is always an integer. A reference in a keyed archive is an integer in a binary list, and a
/// dictionary with an integer for ``referenceKey`` in XML.
enum PropertyList: Hashable, Sendable {
    case scalar(TweakValue)
    case data([UInt8])
    case array([PropertyList])
    /// Names are compared by their bytes, like names of tweaks.
    case dictionary([ByteText: PropertyList])
    /// A date, or nothing.
    case other

    static let referenceKey = "CF$UID"

    /// The maximum number of values, including arrays and dictionaries.
    static let mostValues = mostValuesInFile

    /// The maximum depth of arrays and dictionaries.
    static let deepestNesting = 100

    /// A description of the value for error messages.
    var summary: String {
        switch self {
        case .scalar(let value): value.quoted
        case .data: "data"
        case .array: "an array"
        case .dictionary: "a dictionary"
        case .other: "a date"
        }
    }

    /// Returns the members of a dictionary.
    ///
    /// - Parameter path: The path for error messages.
    /// - Throws: ``FormatError`` for anything else.
    func dictionary(path: String) throws(FormatError) -> [ByteText: PropertyList] {
        guard case .dictionary(let members) = self else {
            throw .malformed(path: path, reason: "got \(summary), expected a dictionary")
        }
        return members
    }

    /// A member of a dictionary; `nil` for anything else.
    subscript(key: String) -> PropertyList? {
        if case .dictionary(let members) = self { members[ByteText(key)] } else { nil }
    }

    /// Returns whether bytes start like a property list.
    static func isMeant(by bytes: [UInt8]) -> Bool {
        bytes.starts(with: BinaryPropertyList.start) || bytes.firstVisible == UInt8(ascii: "<")
    }

    /// Reads a file.
    init(_ bytes: [UInt8], path: String) throws(FormatError) {
        do throws(PropertyListError) {
            if bytes.starts(with: BinaryPropertyList.start) {
                self = try BinaryPropertyList.value(of: bytes)
            } else if Self.isMeant(by: bytes) {
                self = try XMLPropertyList.value(of: bytes)
            } else {
                throw PropertyListError("neither XML nor binary, which begins with bplist00")
            }
        } catch {
            throw .malformed(path: path, reason: "it is not a property list: \(error.reason)")
        }
    }

    /// A floating-point number, or an integer if it has no fraction.
    init(_ number: Double) {
        let integer = Int64(exactly: number).map { Int128($0) } ?? UInt64(exactly: number).map { Int128($0) }
        self = .scalar(integer.map { .integer($0) } ?? .double(number))
    }
}

/// The reason why bytes are not a property list.
struct PropertyListError: Error {
    let reason: String

    init(_ reason: String) { self.reason = reason }

    static let tooMany = PropertyListError(
        "it has more than \(PropertyList.mostValues) values, the maximum that is read")

    static let tooDeep = PropertyListError(
        "more than \(PropertyList.deepestNesting) levels are nested")
}

extension [UInt8] {
    /// The first byte that is neither a space nor part of a byte order mark.
    var firstVisible: UInt8? { first { !" \t\r\n\u{FEFF}".utf8.contains($0) } }
}
