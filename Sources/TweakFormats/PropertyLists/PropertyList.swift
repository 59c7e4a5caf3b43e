internal import FoundationEssentials
internal import Synchronization
internal import TweakRecords

/// A property list, in XML or binary.
///
/// Foundation reads it; what would make that trap or never end is found before. A number without a fraction is always
/// an integer. What a keyed archive has to refer to its objects is an integer in a binary list, and a dictionary with
/// an integer for ``referenceKey`` in XML.
enum PropertyList: Hashable {
    case scalar(TweakValue)
    case data([UInt8])
    case array([PropertyList])
    case dictionary([String: PropertyList])
    /// A date, or nothing.
    case other

    static let referenceKey = "CF-UID"

    /// How many arrays and dictionaries may be inside each other.
    static let deepestNesting = 100

    /// What it is, for the message of an error.
    var summary: String {
        switch self {
        case .scalar(let value): value.quoted
        case .data: "data"
        case .array: "an array"
        case .dictionary: "a dictionary"
        case .other: "a date"
        }
    }

    /// The members of a dictionary; none of anything else.
    subscript(key: String) -> PropertyList? {
        if case .dictionary(let members) = self { members[key] } else { nil }
    }

    /// Whether bytes begin as a list does.
    static func isMeant(by bytes: [UInt8]) -> Bool {
        bytes.starts(with: BinaryPropertyList.start) || bytes.firstVisible == UInt8(ascii: "<")
    }

    /// Reads a file.
    init(_ bytes: [UInt8], path: String) throws(FormatError) {
        var bytes = bytes
        if bytes.starts(with: BinaryPropertyList.start) {
            guard BinaryPropertyList.makeReferencesIntegers(&bytes) else {
                throw .malformed(path: path, reason: "it is no property list: it is damaged")
            }
        } else {
            guard Self.isMeant(by: bytes) else {
                throw .malformed(
                    path: path,
                    reason: "it is no property list: neither XML nor binary, which begins with bplist00")
            }
            guard XMLTag.nesting(in: bytes) <= Self.deepestNesting else {
                throw .malformed(
                    path: path, reason: "more than \(Self.deepestNesting) levels are inside each other")
            }
            XMLTag.renameReferences(in: &bytes)
        }
        let decoder = PropertyListDecoder()
        if let key = CodingUserInfoKey.valueCount { decoder.userInfo[key] = ValueCount(atMost: bytes.count) }
        do {
            self = try decoder.decode(PropertyList.self, from: Data(bytes))
        } catch let error as FormatError {
            throw error
        } catch DecodingError.dataCorrupted(let context) {
            let reason = (context.underlyingError as? CocoaError)?.userInfo["NSDebugDescription"] as? String
            throw .malformed(
                path: path, reason: "it is no property list: \(reason ?? context.debugDescription)")
        } catch {
            throw .malformed(path: path, reason: "it is no property list: \(error)")
        }
    }
}

extension [UInt8] {
    /// The first byte that is neither space nor of a byte order mark.
    var firstVisible: UInt8? { first { !" \t\r\n\u{FEFF}".utf8.contains($0) } }
}

extension PropertyList: Decodable {
    init(from decoder: any Decoder) throws {
        // A binary list may contain itself, or the same list many times.
        let count = CodingUserInfoKey.valueCount.flatMap { decoder.userInfo[$0] as? ValueCount }
        guard decoder.codingPath.count < Self.deepestNesting, count?.increase() != false else {
            throw DecodingError.dataCorrupted(
                DecodingError.Context(codingPath: [], debugDescription: "too much is inside each other"))
        }
        if let members = try? decoder.container(keyedBy: Name.self) {
            var dictionary: [String: PropertyList] = [:]
            for name in members.allKeys {
                dictionary[name.stringValue] = try members.decode(PropertyList.self, forKey: name)
            }
            self = .dictionary(dictionary)
        } else if var elements = try? decoder.unkeyedContainer() {
            var array: [PropertyList] = []
            while !elements.isAtEnd { array.append(try elements.decode(PropertyList.self)) }
            self = .array(array)
        } else {
            self = Self.leaf(try decoder.singleValueContainer())
        }
    }

    private static func leaf(_ container: any SingleValueDecodingContainer) -> PropertyList {
        if let flag = try? container.decode(Bool.self) { return .scalar(.bool(flag)) }
        if let number = try? container.decode(Int64.self) { return .scalar(.integer(Int128(number))) }
        if let number = try? container.decode(UInt64.self) { return .scalar(.integer(Int128(number))) }
        if let number = try? container.decode(Double.self) { return .scalar(.double(number)) }
        if let text = try? container.decode(String.self) { return .scalar(.string(text)) }
        return (try? container.decode(Data.self)).map { .data(Array($0)) } ?? .other
    }

    private struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }
        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

/// How many values of a list have been read. Each value takes a byte of the file at least, unless it is there twice.
private final class ValueCount: Sendable {
    private let remaining: Atomic<Int>
    init(atMost count: Int) { remaining = Atomic(count) }
    func increase() -> Bool { remaining.subtract(1, ordering: .relaxed).newValue >= 0 }
}

extension CodingUserInfoKey {
    fileprivate static var valueCount: CodingUserInfoKey? { CodingUserInfoKey(rawValue: "valueCount") }
}
