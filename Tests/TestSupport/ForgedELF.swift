// SPDX-License-Identifier: BSD-3-Clause
import Foundation

/// Writes ELF files for x86-64 as no compiler would: with sections and segments that share bytes, contradict each other
/// or mean something else than their names say.
public struct ForgedELF: Sendable {
    /// A section header, and what the section holds.
    public struct Section: Sendable {
        /// Its name.
        public var name: String
        /// `SHT_PROGBITS` unless it is said.
        public var type: UInt32 = 1
        /// `SHF_ALLOC` and `SHF_WRITE` unless it is said.
        public var flags: UInt64 = 3
        /// Its address.
        public var address: UInt64 = 0
        /// The number of the section that belongs to it.
        public var link: UInt32 = 0
        /// What it holds; `nil` for the same bytes as the section before.
        public var content: [UInt8]?

        /// Makes a section as a compiler does.
        public init(_ name: String, _ content: [UInt8]?) { (self.name, self.content) = (name, content) }
    }

    /// A program header.
    public struct Segment: Sendable {
        /// `PT_LOAD` unless it is said.
        public var type: UInt32 = 1
        /// `PF_R` and `PF_W` unless it is said.
        public var flags: UInt32 = 6
        /// The number of the section with which it begins, counted from 1.
        public var section: Int
        /// Its address.
        public var address: UInt64
        /// Its size.
        public var size: UInt64

        /// Makes a segment that begins with a section.
        public init(section: Int, address: UInt64, size: UInt64) {
            (self.section, self.address, self.size) = (section, address, size)
        }
    }

    /// What kind of file it is: 1 for an object file, 3 for a library.
    public var type: UInt16 = 1
    /// The sections, the first of which has the number 1.
    public var sections: [Section]
    /// The segments.
    public var segments: [Segment] = []

    /// Makes an object file.
    public init(_ sections: [Section]) { self.sections = sections }

    /// The file.
    public var bytes: [UInt8] {
        var names: [UInt8] = [0]
        var places: [String: Int] = [:]
        var all = sections
        all.append(Section(".shstrtab", nil))
        for section in all where places[section.name] == nil {
            places[section.name] = names.count
            names += Array(section.name.utf8) + [0]
        }
        all[all.count - 1].content = names
        all[all.count - 1].type = 3

        var content: [UInt8] = []
        let start = 64 + 56 * segments.count
        var offsets: [Int] = []
        var sizes: [Int] = []
        for section in all {
            if let bytes = section.content {
                content += [UInt8](repeating: 0, count: (8 - content.count % 8) % 8)
                offsets.append(start + content.count)
                sizes.append(bytes.count)
                content += bytes
            } else {
                offsets.append(offsets.last ?? start)
                sizes.append(sizes.last ?? 0)
            }
        }
        content += [UInt8](repeating: 0, count: (8 - content.count % 8) % 8)
        let table = start + content.count

        let count = all.count + 1
        let isExtended = count >= 0xFF00
        var file: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1, 0] + [UInt8](repeating: 0, count: 8)
        file += Self.little(type) + Self.little(UInt16(62)) + Self.little(UInt32(1)) + Self.little(UInt64(0))
        file +=
            Self.little(UInt64(segments.isEmpty ? 0 : 64)) + Self.little(UInt64(table))
            + Self.little(UInt32(0))
        file += [64, UInt16(segments.isEmpty ? 0 : 56), UInt16(segments.count), 64].flatMap {
            Self.little($0)
        }
        file +=
            Self.little(isExtended ? 0 : UInt16(count)) + Self.little(isExtended ? 0xFFFF : UInt16(count - 1))
        for segment in segments {
            file += Self.little(segment.type) + Self.little(segment.flags)
            file += [
                UInt64(offsets[segment.section - 1]), segment.address, segment.address, segment.size,
                segment.size, 8,
            ].flatMap { Self.little($0) }
        }
        file += content
        file += [UInt8](repeating: 0, count: 32) + Self.little(UInt64(isExtended ? count : 0))
        file += Self.little(UInt32(isExtended ? count - 1 : 0)) + [UInt8](repeating: 0, count: 20)
        for (index, section) in all.enumerated() {
            file += Self.little(UInt32(places[section.name] ?? 0)) + Self.little(section.type)
            file += [section.flags, section.address, UInt64(offsets[index]), UInt64(sizes[index])]
                .flatMap { Self.little($0) }
            file += Self.little(section.link) + Self.little(UInt32(0)) + Self.little(UInt64(8))
            file += Self.little(UInt64(section.type == 6 ? 16 : 0))
        }
        return file
    }

    /// Leaves no section headers in a file, so that its notes tell where its records are.
    public static func removeSectionHeaders(of bytes: inout [UInt8]) {
        // e_shoff, then e_shentsize, e_shnum and e_shstrndx of an Elf64_Ehdr.
        for offset in Array(0x28..<0x30) + Array(0x3A..<0x40) { bytes[offset] = 0 }
    }

    /// A number in the byte order of the file.
    public static func little(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }
}

/// Writes archives, also thin ones, as `ar` does, or as it does not.
public enum ForgedArchive {
    /// An archive of members with their contents.
    public static func bytes(_ members: [(name: String, content: [UInt8])]) -> [UInt8] {
        Array("!<arch>\n".utf8)
            + members.flatMap { member in
                header(member.name + "/", size: member.content.count) + member.content
                    + (member.content.count % 2 == 0 ? [] : [UInt8(ascii: "\n")])
            }
    }

    /// A thin archive of paths. Behind a path may be where in the archive of that path the header of a member begins.
    public static func thin(_ members: [(path: String, origin: Int?)]) -> [UInt8] {
        var names: [UInt8] = []
        var headers: [UInt8] = []
        for (path, origin) in members {
            headers += header("/\(names.count)" + (origin.map { ":\($0)" } ?? ""), size: 1)
            names += Array("\(path)/\n".utf8)
        }
        if names.count % 2 == 1 { names.append(UInt8(ascii: "\n")) }
        return Array("!<thin>\n".utf8) + header("//", size: names.count) + names + headers
    }

    /// The header of a member.
    public static func header(_ name: String, size: Int) -> [UInt8] {
        func field(_ text: String, _ width: Int) -> [UInt8] {
            Array(text.utf8.prefix(width)) + [UInt8](repeating: 0x20, count: max(0, width - text.utf8.count))
        }
        return field(name, 16) + field("0", 12) + field("0", 6) + field("0", 6) + field("644", 8)
            + field("\(size)", 10) + Array("`\n".utf8)
    }
}
