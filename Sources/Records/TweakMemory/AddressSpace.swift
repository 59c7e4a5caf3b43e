package import TweakSystem

/// Memory of a program that can be read from outside: that of a process, or what a core has of it.
package protocol AddressSpace: AnyObject {
    /// What is mapped, by address.
    var regions: [MemoryRegion] { get throws(MemoryError) }
    /// The size of a page.
    var pageSize: UInt64 { get }
    /// Reads as many bytes as the buffer takes.
    ///
    /// - Returns: Whether all of them could be read.
    func read(_ buffer: UnsafeMutableRawBufferPointer, at address: UInt64) -> Bool
    /// A path that leads from here to the file of a region; `nil` if it has none.
    func openPath(of region: MemoryRegion) -> String?
}

/// A part of the memory with the same rights, and what is mapped there.
package struct MemoryRegion: Hashable, Sendable {
    package let addresses: Range<UInt64>
    package let isReadable, isWritable: Bool
    /// Where in the file it begins; 0 if there is none.
    package let fileOffset: UInt64
    /// The file, without the ` (deleted)` of the kernel; `nil` if there is none.
    package let path: String?
    /// What tells the file from others: its device and inode, as the kernel writes them. Empty in a core.
    package let file: String
}

/// Why the memory of a process, or a core, could not be read or written.
package enum MemoryError: ClassifiedError, Hashable {
    /// There is no such process any more.
    case ended
    /// Another program, or another build, is where this one was.
    case replaced
    /// The kernel does not allow it: by which rule, and the ways out.
    case forbidden(String)
    /// The system refused it; the text says why.
    case failed(String)
    /// The file is not a core, or a broken one.
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
        case .ended: "there is no such process any more"
        case .replaced:
            "another program runs in the process by now, or one of its libraries is gone; nothing was changed"
        case .forbidden(let rule): rule
        case .failed(let reason): reason
        case .noCore(let path, let reason): "\(path): not a core: \(reason)"
        case .cannotOpen(let path, let reason): "\(path): \(reason)"
        }
    }
}

extension AddressSpace {
    /// Reads bytes; `nil` if they are not all there, or more than anything that is looked for has.
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

    /// The text that begins at an address; `nil` if it is not there, or has no end within so many bytes.
    package func text(at address: UInt64, limit: Int = mostTextBytes) -> String? {
        // Most are short, and what is behind one need not be mapped: no part reaches into another page.
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

/// Records of an address space beyond that would be a million tweaks, or images made to fill our memory.
package let mostRecordBytes = 256 << 20

/// The same of texts that cells lead to.
let mostBytesOfTexts = 64 << 20

/// The longest text that is followed.
package let mostTextBytes = 64 << 10

extension [MemoryRegion] {
    /// Whether addresses are in regions that follow one another and for which something is so.
    func cover(_ addresses: Range<UInt64>, where isMeant: (MemoryRegion) -> Bool) -> Bool {
        // The first region that ends behind the start.
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
    /// How many addresses there are, which need not be an `Int`.
    var size: UInt64 { upperBound - lowerBound }

    /// The addresses in an image that was moved; `nil` if they are not in order then.
    func moved(by bias: UInt64) -> Range<UInt64>? {
        let (start, end) = (lowerBound &+ bias, upperBound &+ bias)
        return start <= end ? start..<end : nil
    }
}
