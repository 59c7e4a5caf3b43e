// SPDX-License-Identifier: BSD-3-Clause
package import TweakFailures
internal import TweakSystem

/// The memory of a program, read from outside: that of a process or of a core.
package protocol AddressSpace: AnyObject {
    /// The mappings, by address.
    var regions: [MemoryRegion] { get throws(MemoryError) }
    /// The size of a page.
    var pageSize: UInt64 { get }
    /// Fills a buffer.
    ///
    /// - Returns: Whether all bytes could be read.
    func read(_ buffer: UnsafeMutableRawBufferPointer, at address: UInt64) -> Bool
    /// A path that opens the file of a region, or `nil`.
    func openPath(of region: MemoryRegion) -> String?
}

/// A mapping with uniform permissions.
package struct MemoryRegion: Hashable, Sendable {
    package let addresses: Range<UInt64>
    package let isReadable, isWritable: Bool
    /// The offset of its start in the file; 0 without a file.
    package let fileOffset: UInt64
    /// The file, without the kernel's ` (deleted)`, or `nil`.
    package let path: String?
    /// The file's identity: device and inode, as the kernel writes them. Empty in a core.
    package let file: String
}

/// An error in reading or writing the memory of a process, or a core.
package enum MemoryError: ClassifiedError, Hashable {
    /// The process no longer exists.
    case ended
    /// Another program or build has replaced this one.
    case replaced
    /// The kernel denies access; the text has the rule and workarounds.
    case forbidden(String)
    /// The system call failed, for the given reason.
    case failed(String)
    /// The file is not a core, or is broken.
    case noCore(path: String, reason: String)
    /// A core cannot be opened.
    case cannotOpen(path: String, reason: String)

    package var kind: FailureKind {
        switch self {
        case .ended, .replaced: .unavailable
        case .forbidden: .forbidden
        case .failed: .system
        case .noCore: .invalid
        case .cannotOpen: .missing
        }
    }
}

extension MemoryError: CustomStringConvertible {
    package var description: String {
        switch self {
        case .ended: "the process no longer exists"
        case .replaced:
            "the process has executed another program or unloaded a library; nothing was changed"
        case .forbidden(let rule): rule
        case .failed(let reason): reason
        case .noCore(let path, let reason): "\(path): not a usable core: \(reason)"
        case .cannotOpen(let path, let reason): "\(path): \(reason)"
        }
    }
}

extension AddressSpace {
    /// Reads bytes; `nil` if they are not all readable, or too many.
    func bytes(at address: UInt64, count: Int) -> [UInt8]? {
        guard count > 0 else { return [] }
        guard count <= mostRecordBytes else { return nil }
        var isRead = false
        let bytes = [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            isRead = read(UnsafeMutableRawBufferPointer(buffer), at: address)
            initialized = isRead ? count : 0
        }
        return isRead ? bytes : nil
    }

    /// The string at an address; `nil` if it is not readable, or not terminated within the limit.
    package func text(at address: UInt64, limit: Int = mostTextBytes) -> String? {
        // Most strings are short, and the memory after one need not be mapped: no read crosses a page.
        var bytes: [UInt8] = []
        var address = address
        while bytes.count < limit {
            let (page, overflows) = (address / 4096).addingReportingOverflow(1)
            let (end, isLast) = page.multipliedReportingOverflow(by: 4096)
            guard !overflows, !isLast else { return nil }
            let count = min(Int(end - address), bytes.isEmpty ? 256 : 4096)
            guard let part = self.bytes(at: address, count: count) else { return nil }
            if let end = part.firstIndex(of: 0) {
                return String(decoding: bytes + part[..<end], as: UTF8.self)
            }
            bytes += part
            address += UInt64(count)
        }
        return nil
    }
}

/// A limit of a million tweaks in an address space, against images made to exhaust memory.
package let mostRecordBytes = 256 << 20

/// The same for the strings that cells point to.
let mostBytesOfTexts = 64 << 20

/// The maximum length of such a string.
package let mostTextBytes = 64 << 10

extension [MemoryRegion] {
    /// The address at which bytes of the file of a region are mapped; `nil` if they are not mapped.
    func address(ofFile region: MemoryRegion, at offset: UInt64, count: Int) -> UInt64? {
        for mapped in self where mapped.path == region.path && mapped.file == region.file {
            guard mapped.fileOffset <= offset, case let start = offset - mapped.fileOffset,
                start <= mapped.addresses.size, UInt64(count) <= mapped.addresses.size - start
            else { continue }
            return mapped.addresses.lowerBound + start
        }
        return nil
    }

    /// Whether addresses lie in contiguous regions that satisfy a condition.
    func cover(_ addresses: Range<UInt64>, where isMeant: (MemoryRegion) -> Bool) -> Bool {
        // The first region that ends after the start.
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].addresses.upperBound > addresses.lowerBound {
                high = middle
            } else {
                low = middle + 1
            }
        }
        var next = addresses.lowerBound
        while next < addresses.upperBound {
            guard low < count, self[low].addresses.lowerBound <= next, isMeant(self[low]) else {
                return false
            }
            next = self[low].addresses.upperBound
            low += 1
        }
        return true
    }
}

extension Range<UInt64> {
    /// The number of addresses, which may exceed an `Int`.
    var size: UInt64 { upperBound - lowerBound }

    /// The addresses in a relocated image; `nil` if they wrap around.
    func moved(by bias: UInt64) -> Range<UInt64>? {
        let (start, end) = (lowerBound &+ bias, upperBound &+ bias)
        return start <= end ? start..<end : nil
    }
}
