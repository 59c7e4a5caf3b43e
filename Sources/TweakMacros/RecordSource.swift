#if Macros
internal import TweakRecords

/// The Swift source of a record: a static variable in the section `fbtweak`.
struct RecordSource {
    var declaration: TweakDeclaration
    /// The source of a C function pointer; only an action has one.
    var function: String?

    /// The compilation condition under which there are tweaks. Only ELF has the section; elsewhere a tweak is its
    /// default, as in a release build.
    static let condition = "(DEBUG || FB_TWEAK_ENABLED) && !FB_TWEAK_DISABLED && objectFormat(ELF)"
    /// The element of the tuple that is the cell.
    static let cell = RecordLayout.cellOffset / 8

    /// Everything in words of eight bytes, little-endian: the compiler takes five times as long for single bytes.
    var variable: String {
        let bytes = declaration.record
        var types = Array(repeating: "Swift.UInt64", count: bytes.count / 8)
        var words = stride(from: 0, to: bytes.count, by: 8).map { start in
            let word = bytes[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return word == 0 ? "0" : "0x" + String(word, radix: 16)
        }
        if let function {
            types[Self.cell] = "@convention(c) (Swift.UnsafeMutableRawPointer?) -> Swift.Void"
            words[Self.cell] = function
        }
        return """
            @section("fbtweak") @used @exclusivity(unchecked)
            nonisolated(unsafe) static var record: (\(types.joined(separator: ", "))) =
                (\(words.joined(separator: ", ")))
            """
    }
}
#endif
