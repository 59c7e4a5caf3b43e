// SPDX-License-Identifier: BSD-3-Clause
package import TweakRecords

/// A gate of a process, whose loop stores what is written into its record.
package struct MemoryGate: Sendable {
    package let gate: Gate
    /// The address of its record.
    fileprivate let address: UInt64
    fileprivate let byteOrder: ByteOrder
    /// The record without what changes while the process runs, as read first.
    fileprivate let known: [(offset: Int, bytes: [UInt8])]
}

extension MemoryImages {
    /// The gates of all images. Of several with one name the first counts.
    var gates: [MemoryGate] {
        images.flatMap { image in
            image.sections.flatMap { section -> [MemoryGate] in
                let order = image.headers.byteOrder
                let found = ControlRecords(in: section.bytes.span.bytes, byteOrder: order)
                return found.gates.map { offset, gate in
                    let constant = [
                        0..<RecordLayout.cellOffset,
                        RecordLayout.capacityOffset..<RecordLayout.entriesOffset + 4,
                        RecordLayout.textOffset..<gate.entriesOffset,
                    ]
                    return MemoryGate(
                        gate: gate, address: section.address + UInt64(offset), byteOrder: order,
                        known: constant.map { range in
                            let bytes = section.bytes.dropFirst(offset + range.lowerBound)
                            return (range.lowerBound, Array(bytes.prefix(range.count)))
                        })
                }
            }
        }
    }

    /// The addresses of the cells that count changes.
    var sequences: [(address: UInt64, byteOrder: ByteOrder)] {
        images.flatMap { image in
            image.sections.flatMap { section in
                ControlRecords(in: section.bytes.span.bytes, byteOrder: image.headers.byteOrder).sequences.map
                {
                    (section.address + UInt64($0 + RecordLayout.cellOffset), image.headers.byteOrder)
                }
            }
        }
    }
}

extension MemoryTweaks {
    /// The gate that changes of a tweak wait for, or `nil`.
    package func gate(of key: TweakKey) -> MemoryGate? {
        guard !gates.isEmpty, let name = gates.lazy.map(\.gate.name).gate(of: key) else { return nil }
        return gates.first { $0.gate.name == name }
    }

    /// Whether others must not write into the process at the same time.
    package var needsLock: Bool { !gates.isEmpty || !sequences.isEmpty }

    private func state(of gate: MemoryGate) throws(MemoryError) -> UInt64 {
        guard let bytes = space.bytes(at: gate.address + UInt64(RecordLayout.cellOffset), count: 8) else {
            throw .replaced
        }
        return bytes.span.bytes.number(at: 0, gate.byteOrder) ?? 0
    }

    /// Throws if values do not fit into a gate together.
    package func check(_ values: [TweakKey: TweakValue], fitInto gate: MemoryGate) throws(MemoryRefusal) {
        let count = patches(for: values).count
        guard Self.paddedCount(count) <= min(gate.gate.capacity, 0xFF00) else {
            throw .gateIsTooSmall(gate.gate.name, stores: count, capacity: gate.gate.capacity)
        }
    }

    /// The count is one byte that is not 0, because no more is sure to be written at once. A larger number is reached by
    /// repeating the last store.
    private static func paddedCount(_ count: Int) -> Int { count < 256 ? count : (count + 255) / 256 * 256 }

    /// Leaves accepted values to the loop, all or none, whenever this process ends. No other process may do so at the same
    /// time.
    ///
    /// - Returns: `false` if something waits already.
    package func put(
        _ values: [TweakKey: TweakValue], into gate: MemoryGate
    ) throws(MemoryError) -> Bool {
        guard let process = space as? ProcessMemory else { throw .failed("a core cannot be changed") }
        let patches = patches(for: values)
        guard let last = patches.last else { return true }
        try checkRecords(at: patches.map(\.place), in: process)
        for (offset, bytes) in gate.known {
            let address = gate.address + UInt64(offset)
            guard space.bytes(at: address, count: bytes.count) == bytes else { throw .replaced }
        }
        guard try state(of: gate) == 0 else { return false }
        let count = Self.paddedCount(patches.count)
        guard count <= min(gate.gate.capacity, 0xFF00) else {
            throw .failed("the gate \(gate.gate.name) is too small")
        }
        var entries: [UInt8] = []
        for patch in patches + Array(repeating: last, count: count - patches.count) {
            entries += gate.byteOrder.bytes(of: patch.address)
            entries += patch.bytes + [UInt8](repeating: 0, count: 8 - patch.bytes.count)
            entries += gate.byteOrder.bytes(of: UInt32(patch.bytes.count)) + [0, 0, 0, 0]
        }
        try process.write(entries, at: gate.address + UInt64(gate.gate.entriesOffset))
        // Only the byte that is not 0.
        let number = gate.byteOrder.bytes(of: UInt64(count))
        guard let index = number.firstIndex(where: { $0 != 0 }) else { return true }
        try process.write(
            [number[index]], at: gate.address + UInt64(RecordLayout.cellOffset + index))
        return true
    }

    /// The values that wait for gates, by the addresses of the cells, in the form of a cell.
    package func waiting() -> [UInt64: [UInt8]] {
        var waiting: [UInt64: [UInt8]] = [:]
        for gate in gates {
            guard let state = try? state(of: gate), state != 0 else { continue }
            let count = min(Int(state & 0xFFFF_FFFF), gate.gate.capacity)
            let size = RecordLayout.gateStoreSize
            guard
                let bytes = space.bytes(
                    at: gate.address + UInt64(gate.gate.entriesOffset), count: count * size)
            else { continue }
            for index in 0..<count {
                let address: UInt64? = bytes.span.bytes.number(at: index * size, gate.byteOrder)
                waiting[address ?? 0] = Array(bytes[(index * size + 8)..<(index * size + 16)])
            }
        }
        return waiting
    }

    /// Stores cells, and counts that for readers of several tweaks.
    ///
    /// - Returns: Whether an earlier writer was killed while it stored, and may have stored a part of its change.
    func storing(
        in process: ProcessMemory, _ body: () throws(MemoryError) -> Void
    ) throws(MemoryError) -> Bool {
        var counts: [(address: UInt64, order: ByteOrder, count: UInt64)] = []
        var isTorn = false
        for (address, order) in sequences {
            guard let bytes = space.bytes(at: address, count: 8) else { throw .replaced }
            let before: UInt64 = bytes.span.bytes.number(at: 0, order) ?? 0
            isTorn = isTorn || before & 1 != 0
            let count = (before &+ 1) | 1
            counts.append((address, order, count))
            try process.write(order.bytes(of: count), at: address)
        }
        try body()
        for (address, order, count) in counts { try process.write(order.bytes(of: count &+ 1), at: address) }
        return isTorn
    }
}

extension ByteOrder {
    fileprivate func bytes<Number: FixedWidthInteger>(of number: Number) -> [UInt8] {
        withUnsafeBytes(of: self == .native ? number : number.byteSwapped) { Array($0) }
    }
}

extension ProcessMemory {
    fileprivate func write(_ bytes: [UInt8], at address: UInt64) throws(MemoryError) {
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 8)
        defer { buffer.deallocate() }
        buffer.copyBytes(from: bytes)
        try move([(address, buffer)], isWritten: true)
    }
}
