#if Macros
internal import TweakRecords

/// The Swift source of a record: a static variable in the section `fbtweak`.
struct RecordSource {
    var declaration: TweakDeclaration
    /// The source of a C function pointer, for actions only.
    var function: String?

    /// The compilation condition for tweaks. Only ELF has the section; elsewhere a tweak is its default, as in a
    /// release build.
    static let condition = "(DEBUG || FB_TWEAK_ENABLED) && !FB_TWEAK_DISABLED && objectFormat(ELF)"
    /// The index of the cell in the tuple.
    static let cell = RecordLayout.cellOffset / 8

    /// The record as little-endian words of eight bytes: the compiler takes five times as long for single bytes, and
    /// longer for a large tuple than for an array.
    var variable: String {
        let bytes = declaration.record
        let words = stride(from: 0, to: bytes.count, by: 8).map { start in
            let word = bytes[start..<start + 8].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
            return word == 0 ? "0" : "0x" + String(word, radix: 16)
        }
        let cellType =
            function == nil ? "Swift.UInt64" : "@convention(c) (Swift.UnsafeMutableRawPointer?) -> Swift.Void"
        let others = words.dropFirst(Self.cell + 1)
        return """
            @section("fbtweak") @used @exclusivity(unchecked)
            nonisolated(unsafe) static var record: (
                Swift.UInt64, \(cellType), Swift.InlineArray<\(others.count), Swift.UInt64>
            ) = (\(words[0]), \(function ?? words[Self.cell]), [\(others.joined(separator: ", "))])
            """
    }
}
#endif
