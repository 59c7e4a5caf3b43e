// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
package import TweakRecords

/// Reads the cells of some tweaks repeatedly, with one system call for up to a few thousand: process_vm_readv(2).
///
/// Use it on one thread at a time. *Measured* on the machine of the benchmarks: see `tools/bench memory`.
package final class CellSampler {
    struct Cell {
        /// The address of the record.
        let record: UInt64
        /// Its first eight bytes, which identify the record while they are unchanged.
        let header: UInt64
        let declaration: TweakDeclaration
        let is64Bit: Bool
    }

    /// The bytes read of a record: the first eight, and the cell after them.
    private static let head = 16
    /// Smaller gaps between cells are read, too: copying some bytes is faster than looking up another page.
    private static let widestGap: UInt64 = 1024

    private let process: ProcessMemory
    private let cells: [Cell]
    /// The offset of each head in the buffer.
    private let offsets: [Int]
    private let buffer: UnsafeMutableRawBufferPointer
    private let here, there: [iovec]
    private var raw: [UInt64]
    private var values: [TweakValue?]

    init(_ process: ProcessMemory, _ cells: [Cell]) {
        (self.process, self.cells) = (process, cells)
        var offsets = [Int](repeating: 0, count: cells.count)
        var spans: [(address: UInt64, count: Int)] = []
        var total = 0
        for index in cells.indices.sorted(by: { cells[$0].record < cells[$1].record }) {
            let address = cells[index].record
            if let last = spans.last, address - last.address <= UInt64(last.count) + Self.widestGap {
                // Two cells may be the same.
                let count = max(last.count, Int(address - last.address) + Self.head)
                total += count - last.count
                spans[spans.count - 1].count = count
            } else {
                spans.append((address, Self.head))
                total += Self.head
            }
            // The head is at the end of the last span, unless it overlaps the one before.
            let last = spans[spans.count - 1]
            offsets[index] = total - last.count + Int(address - last.address)
        }
        self.offsets = offsets
        buffer = .allocate(byteCount: max(total, 1), alignment: 8)
        buffer.initializeMemory(as: UInt8.self, repeating: 0)
        var here: [iovec] = []
        var offset = 0
        for span in spans {
            here.append(iovec(iov_base: buffer.baseAddress.map { $0 + offset }, iov_len: span.count))
            offset += span.count
        }
        self.here = here
        there = spans.map {
            iovec(iov_base: UnsafeMutableRawPointer(bitPattern: UInt($0.address)), iov_len: $0.count)
        }
        raw = [UInt64](repeating: 0, count: cells.count)
        values = [TweakValue?](repeating: nil, count: cells.count)
        hasValues = false
    }

    private var hasValues: Bool

    deinit { buffer.deallocate() }

    /// The declarations of the cells, in order.
    package var declarations: [TweakDeclaration] { cells.map(\.declaration) }

    /// The current values, one for each key, each read atomically.
    ///
    /// - Returns: `nil` for strings that could not be read.
    /// - Throws: ``MemoryError/ended`` or ``MemoryError/replaced`` if the tweaks no longer exist.
    package func read() throws(MemoryError) -> [TweakValue?] {
        try readCells()
        for index in cells.indices {
            let bits = bits(index)
            // Unchanged cells need no decoding, because the string at an address never changes.
            if hasValues, bits == raw[index] { continue }
            raw[index] = bits
            values[index] = value(of: cells[index], at: offsets[index] + 8)
        }
        hasValues = true
        return values
    }

    /// Appends the eight bytes of each cell, as this machine loads them. If many values change, this is faster than
    /// ``read()``.
    package func readBits(into words: inout [UInt64]) throws(MemoryError) {
        try readCells()
        for index in cells.indices { words.append(bits(index)) }
    }

    private func bits(_ index: Int) -> UInt64 {
        buffer.loadUnaligned(fromByteOffset: offsets[index] + 8, as: UInt64.self)
    }

    private func readCells() throws(MemoryError) {
        guard !cells.isEmpty else { return try process.checkIdentity() }
        try process.move(here, there, total: buffer.count, isWritten: false)
        for index in cells.indices
        where buffer.loadUnaligned(fromByteOffset: offsets[index], as: UInt64.self) != cells[index].header {
            throw process.hasEnded ? .ended : .replaced
        }
    }

    private func value(of cell: Cell, at offset: Int) -> TweakValue? {
        switch cell.declaration.type {
        case .action: return .nothing
        case .string:
            let address =
                cell.is64Bit
                ? buffer.loadUnaligned(fromByteOffset: offset, as: UInt64.self)
                : UInt64(buffer.loadUnaligned(fromByteOffset: offset, as: UInt32.self))
            return address == 0
                ? cell.declaration.defaultValue : process.text(at: address).map { .string($0) }
        case let type:
            return UnsafeRawBufferPointer(buffer).bytes.value(at: offset, type, .native)
        }
    }
}
