#if Macros
/// The Swift source of a record: a static variable in the section `fbtweak`, as `CSupport/RecordFormat.md` lays it
/// out for a little-endian machine.
struct RecordSource {
    var typeCode: UInt8
    /// The default, the minimum, the maximum and the step as the eight bytes that they are in the record.
    var defaultWord: UInt64 = 0
    var minimum, maximum, step: UInt64?
    /// Category, collection, name, default text, attributes.
    var texts: [String]
    /// The values of the choices of a number.
    var choices: [UInt64] = []
    /// The source of a C function pointer; only an action has one.
    var function: String?

    /// The compilation condition under which there are tweaks.
    static let condition = "(DEBUG || FB_TWEAK_ENABLED) && !FB_TWEAK_DISABLED"
    /// The element of the tuple that is the cell.
    static let cell = 1

    /// Everything in words of eight bytes: the compiler takes five times as long for single bytes.
    var declaration: String {
        let text = packedTexts
        let types =
            ["Swift.UInt64", function == nil ? "Swift.UInt64" : Self.functionType]
            + Array(repeating: "Swift.UInt64", count: 4 + text.count + choices.count)
        let words = [defaultWord, minimum ?? 0, maximum ?? 0, step ?? 0] + text + choices
        let values =
            [hexadecimal(header(size: 8 * types.count)), function ?? hexadecimal(defaultWord)]
            + words.map(hexadecimal)
        return """
            @section("fbtweak") @used @exclusivity(unchecked)
            nonisolated(unsafe) static var record: (\(types.joined(separator: ", "))) =
                (\(values.joined(separator: ", ")))
            """
    }

    private static let functionType = "@convention(c) (Swift.UnsafeMutableRawPointer?) -> Swift.Void"

    /// Size, version, kind, type and flags.
    private func header(size: Int) -> UInt64 {
        let flags: UInt64 =
            (minimum == nil ? 0 : 1) | (maximum == nil ? 0 : 2) | (step == nil ? 0 : 4)
            | (choices.isEmpty ? 0 : 8)
        let kind: UInt64 = function == nil ? 1 : 2
        return UInt64(size) | 1 << 32 | kind << 40 | UInt64(typeCode) << 48 | flags << 56
    }

    /// The texts with their NULs, and an empty one that ends the attributes.
    private var packedTexts: [UInt64] {
        var bytes: [UInt8] = (texts + [""]).flatMap { Array($0.utf8) + [UInt8(0)] }
        bytes += Array(repeating: 0, count: (8 - bytes.count % 8) % 8)
        return stride(from: 0, to: bytes.count, by: 8).map { start in
            bytes[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        }
    }

    private func hexadecimal(_ word: UInt64) -> String { word == 0 ? "0" : "0x" + String(word, radix: 16) }
}
#endif
