// SPDX-License-Identifier: BSD-3-Clause
import Foundation

/// Writes binary property lists, also such as Foundation does not: with references of a keyed archive, and with objects
/// that are in several places or in themselves.
public struct BinaryPlist: Sendable {
    /// An object. Those inside it are named by their places in the list.
    public enum Object: Sendable {
        case bool(Bool), integer(UInt64), real(Double), text(String), data([UInt8])
        case reference(UInt8)
        case array([Int]), dictionary([(key: Int, value: Int)])
    }

    private let objects: [Object]
    private let top: Int

    /// Makes a list of objects, of which `top` is the root.
    public init(objects: [Object], top: Int = 0) {
        self.objects = objects
        self.top = top
    }

    /// The file.
    public var bytes: [UInt8] {
        var bytes = Array("bplist00".utf8)
        var offsets: [Int] = []
        for object in objects {
            offsets.append(bytes.count)
            bytes += Self.bytes(of: object)
        }
        let table = bytes.count
        bytes += offsets.flatMap { Self.bigEndian(UInt32($0)) }
        bytes += [0, 0, 0, 0, 0, 0, 4, 2]
        bytes += [UInt64(objects.count), UInt64(top), UInt64(table)].flatMap(Self.bigEndian)
        return bytes
    }

    private static func bytes(of object: Object) -> [UInt8] {
        switch object {
        case .bool(let flag): [flag ? 0x09 : 0x08]
        case .integer(let number): [0x13] + bigEndian(number)
        case .real(let number): [0x23] + bigEndian(number.bitPattern)
        case .text(let text): start(0x50, text.utf8.count) + Array(text.utf8)
        case .data(let data): start(0x40, data.count) + data
        case .reference(let index): [0x80, index]
        case .array(let places): start(0xA0, places.count) + places.flatMap { bigEndian(UInt16($0)) }
        case .dictionary(let members):
            start(0xD0, members.count) + members.flatMap { bigEndian(UInt16($0.key)) }
                + members.flatMap { bigEndian(UInt16($0.value)) }
        }
    }

    private static func start(_ kind: UInt8, _ count: Int) -> [UInt8] {
        count < 15 ? [kind | UInt8(count)] : [kind | 15, 0x11] + bigEndian(UInt16(count))
    }

    private static func bigEndian(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.bigEndian) { Array($0) }
    }
}

/// A property list that is written in both formats, to be compared. References are those of a keyed archive.
public indirect enum Plist: Sendable {
    case bool(Bool), integer(UInt64), real(Double), text(String), data([UInt8])
    case reference(UInt8)
    case array([Plist]), dictionary([String: Plist])

    /// In binary.
    public var binary: [UInt8] {
        var objects: [BinaryPlist.Object] = []
        let top = add(to: &objects)
        return BinaryPlist(objects: objects, top: top).bytes
    }

    private func add(to objects: inout [BinaryPlist.Object]) -> Int {
        let object: BinaryPlist.Object =
            switch self {
            case .bool(let value): .bool(value)
            case .integer(let value): .integer(value)
            case .real(let value): .real(value)
            case .text(let value): .text(value)
            case .data(let value): .data(value)
            case .reference(let value): .reference(value)
            case .array(let elements): .array(elements.map { $0.add(to: &objects) })
            case .dictionary(let members):
                .dictionary(
                    members.map { (Plist.text($0.key).add(to: &objects), $0.value.add(to: &objects)) })
            }
        objects.append(object)
        return objects.count - 1
    }

    /// In XML.
    public var xml: [UInt8] {
        Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<plist version=\"1.0\">\(element)</plist>\n".utf8)
    }

    private var element: String {
        switch self {
        case .bool(let value): value ? "<true/>" : "<false/>"
        case .integer(let value): "<integer>\(value)</integer>"
        case .real(let value): "<real>\(value)</real>"
        case .text(let value): "<string>\(value)</string>"
        case .data(let value): "<data>\(Data(value).base64EncodedString())</data>"
        case .reference(let value): "<dict><key>CF$UID</key><integer>\(value)</integer></dict>"
        case .array(let elements): "<array>\(elements.map(\.element).joined())</array>"
        case .dictionary(let members):
            "<dict>\(members.map { "<key>\($0.key)</key>\($0.value.element)" }.joined())</dict>"
        }
    }
}
