/// What must be done to a binary property list before Foundation reads it.
///
/// The format is known from `CFBinaryPList.c` of Core Foundation: after eight bytes come the objects, then a table of
/// their offsets, then 32 bytes of which the 7th to last say how long an offset is, how many there are, and where the
/// table begins. The first byte of an object is its kind and its length.
enum BinaryPropertyList {
    static let start = "bplist00".utf8

    /// Makes the references of a keyed archive integers, which Foundation's decoder can give.
    ///
    /// - Returns: Whether the list has a table of objects.
    static func makeReferencesIntegers(_ bytes: inout [UInt8]) -> Bool {
        let trailer = bytes.suffix(32)
        guard bytes.count >= start.count + 32 else { return false }
        let offsetSize = Int(trailer[trailer.startIndex + 6])
        guard let count = number(trailer.dropFirst(8).prefix(8)),
            let table = number(trailer.dropFirst(24).prefix(8)),
            1...8 ~= offsetSize, table <= trailer.startIndex,
            count <= (trailer.startIndex - table) / offsetSize
        else { return false }
        for index in 0..<count {
            let place = table + index * offsetSize
            guard let offset = number(bytes[place..<place + offsetSize]), offset < table else { return false }
            // A reference of 1, 2, 4 or 8 bytes is 0x80, 0x81, 0x83 or 0x87, an integer 0x10 to 0x13.
            switch bytes[offset] {
            case 0x80: bytes[offset] = 0x10
            case 0x81: bytes[offset] = 0x11
            case 0x83: bytes[offset] = 0x12
            case 0x87: bytes[offset] = 0x13
            case 0x82, 0x84...0x86, 0x88...0x8F: return false
            default: break
            }
        }
        return true
    }

    /// A number in the byte order of the format; `nil` for one that is larger than a file can be.
    private static func number(_ bytes: ArraySlice<UInt8>) -> Int? {
        Int(exactly: bytes.reduce(UInt64(0)) { $0 << 8 | UInt64($1) })
    }
}
