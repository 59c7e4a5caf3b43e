// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakELF

@Suite struct `Files of loaded images` {
    private let binaries: Binaries

    init() throws { binaries = try Binaries() }

    /// What libelf finds in a library; `nil` if that is an error.
    private func found(_ path: String) -> (ranges: [Range<UInt>], buildID: [UInt8]?, header: [UInt8])? {
        var result: (ranges: [Range<UInt>], buildID: [UInt8]?, header: [UInt8])?
        guard let file = try? ELFFile(path: path) else { return nil }
        try? file.forEachObject { (object) throws(ELFError) in
            let ranges = try object.recordRanges().compactMap { range -> Range<UInt>? in
                let (end, overflows) = range.address.addingReportingOverflow(range.size)
                return overflows || range.size == 0 ? nil : UInt(range.address)..<UInt(end)
            }
            result = (ranges, try object.buildID(), file.bytes(at: 0, count: object.headerSize))
        }
        return result
    }

    private func isSource(_ path: String, of buildID: [UInt8]?, header: [UInt8]) -> Bool? {
        LoadedFile(path: path)?.isSource(of: buildID, header: header.span.bytes)
    }

    @Test(arguments: [["-Wl,--build-id"], ["-Wl,--build-id=none"]])
    func `Records are found where libelf finds them, in the file that was loaded`(flags: [String]) throws {
        let library = try binaries.build(["-shared", "-fPIC"] + flags)
        let expected = try #require(found(library))
        #expect(expected.ranges.count == 1)
        #expect(LoadedFile(path: library)?.recordRanges() == expected.ranges)
        #expect(isSource(library, of: expected.buildID, header: expected.header) == true)
        var other = expected.header
        other[24] ^= 1
        #expect(isSource(library, of: expected.buildID, header: other) == (expected.buildID != nil))
        #expect(isSource(library, of: [1, 2, 3], header: expected.header) == false)
        #expect(isSource(library, of: nil, header: Array(expected.header.dropLast())) == false)
    }

    @Test func `Records are found if patchelf has moved the program headers to the end`() throws {
        let library = try binaries.build(["-shared", "-fPIC"])
        let moved = try binaries.copy(of: library) { data in
            let start: Int = data.number(at: 32)
            let count: UInt16 = data.number(at: 56)
            let headers = data[start..<start + 56 * Int(count)]
            data.patch(32, UInt64(data.count))
            data.append(headers)
        }
        #expect(LoadedFile(path: moved)?.recordRanges() == found(library)?.ranges)
    }

    @Test func `Without section headers there is no result`() throws {
        let library = try binaries.build(["-shared", "-fPIC"])
        let stripped = try binaries.copy(of: library) { data in
            var bytes = [UInt8](data)
            ForgedELF.removeSectionHeaders(of: &bytes)
            data = Data(bytes)
        }
        #expect(LoadedFile(path: stripped) != nil)
        #expect(LoadedFile(path: stripped)?.recordRanges() == nil)
    }

    @Test func `Only executables and libraries are read`() throws {
        #expect(try LoadedFile(path: binaries.build(["-c"])) == nil)
        #expect(LoadedFile(path: binaries.source) == nil)
        #expect(LoadedFile(path: "/dev/zero") == nil)
        #expect(LoadedFile(path: "/nowhere") == nil)
    }

    @Test(arguments: [0, 1, 64, 1 << 20, 1 << 40, 1 << 63, .max - 63, .max] as [UInt64])
    func `Any number in the headers gives what libelf finds, or no result`(number: UInt64) throws {
        let whole = try binaries.build(["-shared", "-fPIC"])
        let data = try Data(contentsOf: URL(fileURLWithPath: whole))
        let section = try #require(data.recordSectionHeader())
        for field in Array(stride(from: 16, to: 64 + 56 * 4, by: 2)) + Array(section..<section + 56) {
            let changed = try binaries.copy(of: whole) { $0.patch(field, number) }
            let ranges = LoadedFile(path: changed)?.recordRanges()
            if let ranges, let expected = found(changed)?.ranges {
                #expect(ranges == expected, "at \(field)")
            }
        }
    }
}
