// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
package import TweakRecords

/// Reads the cells of some tweaks repeatedly, with one system call for up to a few thousand: process_vm_readv(2).
///
/// Use it on one thread at a time. *Measured* on the machine of the benchmarks: see `tools/bench memory`.
package final class CellSampler {
    struct Cell {
        /// The address of the first byte to read: that of a record or of a variable.
        fileprivate let start: UInt64
        /// The first eight bytes of a record, which identify it while they are unchanged; `nil` for a variable.
        fileprivate let header: UInt64?
        fileprivate let declaration: TweakDeclaration
        fileprivate let is64Bit: Bool
        /// The number of bytes of the value.
        fileprivate let valueCount: Int

        /// The number of bytes to read. Of a record, these are the first eight, and the cell after them.
        fileprivate var count: Int { valueOffset + valueCount }
        fileprivate var valueOffset: Int { header == nil ? 0 : RecordLayout.cellOffset }

        init(record: UInt64, header: UInt64, declaration: TweakDeclaration, is64Bit: Bool) {
            (start, self.header, valueCount) = (record, header, 8)
            (self.declaration, self.is64Bit) = (declaration, is64Bit)
        }

        init(variable: UInt64, count: Int, declaration: TweakDeclaration, is64Bit: Bool) {
            (start, header, valueCount) = (variable, nil, count)
            (self.declaration, self.is64Bit) = (declaration, is64Bit)
        }
    }

    private struct Place {
        /// The offsets of the first byte and of the value.
        let start, value: Int
        let header: UInt64?
        /// The bits of the eight bytes at the value that belong to others.
        let otherBits: UInt64
    }

    /// Smaller gaps between cells are read, too: copying some bytes is faster than looking up another page.
    private static let widestGap: UInt64 = 1024

    private let process: ProcessMemory
    private let cells: [Cell]
    private let images: [LoadedImage]
    /// Where each cell is in the buffer. Reading touches no declaration, because copying one counts references.
    private let places: [Place]
    private let buffer: UnsafeMutableRawBufferPointer
    /// The bytes that are read.
    private let byteCount: Int
    private let here, there: [iovec]
    private var raw: [UInt64]
    private var values: [TweakValue?]

    /// - Parameter images: The images that variables are in. Their build ids show that they are still there.
    init(_ process: ProcessMemory, _ cells: [Cell], in images: [LoadedImage] = []) {
        (self.process, self.cells, self.images) = (process, cells, images)
        var offsets = [Int](repeating: 0, count: cells.count)
        var spans: [(address: UInt64, count: Int)] = []
        var total = 0
        for index in cells.indices.sorted(by: { cells[$0].start < cells[$1].start }) {
            let (address, size) = (cells[index].start, cells[index].count)
            if let last = spans.last, address - last.address <= UInt64(last.count) + Self.widestGap {
                // Two cells may be the same.
                let count = max(last.count, Int(address - last.address) + size)
                total += count - last.count
                spans[spans.count - 1].count = count
            } else {
                spans.append((address, size))
                total += size
            }
            // The cell is at the end of the last span, unless it overlaps the one before.
            let last = spans[spans.count - 1]
            offsets[index] = total - last.count + Int(address - last.address)
        }
        places = zip(cells, offsets).map { cell, offset in
            Place(
                start: offset, value: offset + cell.valueOffset, header: cell.header,
                otherBits: 64 - 8 * UInt64(cell.valueCount))
        }
        byteCount = total
        // The last value may be loaded as eight bytes.
        buffer = .allocate(byteCount: total + 8, alignment: 8)
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
            values[index] = value(of: cells[index], at: places[index].value)
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
        let place = places[index]
        let bits = buffer.loadUnaligned(fromByteOffset: place.value, as: UInt64.self)
        // Behind a variable others follow. The bytes in memory come first, whatever their order is.
        let others = place.otherBits
        return ByteOrder.native == .little ? (bits << others) >> others : (bits >> others) << others
    }

    private func readCells() throws(MemoryError) {
        guard !cells.isEmpty else { return try process.checkIdentity() }
        try process.move(here, there, total: byteCount, isWritten: false)
        for image in images where !image.isIn(process) { throw process.hasEnded ? .ended : .replaced }
        for place in places {
            guard let header = place.header else { continue }
            guard buffer.loadUnaligned(fromByteOffset: place.start, as: UInt64.self) == header else {
                throw process.hasEnded ? .ended : .replaced
            }
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
            return UnsafeRawBufferPointer(buffer).bytes.value(
                at: offset, type, .native, isOptional: cell.declaration.isOptional)
        }
    }
}
