// SPDX-License-Identifier: BSD-3-Clause
import Glibc
import TestSupport
import TweakMemory
import TweakRecords

/// A core with one image that has some tweaks, as the kernel would write it.
struct SyntheticCore {
    static let address: UInt64 = 0x7000_0000_0000
    static let path = "/nowhere/program"

    static let declarations = [
        TweakDeclaration(
            key: TweakKey("Core", "Values", "Count"), type: .int32, defaultValue: 5, minimum: 0, maximum: 10),
        TweakDeclaration(key: TweakKey("Core", "Values", "Ratio"), type: .double, defaultValue: 0.5),
        TweakDeclaration(
            key: TweakKey("Core", "Values", "Mode"), type: .string, defaultValue: "slow",
            choices: [TweakChoice("slow"), TweakChoice("fast")],
            attributes: ["slow", "fast"].map { TweakDeclaration.Attribute(key: "choice", value: $0) }),
    ]

    /// The image, whose bytes are the same in its file and in memory.
    var image: [UInt8] = []
    /// Where its records begin.
    let recordsOffset = 4096
    /// How many bytes of it are in the core.
    var dumped: Int?

    init() {
        var records: [UInt8] = []
        for declaration in Self.declarations { records += declaration.record }
        var header = elfHeader(type: ET_DYN, segments: 2)
        let size = recordsOffset + records.count
        header += segment(PT_LOAD, PF_R | PF_W, offset: 0, address: 0, fileSize: size, memorySize: size)
        header += segment(PT_NOTE, PF_R, offset: 256, address: 256, fileSize: 32, memorySize: 32)
        header += [UInt8](repeating: 0, count: 256 - header.count)
        // The distances are from the fields themselves.
        header += bytes(UInt32(8)) + bytes(UInt32(8)) + bytes(UInt32(1)) + Array("FBTweak\0".utf8)
        header += bytes(Int32(recordsOffset - 276)) + bytes(Int32(size - 280))
        header += [UInt8](repeating: 0, count: recordsOffset - header.count)
        image = header + records
        image += [UInt8](repeating: 0, count: 8192 - image.count)
    }

    /// Puts bytes into the cell of a tweak.
    mutating func set(_ index: Int, _ value: [UInt8]) {
        let before = Self.declarations[..<index].reduce(0) { $0 + $1.record.count }
        let cell = recordsOffset + before + RecordLayout.cellOffset
        image.replaceSubrange(cell..<cell + value.count, with: value)
    }

    var content: [UInt8] {
        var files = bytes(UInt64(1)) + bytes(UInt64(4096))
        files += bytes(Self.address) + bytes(Self.address + UInt64(image.count)) + bytes(UInt64(0))
        files += Array(Self.path.utf8) + [0]
        let notes =
            note(0x4649_4C45, files) + note(NT_AUXV, bytes(UInt64(AT_PHDR)) + bytes(Self.address + 64))
        var core = elfHeader(type: ET_CORE, segments: 2)
        let start = core.count + 2 * 56
        core += segment(PT_NOTE, 0, offset: start, address: 0, fileSize: notes.count, memorySize: 0)
        let dumped = Array(image.prefix(dumped ?? image.count))
        core += segment(
            PT_LOAD, PF_R | PF_W, offset: start + notes.count, address: Self.address, fileSize: dumped.count,
            memorySize: image.count)
        return core + notes + dumped
    }

    /// What is read of a core.
    static func values(of core: [UInt8]) throws(MemoryError) -> [String: TweakValue] {
        let memory = try CoreMemory(bytes: core, path: "core")
        let tweaks = try MemoryTweaks(in: memory, executable: memory.executable)
        var values: [String: TweakValue] = [:]
        for (declaration, value) in tweaks.all() { values[declaration.key.name] = value }
        for image in tweaks.found.images { _ = tweaks.values(in: image) }
        return values
    }
}

func bytes(_ number: some FixedWidthInteger) -> [UInt8] { withUnsafeBytes(of: number) { Array($0) } }

private func elfHeader(type: CInt, segments: Int) -> [UInt8] {
    var header: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, ByteOrder.native == .little ? 1 : 2, 1]
    header += [UInt8](repeating: 0, count: 16 - header.count)
    header += bytes(UInt16(type)) + bytes(UInt16(62)) + bytes(UInt32(1)) + bytes(UInt64(0))
    header += bytes(UInt64(64)) + bytes(UInt64(0)) + bytes(UInt32(0))
    for field in [64, 56, segments, 64, 0, 0] { header += bytes(UInt16(field)) }
    return header
}

private func segment(
    _ type: CInt, _ flags: CInt, offset: Int, address: UInt64, fileSize: Int, memorySize: Int
) -> [UInt8] {
    bytes(UInt32(type)) + bytes(UInt32(flags)) + bytes(UInt64(offset)) + bytes(address) + bytes(address)
        + bytes(UInt64(fileSize)) + bytes(UInt64(memorySize)) + bytes(UInt64(8))
}

private func note(_ type: CInt, _ content: [UInt8]) -> [UInt8] {
    let padded = content + [UInt8](repeating: 0, count: -content.count & 3)
    return bytes(UInt32(5)) + bytes(UInt32(content.count)) + bytes(UInt32(type)) + Array("CORE\0\0\0\0".utf8)
        + padded
}
