#if Macros
/// The Swift source of a record: a static variable in the section `fbtweak`, as `CSupport/RecordFormat.md` lays it
/// out for a little-endian machine.
struct RecordSource {
    /// The type byte.
    var typeCode: UInt8
    /// The Swift type of a value's eight bytes in the tuple: an integer or a floating-point type of that size.
    var storage: String
    /// The default, minimum and maximum as literals of the storage type.
    var defaultLiteral: String
    var limits: (minimum: String, maximum: String)?
    /// Category, collection, name, default text, attributes.
    var texts: [String]

    /// The element of the tuple that is the cell.
    static let cell = 5

    var declaration: String {
        let words = packedTexts
        let header = ["UInt32", "UInt8", "UInt8", "UInt8", "UInt8"]
        let types = header + Array(repeating: storage, count: 5) + words.map { _ in "UInt64" }
        let values =
            ["\(48 + 8 * words.count)", "1", "1", "\(typeCode)", limits == nil ? "0" : "3"]
            + [defaultLiteral, defaultLiteral, limits?.minimum ?? "0", limits?.maximum ?? "0", "0"] + words
        return """
            @section("fbtweak") @used @exclusivity(unchecked)
            nonisolated(unsafe) static var record: (\(types.map { "Swift." + $0 }.joined(separator: ", "))) =
                (\(values.joined(separator: ", ")))
            """
    }

    /// The texts with their NULs, eight bytes to a literal: the compiler takes five times as long for single bytes.
    private var packedTexts: [String] {
        var bytes: [UInt8] = texts.flatMap { Array($0.utf8) + [UInt8(0)] }
        bytes += Array(repeating: 0, count: (8 - bytes.count % 8) % 8)
        return stride(from: 0, to: bytes.count, by: 8).map { start in
            let word = bytes[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return "0x" + String(word, radix: 16)
        }
    }
}
#endif
