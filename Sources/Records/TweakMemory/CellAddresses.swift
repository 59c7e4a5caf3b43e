// SPDX-License-Identifier: BSD-3-Clause
package import TweakELF
package import TweakRecords

/// The addresses of values in a linked file, to which a process adds the load bias.
package struct CellAddresses: Sendable {
    /// The address of the first record.
    private let records: UInt64
    /// The addresses of variables' objects, by the offsets of their records.
    private let objects: [Int: UInt64]

    fileprivate init(records: UInt64, objects: [Int: UInt64]) {
        (self.records, self.objects) = (records, objects)
    }

    /// The address of a tweak's value; `nil` if it is a variable that the file does not contain.
    ///
    /// - Parameters:
    ///   - record: The offset of its record.
    ///   - element: The index of the tweak in the record, which is 0 unless it is an element of an array.
    ///   - bytes: All records.
    package func address(
        ofRecord record: Int, element: Int, _ tweak: TweakDeclaration, in bytes: [UInt8]
    ) -> UInt64? {
        guard bytes[record + RecordLayout.kindOffset] == RecordLayout.variableKind else {
            return records &+ UInt64(record + RecordLayout.cellOffset)
        }
        return objects[record].map { $0 &+ UInt64(element * tweak.type.byteCount) }
    }
}

extension ELFObject {
    /// The records of a range with their initial values, and the addresses of the values, which mean something in a
    /// linked file.
    package func cells(
        in range: RecordRange
    ) throws(ELFError) -> (bytes: [UInt8], addresses: CellAddresses) {
        var objects: [Int: UInt64] = [:]
        let bytes = try bytesWithInitialValues(of: range) { objects[$0] = $1 }
        return (bytes, CellAddresses(records: range.address, objects: objects))
    }

    /// Calls `body` with each tweak and monitor of a linked file, in the order of their records, and the address of its
    /// value, to which a process adds the load bias; `nil` if the file does not contain it. Invalid records are skipped.
    package func forEachCell(_ body: (TweakDeclaration, UInt64?) -> Void) throws(ELFError) {
        for range in try recordRanges() {
            let (bytes, addresses) = try cells(in: range)
            var walk = RecordWalk()
            while true {
                do throws(RecordError) {
                    guard let record = try walk.next(in: bytes.span.bytes, byteOrder: byteOrder) else {
                        break
                    }
                    let tweaks = try TweakDeclaration.all(
                        record: bytes.span.bytes, in: record, byteOrder: byteOrder)
                    for (element, tweak) in tweaks.enumerated() {
                        body(
                            tweak,
                            addresses.address(
                                ofRecord: record.lowerBound, element: element, tweak, in: bytes))
                    }
                } catch {
                    continue
                }
            }
        }
    }
}
