// SPDX-License-Identifier: BSD-3-Clause
import TweakMemory
import TweakRecords

/// Reads the input as an executable in the memory of a process, inside an otherwise valid core.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzProcess(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let start, count > 0 else { return 0 }
    let image = Array(UnsafeBufferPointer(start: start, count: count))
    guard let core = try? CoreMemory(bytes: coreBytes(around: image), path: "core") else { return 0 }
    precondition(!core.regions.isEmpty, "the map is read")
    guard let tweaks = try? MemoryTweaks(in: core, executable: path) else { return 0 }
    for image in tweaks.found.images {
        precondition(tweaks.values(in: image).count == image.sections.count)
    }
    for (declaration, _) in tweaks.all() { _ = tweaks.tweak(declaration.key) }
    return 0
}

/// Contains nothing.
private let path = "/nonexistent/program"

/// An x86-64 core with one readable and writable part of memory, and the name of its file: elf(5), and fill_files_note
/// in fs/binfmt_elf.c of Linux.
private func coreBytes(around image: [UInt8]) -> [UInt8] {
    let address: UInt64 = 0x40_0000
    let size = (UInt64(image.count) + 4095) / 4096 * 4096
    var note = little([1, 4096, address, address + size, 0] as [UInt64]) + Array(path.utf8) + [0]
    let contentSize = UInt32(note.count)
    note += [UInt8](repeating: 0, count: (4 - note.count % 4) % 4)
    // NT_FILE, whose name is CORE.
    note = little([5, contentSize, 0x4649_4C45] as [UInt32]) + Array("CORE\0\0\0\0".utf8) + note
    let offset = UInt64(64 + 2 * 56)
    var bytes: [UInt8] = [0x7F, 0x45, 0x4C, 0x46, 2, 1, 1] + [UInt8](repeating: 0, count: 9)
    bytes += little([4, 62] as [UInt16]) + little([1] as [UInt32]) + little([0, 64, 0] as [UInt64])
    bytes += little([0] as [UInt32]) + little([64, 56, 2, 0, 0, 0] as [UInt16])
    bytes +=
        little([4, 0] as [UInt32])
        + little([offset, 0, 0, UInt64(note.count), UInt64(note.count), 4] as [UInt64])
    bytes +=
        little([1, 6] as [UInt32])
        + little([offset + UInt64(note.count), address, 0, UInt64(image.count), size, 4096] as [UInt64])
    return bytes + note + image
}

private func little<Number: FixedWidthInteger>(_ numbers: [Number]) -> [UInt8] {
    numbers.flatMap { number in withUnsafeBytes(of: number.littleEndian) { Array($0) } }
}
