internal import CTweaks
internal import TweakRecords

/// Where a process keeps the current value of one record.
///
/// `@unchecked Sendable`: the address stays valid while its image is loaded, and all access to it is atomic.
struct Cell: @unchecked Sendable {
    let address: UnsafeMutableRawPointer
    let type: TweakType

    /// Writes a value of the cell's type; `nil`, or a value of another type, means the default of a string.
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
            default: store64(UInt64(truncatingIfNeeded: number))
            }
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
private enum TextPool {
    private static let addresses = Guarded<[String: UnsafePointer<CChar>]>([:])

    static func address(of text: String) -> UnsafePointer<CChar>? {
        addresses.withLock { addresses in
            if let address = addresses[text] { return address }
            let characters = text.utf8CString
            let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: characters.count)
            _ = copy.initialize(from: characters)
            let address = copy.baseAddress.map { UnsafePointer($0) }
            addresses[text] = address
            return address
        }
    }
}
