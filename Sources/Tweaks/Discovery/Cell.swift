internal import CTweaks
internal import TweakRecords

/// Where a process keeps the current value of a tweak: in a record, or in a variable that is bound to it.
///
/// `@unchecked Sendable`: both members are constant, and what the address leads to is only written atomically. It stays
/// valid until the store has let go of it, see ``CellOwner``.
struct Cell: @unchecked Sendable {
    let address: UnsafeMutableRawPointer
    let type: TweakType

    var number: UInt { UInt(bitPattern: address) }

    /// Writes a value of the cell's type.
    func store(_ value: TweakValue) {
        switch (type, value) {
        case (.bool, .bool(let flag)): store8(flag ? 1 : 0)
        case (.float, .double(let number)): store32(Float(number).bitPattern)
        case (.double, .double(let number)): store64(number.bitPattern)
        case (.string, .string(let text)):
            fbtweak__store_text(
                address.assumingMemoryBound(to: UnsafePointer<CChar>?.self), TextPool.address(of: text))
        case (_, .integer(let number)):
            switch type.byteCount {
            case 1: store8(UInt8(truncatingIfNeeded: number))
            case 2:
                fbtweak__store_16(
                    address.assumingMemoryBound(to: UInt16.self), UInt16(truncatingIfNeeded: number))
            case 4: store32(UInt32(truncatingIfNeeded: number))
            case 8: store64(UInt64(truncatingIfNeeded: number))
            default: break
            }
        case (.color, .color(let color)):
            let bytes = [color.alpha, color.blue, color.green, color.red]
            store32(UInt32(littleEndian: bytes.reduce(0) { $0 << 8 | UInt32($1) }))
        default: break
        }
    }

    private func store8(_ bits: UInt8) { fbtweak__store_8(address.assumingMemoryBound(to: UInt8.self), bits) }
    private func store32(_ bits: UInt32) {
        fbtweak__store_32(address.assumingMemoryBound(to: UInt32.self), bits)
    }
    private func store64(_ bits: UInt64) {
        fbtweak__store_64(address.assumingMemoryBound(to: UInt64.self), bits)
    }
}

/// Texts that string cells point to.
///
/// A reader may keep the address that it read for ever, so a text is never freed; each different one is there once.
enum TextPool {
    /// As numbers, since a pointer is not Sendable.
    static let addresses = Guarded<[ByteText: UInt]>([:])

    static func address(of text: String) -> UnsafePointer<CChar>? {
        let address = addresses.withLock { addresses in
            if let address = addresses[ByteText(text)] { return address }
            let characters = text.utf8CString
            let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: characters.count)
            _ = copy.initialize(from: characters)
            let address = UInt(bitPattern: copy.baseAddress)
            addresses[ByteText(text)] = address
            return address
        }
        return UnsafePointer(bitPattern: address)
    }
}
