// SPDX-License-Identifier: BSD-3-Clause
/// An address in a description for calibration tools.
package struct XCPAddress: Hashable, Comparable, Sendable {
    /// The number of the image, in XCP the extension of the address.
    package var image: UInt8
    /// The offset in the image.
    package var offset: UInt32

    package init(image: UInt8, offset: UInt32) { (self.image, self.offset) = (image, offset) }

    package static func < (left: Self, right: Self) -> Bool {
        (left.image, left.offset) < (right.image, right.offset)
    }
}

/// Bytes of the value of an object.
struct XCPPart: Equatable, Sendable {
    /// The index of the object.
    let object: Int
    /// The bytes in its value.
    let bytes: Range<Int>
}

/// The places of the values that a client can address. There is nothing at other addresses.
package struct XCPMemory: Sendable {
    /// A tweak or monitor.
    package struct Object: Sendable {
        let address: XCPAddress
        /// The number of bytes of its value, 1 to 8.
        let byteCount: Int

        package init(at address: XCPAddress, byteCount: Int) {
            (self.address, self.byteCount) = (address, byteCount)
        }

        /// The first address behind it, as a number that cannot overflow.
        var end: UInt64 { UInt64(address.offset) + UInt64(byteCount) }
    }

    private let objects: [Object]
    /// The indices of the objects, by address.
    private let order: [Int]

    package init(_ objects: [Object]) {
        self.objects = objects
        order = objects.indices.sorted { objects[$0].address < objects[$1].address }
    }

    package var count: Int { objects.count }

    /// The number of bytes of an object's value.
    package func byteCount(of object: Int) -> Int { objects[object].byteCount }

    /// The object whose value is exactly these bytes, or `nil`.
    func object(at address: XCPAddress, count: Int) -> Int? {
        order[place(of: address)...].prefix { objects[$0].address == address }
            .first { objects[$0].byteCount == count }
    }

    /// The parts of values that together are these bytes.
    ///
    /// - Throws: ``XCPError/accessDenied`` if one of the bytes belongs to no value.
    func parts(at address: XCPAddress, count: Int) throws(XCPError) -> [XCPPart] {
        if let object = object(at: address, count: count) {
            return [XCPPart(object: object, bytes: 0..<count)]
        }
        var parts: [XCPPart] = []
        var (next, end) = (UInt64(address.offset), UInt64(address.offset) + UInt64(count))
        if end > UInt64(UInt32.max) + 1 { end = .max }
        while next < end {
            guard let offset = UInt32(exactly: next) else { throw .accessDenied }
            let place = place(of: XCPAddress(image: address.image, offset: offset))
            // Either it begins here, or the one before contains the address.
            let candidates = order[max(place - 1, 0)..<min(place + 1, order.count)].reversed()
            let found = candidates.first {
                let object = objects[$0]
                return object.address.image == address.image && UInt64(object.address.offset) <= next
                    && next < object.end
            }
            guard let found else { throw .accessDenied }
            let start = Int(next - UInt64(objects[found].address.offset))
            let stop = min(objects[found].end, end)
            parts.append(XCPPart(object: found, bytes: start..<start + Int(stop - next)))
            next = stop
        }
        return parts
    }

    /// The place in the order of the first object that is not before an address.
    private func place(of address: XCPAddress) -> Int {
        var (low, high) = (0, order.count)
        while low < high {
            let middle = (low + high) / 2
            if objects[order[middle]].address < address { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
