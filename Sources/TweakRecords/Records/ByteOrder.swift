/// The order of the bytes of a number, which is that of the machine a binary is made for.
public enum ByteOrder: Sendable {
    /// Least significant byte first, as on x86-64, AArch64 and RISC-V.
    case little
    /// Most significant byte first, as on s390x.
    case big

    /// The order of the machine that runs this.
    public static var native: ByteOrder { 1 == 1.littleEndian ? .little : .big }
}

extension RawSpan {
    /// The number at an offset, or `nil` if it is not all inside.
    package func number<Number: FixedWidthInteger & BitwiseCopyable>(
        at offset: Int, as _: Number.Type = Number.self, _ order: ByteOrder
    ) -> Number? {
        guard offset >= 0, offset <= byteCount - MemoryLayout<Number>.size else { return nil }
        let number = unsafeLoadUnaligned(fromByteOffset: offset, as: Number.self)
        return order == .native ? number : number.byteSwapped
    }
}
