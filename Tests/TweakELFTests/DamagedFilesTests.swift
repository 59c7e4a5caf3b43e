// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakELF

/// Files that begin well. What matters is that a reader ends with a result or an error; a trap would end the test run.
@Suite struct `Damaged files` {
    @Test(arguments: [["-c"], ["-shared", "-fPIC"]])
    func `A truncated file is an error or has fewer tweaks`(flags: [String]) throws {
        let binaries = try Binaries()
        let whole = try binaries.build(flags)
        let count = try Data(contentsOf: URL(fileURLWithPath: whole)).count
        for length in Array(1..<min(count, 1200)) + Array(stride(from: 1200, to: count, by: 97)) {
            let cut = try binaries.copy(of: whole) { $0.removeSubrange(length...) }
            let file = try? Inspection(cut)
            #expect((file?.names.count ?? 0) <= 2, "cut off at \(length)")
        }
    }

    @Test func `A file with truncated section headers is an error, not a file without tweaks`() throws {
        let binaries = try Binaries()
        let whole = try binaries.build(["-c"])
        let data = try Data(contentsOf: URL(fileURLWithPath: whole))
        let headers: Int = data.number(at: 40)
        for length in [headers, headers + 1, headers + 64, data.count - 64, data.count - 1] {
            let cut = try binaries.copy(of: whole) { $0.removeSubrange(length...) }
            let error = #expect(throws: ELFError.self, "cut off at \(length)") { try Inspection(cut) }
            #expect(error?.description.contains("section headers at offset") == true)
        }
    }

    @Test func `A truncated archive is an error or has fewer tweaks`() throws {
        let binaries = try Binaries()
        let archive = binaries.directory("lib.a")
        let members = try ["first.o", "second.o"].map { try binaries.build(["-c"], name: $0) }
        #expect(
            try run(Locations.program("ar"), ["rc", archive] + members, home: binaries.directory).succeeded)
        let count = try Data(contentsOf: URL(fileURLWithPath: archive)).count
        for length in stride(from: 1, to: count, by: 13) {
            let cut = try binaries.copy(of: archive) { $0.removeSubrange(length...) }
            let file = try? Inspection(cut)
            #expect((file?.names.count ?? 0) <= 4, "cut off at \(length)")
        }
    }

    @Test(arguments: [UInt64(1) << 20, 1 << 40, 1 << 63, .max])
    func `A section that reaches beyond the file is an error that names it`(number: UInt64) throws {
        let binaries = try Binaries()
        let whole = try binaries.build(["-shared", "-fPIC"])
        let header = try #require(try Data(contentsOf: URL(fileURLWithPath: whole)).recordSectionHeader())
        for field in [24, 32] {  // sh_offset, sh_size
            let changed = try binaries.copy(of: whole) { $0.patch(header + field, number) }
            let error = #expect(throws: ELFError.self) { try Inspection(changed) }
            #expect(error?.description.contains("section fbtweak") == true)
        }
    }

    @Test(arguments: [0, 1, 64, 1 << 20, 1 << 40, 1 << 63, .max - 63, .max] as [UInt64])
    func `Any number in the ELF header gives a result or an error`(number: UInt64) throws {
        let binaries = try Binaries()
        for flags in [["-c"], ["-shared", "-fPIC"]] {
            let whole = try binaries.build(flags)
            for field in 16..<64 {
                let changed = try binaries.copy(of: whole) { data in
                    if field >= 57 {
                        data[field] = UInt8(truncatingIfNeeded: number)
                    } else {
                        data.patch(field, number)
                    }
                }
                _ = try? Inspection(changed)
                _ = try? ELFFile(path: changed).neededLibraries()
            }
        }
    }

    @Test(arguments: [UInt64(0), 1, 1 << 31, 1 << 32, 1 << 63, .max])
    func `A section count in the first section gives a result or an error`(count: UInt64)
        throws
    {
        let binaries = try Binaries()
        let whole = try binaries.build(["-shared", "-fPIC"])
        let changed = try binaries.copy(of: whole) { data in
            data.patch(60, UInt16(0))
            data.patch(data.number(at: 40) + 32, count)
        }
        _ = try? Inspection(changed)
    }

    @Test func `A flipped byte anywhere in the headers gives a result or an error`() throws {
        let binaries = try Binaries()
        let whole = try binaries.build(["-shared", "-fPIC", "-s", "-nostdlib"])
        let data = try Data(contentsOf: URL(fileURLWithPath: whole))
        let sections: Int = data.number(at: 40)
        let programHeaders = 64..<64 + 56 * Int(data.number(at: 56, as: UInt16.self))
        for offset in Array(programHeaders) + Array(sections..<data.count) {
            let changed = try binaries.copy(of: whole) { $0[offset] ^= 0xFF }
            _ = try? Inspection(changed)
            _ = try? ELFFile(path: changed).neededLibraries()
        }
    }

    @Test func `Flipped bytes in the notes give a result or an error`() throws {
        let binaries = try Binaries()
        let whole = try binaries.build(["-shared", "-fPIC", "-s", "-nostdlib"])
        let data = try Data(contentsOf: URL(fileURLWithPath: whole))
        let names = try #require(data.range(of: Data("FBTweak\0".utf8)))
        for offset in names.lowerBound - 64..<names.upperBound + 64 {
            let changed = try binaries.copy(of: whole) { data in
                data[offset] ^= 0xFF
                data.patch(40, UInt64(0))
                data.patch(60, UInt32(0))
            }
            _ = try? Inspection(changed)
        }
    }

    @Test func `Corrupt records are reported and the others read`() throws {
        let binaries = try Binaries()
        let whole = try binaries.build(["-shared", "-fPIC"])
        let changed = try binaries.copy(of: whole) { data in
            guard let header = data.recordSectionHeader() else { return }
            let start: Int = data.number(at: header + 24)
            data.patch(start, UInt32(7))
        }
        let file = try Inspection(changed)
        #expect(file.objects.map(\.recordErrors.count) == [1])
        #expect(file.names == ["One", "Two"])
    }
}
