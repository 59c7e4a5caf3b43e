// SPDX-License-Identifier: BSD-3-Clause
internal import CTweakSystem
internal import Glibc
internal import TweakSystem

/// The memory of a process, which is neither stopped nor notified: process_vm_readv(2) and process_vm_writev(2).
///
/// A pidfd identifies the process, so a new process with the same id is never mistaken for it. A new program in the
/// same process is detected before writing, see ``MemoryTweaks/set(_:)``.
package final class ProcessMemory: AddressSpace {
    package let pid: Int32
    private let descriptor: CInt
    /// The start time, in clock ticks of the kernel. Source: proc(5).
    package let startTime: String
    package let pageSize = UInt64(max(sysconf(Int32(_SC_PAGESIZE)), 4096))

    /// - Throws: ``MemoryError/ended`` if there is no such process.
    package init(pid: Int32) throws(MemoryError) {
        descriptor = fbtweak__open_process(pid)
        if descriptor < 0, errno != ENOSYS {
            throw errno == ESRCH || errno == EINVAL ? .ended : .failed("pidfd_open: \(systemMessage())")
        }
        self.pid = pid
        startTime = Self.startTime(of: pid) ?? ""
        // With all properties set, the deinitializer closes the descriptor.
        guard !startTime.isEmpty, !hasEnded else { throw .ended }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Whether the process no longer exists.
    package var hasEnded: Bool {
        // Kernels before 5.3 have no pidfd.
        descriptor >= 0 ? fbtweak__process_has_ended(descriptor) : Self.startTime(of: pid) != startTime
    }

    /// The start time of a process, in clock ticks of the kernel. Source: proc(5).
    package static func startTime(of pid: Int32) -> String? {
        statusFields(of: pid)?.dropFirst(19).first
    }

    package var regions: [MemoryRegion] {
        get throws(MemoryError) {
            guard let bytes = readWhole("/proc/\(pid)/maps") else {
                throw errno == EACCES || errno == EPERM
                    ? .forbidden(AccessRule(pid: pid).description) : .ended
            }
            return MemoryRegion.all(inMaps: bytes, of: pid)
        }
    }

    package func openPath(of region: MemoryRegion) -> String? {
        // In a container the path refers to another file.
        region.path.map { "/proc/\(pid)/root" + $0 }
    }

    package func read(_ buffer: UnsafeMutableRawBufferPointer, at address: UInt64) -> Bool {
        var here = iovec(iov_base: buffer.baseAddress, iov_len: buffer.count)
        var there = iovec(iov_base: UnsafeMutableRawPointer(bitPattern: UInt(address)), iov_len: buffer.count)
        return fbtweak__read_process(pid, &here, &there, 1) == buffer.count
    }

    /// Throws unless the memory may be read.
    ///
    /// - Throws: ``MemoryError/forbidden(_:)`` with the rule.
    package func checkAccess() throws(MemoryError) {
        guard let address = try regions.first(where: \.isReadable)?.addresses.lowerBound else { return }
        var byte: UInt8 = 0
        let isRead = withUnsafeMutableBytes(of: &byte) { read($0, at: address) }
        if !isRead { throw error(errno) }
    }

    /// Transfers several ranges, all or none.
    ///
    /// - Parameters:
    ///   - pieces: The addresses in the process, and the buffers here.
    ///   - isWritten: Whether to write to the process.
    func move(_ pieces: [(address: UInt64, bytes: UnsafeMutableRawBufferPointer)], isWritten: Bool)
        throws(MemoryError)
    {
        var total = 0
        var here: [iovec] = []
        var there: [iovec] = []
        here.reserveCapacity(pieces.count)
        there.reserveCapacity(pieces.count)
        for (address, bytes) in pieces {
            here.append(iovec(iov_base: bytes.baseAddress, iov_len: bytes.count))
            there.append(
                iovec(iov_base: UnsafeMutableRawPointer(bitPattern: UInt(address)), iov_len: bytes.count))
            total += bytes.count
        }
        try move(here, there, total: total, isWritten: isWritten)
    }

    /// Transfers several ranges into or from arrays, all or none.
    func move(
        _ pieces: inout [(address: UInt64, bytes: [UInt8])], isWritten: Bool
    ) throws(MemoryError) {
        // One allocation, so that one pointer reaches all of it.
        let buffer = UnsafeMutableRawBufferPointer.allocate(
            byteCount: pieces.reduce(1) { $0 + $1.bytes.count }, alignment: 8)
        defer { buffer.deallocate() }
        var parts: [(address: UInt64, bytes: UnsafeMutableRawBufferPointer)] = []
        var offset = 0
        for piece in pieces {
            let part = UnsafeMutableRawBufferPointer(
                rebasing: buffer[offset..<offset + piece.bytes.count])
            part.copyBytes(from: piece.bytes)
            parts.append((piece.address, part))
            offset += piece.bytes.count
        }
        try move(parts, isWritten: isWritten)
        for (index, part) in parts.enumerated() { pieces[index].bytes = Array(part.bytes) }
    }

    func move(_ here: [iovec], _ there: [iovec], total: Int, isWritten: Bool) throws(MemoryError) {
        let moved =
            isWritten
            ? fbtweak__write_process(pid, here, there, here.count)
            : fbtweak__read_process(pid, here, there, here.count)
        guard moved == total else { throw error(errno) }
    }

    /// Throws unless the process is the one that was opened.
    func checkIdentity() throws(MemoryError) { if hasEnded { throw .ended } }

    private func error(_ number: CInt) -> MemoryError {
        if hasEnded { return .ended }
        return switch number {
        case ESRCH: .ended
        case EPERM, EACCES: .forbidden(AccessRule(pid: pid).description)
        case EFAULT: .replaced
        default: .failed(systemMessage(number))
        }
    }
}

func readText(_ path: String) -> String? { readWhole(path).map { String(decoding: $0, as: UTF8.self) } }

extension MemoryRegion {
    /// Parses /proc/PID/maps. Source: proc(5).
    static func all(inMaps bytes: [UInt8], of pid: Int32) -> [MemoryRegion] {
        var regions: [MemoryRegion] = []
        for line in bytes.split(separator: UInt8(ascii: "\n")) {
            if let region = MemoryRegion(line, of: pid) { regions.append(region) }
        }
        return regions
    }

    /// `55d0c8a00000-55d0c8a01000 r--p 00000000 fe:00 1234    /usr/bin/spring`
    private init?(_ line: ArraySlice<UInt8>, of pid: Int32) {
        let fields = line.split(separator: UInt8(ascii: " "), maxSplits: 5)
        guard fields.count >= 5 else { return nil }
        let ends = fields[0].split(separator: UInt8(ascii: "-"))
        guard ends.count == 2, let start = Self.number(ends[0]), let end = Self.number(ends[1]), start <= end,
            fields[1].count >= 3, let offset = Self.number(fields[2])
        else { return nil }
        addresses = start..<end
        let rights = fields[1].prefix(2)
        (isReadable, isWritable) = (rights.first == UInt8(ascii: "r"), rights.last == UInt8(ascii: "w"))
        fileOffset = offset
        // The path is padded with spaces, and [vdso], [heap] and the like have none.
        let path = fields.count > 5 ? fields[5].drop { $0 == UInt8(ascii: " ") } : []
        guard path.first == UInt8(ascii: "/") else {
            (self.path, file) = (nil, "")
            return
        }
        let inode = String(decoding: fields[4], as: UTF8.self)
        self.path = withoutDeletionMark(Self.unescaped(path)) { name in
            stat(path: "/proc/\(pid)/root" + name).map { "\($0.st_ino)" == inode } ?? false
        }
        file = String(decoding: fields[3] + [UInt8(ascii: ":")] + fields[4], as: UTF8.self)
    }

    private static func number(_ digits: ArraySlice<UInt8>) -> UInt64? {
        guard !digits.isEmpty, digits.count <= 16 else { return nil }
        var number: UInt64 = 0
        for digit in digits {
            switch digit {
            case 0x30...0x39: number = number << 4 | UInt64(digit - 0x30)
            case 0x61...0x66: number = number << 4 | UInt64(digit - 0x61 + 10)
            default: return nil
            }
        }
        return number
    }

    /// The kernel escapes a newline in a path as `\012`.
    private static func unescaped(_ path: ArraySlice<UInt8>) -> String {
        let newline = Array(#"\012"#.utf8)
        guard path.contains(UInt8(ascii: "\\")) else { return String(decoding: path, as: UTF8.self) }
        var text: [UInt8] = []
        var rest = path
        while let byte = rest.first {
            if rest.starts(with: newline) {
                text.append(UInt8(ascii: "\n"))
                rest = rest.dropFirst(newline.count)
            } else {
                text.append(byte)
                rest = rest.dropFirst()
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
