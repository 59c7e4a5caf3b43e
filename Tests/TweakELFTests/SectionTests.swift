// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakELF
import TweakRecords

/// The record of a tweak of a name.
func record(_ name: String) -> [UInt8] {
    TweakDeclaration(key: TweakKey("A", "B", name), type: .int32, defaultValue: 1).record
}

@Suite struct `Sections with records` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func inspect(_ file: ForgedELF) throws -> Inspection {
        try Inspection(home.write("file", Data(file.bytes)))
    }

    /// A library with one section at address 0x1000, in a segment of its size.
    private func library(
        _ change: (inout ForgedELF.Section, inout ForgedELF.Segment) -> Void
    ) -> ForgedELF {
        let bytes = record("One")
        var section = ForgedELF.Section("fbtweak", bytes)
        section.address = 0x1000
        var segment = ForgedELF.Segment(section: 1, address: 0x1000, size: UInt64(bytes.count))
        change(&section, &segment)
        var file = ForgedELF([section])
        file.type = 3
        file.segments = [segment]
        return file
    }

    @Test func `The sections of an object file are read in order`() throws {
        let sections = (0..<5).map { ForgedELF.Section("fbtweak", record("\($0)")) }
        #expect(try inspect(ForgedELF(sections)).names == ["0", "1", "2", "3", "4"])
    }

    @Test func `More than 65,000 sections are read`() throws {
        let sections = (0..<70_000).map { _ in ForgedELF.Section("fbtweak", record("a")) }
        #expect(try inspect(ForgedELF(sections)).names.count == 70_000)
    }

    @Test func `Overlapping sections are an error that names both`() throws {
        let records = (0..<1000).flatMap { record("\($0)") }
        let sections =
            [ForgedELF.Section(".data", [1, 2, 3]), ForgedELF.Section("fbtweak", records)]
            + (0..<2999).map { _ in ForgedELF.Section("fbtweak", nil) }
        let error = #expect(throws: ELFError.self) { try inspect(ForgedELF(sections)) }
        #expect(error?.description.contains("sections 2 and 3, both fbtweak, overlap at offset") == true)
    }

    @Test func `An empty section overlaps no other`() throws {
        let sections = [ForgedELF.Section("fbtweak", []), ForgedELF.Section("fbtweak", record("One"))]
        #expect(try inspect(ForgedELF(sections)).names == ["One"])
    }

    @Test func `The section of a library is read`() throws {
        let file = try inspect(library { _, _ in })
        #expect(file.names == ["One"])
        #expect(file.objects.flatMap(\.unusable) == [])
    }

    @Test(arguments: [
        (flags: UInt64(0x403), reason: "it is thread-local"), (2, "it is not writable"),
        (1, "it is not loaded"),
        (0x803, "it is compressed"), (0, "it is not loaded"),
    ])
    func `A section that cannot hold cells is reported and skipped`(flags: UInt64, reason: String) throws {
        var section = ForgedELF.Section("fbtweak", record("One"))
        section.flags = flags
        for file in [ForgedELF([section]), library { section, _ in section.flags = flags }] {
            let object = try #require(try inspect(file).objects.first)
            #expect(object.tweaks.isEmpty)
            #expect(object.unusable.map(\.description) == ["section 1, fbtweak: \(reason)"])
        }
    }

    enum Place: String, CaseIterable {
        case largerThanTheSegment, beforeTheSegment, behindTheSegment, atTheEndOfAllAddresses
        case inNoLoadedSegment, inNoWritableSegment, atAnOddAddress

        func apply(_ section: inout ForgedELF.Section, _ segment: inout ForgedELF.Segment) {
            switch self {
            case .largerThanTheSegment: segment.size -= 8
            case .beforeTheSegment: section.address -= 8
            case .behindTheSegment: section.address += 8
            case .atTheEndOfAllAddresses: section.address = .max - 7
            case .inNoLoadedSegment: segment.type = 7
            case .inNoWritableSegment: segment.flags = 4
            case .atAnOddAddress:
                (section.address, segment.address) = (section.address + 4, segment.address + 4)
            }
        }
    }

    @Test(arguments: Place.allCases)
    func `A section outside the segments of a library is reported and skipped`(place: Place) throws {
        let object = try #require(try inspect(library(place.apply)).objects.first)
        let reason =
            place == .atAnOddAddress
            ? "its address is not a multiple of 8"
            : "it is not inside a loaded, writable segment"
        #expect(object.tweaks.isEmpty)
        #expect(object.unusable.map(\.description) == ["section 1, fbtweak: \(reason)"])
    }

    @Test func `A name shared by many sections is compared without reading it again`() throws {
        let name = String(repeating: "x", count: 1 << 16)
        let sections =
            (0..<1000).map { _ in ForgedELF.Section(name, []) } + [
                ForgedELF.Section("fbtweak", record("One"))
            ]
        #expect(try inspect(ForgedELF(sections)).names == ["One"])
    }

    @Test func `A longer section name does not match`() throws {
        let sections = ["fbtweaks", "fbtwea", "", "fbtweak.a"].map { ForgedELF.Section($0, record("One")) }
        #expect(try inspect(ForgedELF(sections)).names == [])
    }

    @Test func `Notes shared by many segments are read up to a limit`() throws {
        let note = ForgedELF.little(UInt32(4)) + ForgedELF.little(UInt32(0)) + ForgedELF.little(UInt32(9))
        let notes = (0..<60_000).flatMap { _ in note + Array("abc\0".utf8) }
        var file = ForgedELF([ForgedELF.Section(".note", notes)])
        file.type = 3
        file.segments = (0..<60_000).map { _ in
            var segment = ForgedELF.Segment(section: 1, address: 0, size: UInt64(notes.count))
            segment.type = 4
            return segment
        }
        let object = try #require(try inspect(file).objects.first)
        #expect(object.buildID == nil)
        #expect(object.tweaks.isEmpty)
    }

    /// The name of a library that is `count` times in the dynamic section.
    private func needing(_ name: String, _ count: Int) -> ForgedELF {
        let names: [UInt8] = [0] + Array(name.utf8) + [0]
        // DT_NEEDED, each name one byte shorter than the one before.
        let entries = (0..<count).flatMap { ForgedELF.little(UInt64(1)) + ForgedELF.little(UInt64(1 + $0)) }
        var dynamic = ForgedELF.Section(".dynamic", entries + [UInt8](repeating: 0, count: 16))
        dynamic.type = 6
        dynamic.link = 2
        var strings = ForgedELF.Section(".dynstr", names)
        strings.type = 3
        var file = ForgedELF([dynamic, strings])
        file.type = 3
        return file
    }

    @Test func `Names of libraries may share their ends`() throws {
        let path = try home.write("file", Data(needing("libabc.so.6", 3).bytes))
        #expect(try ELFFile(path: path).neededLibraries().isEmpty)
    }

    @Test func `Names of libraries that are longer than the file are an error`() throws {
        let path = try home.write("file", Data(needing(String(repeating: "x", count: 100_000), 10_000).bytes))
        let error = #expect(throws: ELFError.self) { try ELFFile(path: path).neededLibraries() }
        #expect(error?.description.contains("is unterminated or too long") == true)
    }

    @Test func `Corrupt bytes give a result or an error`() throws {
        let note = Array("FBTweak\0".utf8)
        var notes =
            [8, 8, 1].flatMap { ForgedELF.little(UInt32($0)) } + note + [UInt8](repeating: 0, count: 8)
        notes += [4, 20, 3].flatMap { ForgedELF.little(UInt32($0)) } + Array("GNU\0".utf8) + note + note
        var file = library { _, _ in }
        file.sections.append(ForgedELF.Section(".note", notes))
        var segment = ForgedELF.Segment(section: 2, address: 0x2000, size: UInt64(notes.count))
        segment.type = 4
        file.segments.append(segment)
        for bytes in damaged(file.bytes, count: isLong ? 4000 : 1000)
            + damaged(needing("abc", 3).bytes, count: 300)
        {
            let path = try home.write("file", Data(bytes))
            _ = try? Inspection(path)
            _ = try? ELFFile(path: path).neededLibraries()
        }
    }
}
