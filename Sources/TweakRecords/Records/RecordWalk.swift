/// Steps through the records of a section without looking inside them.
///
///     var walk = RecordWalk()
///     while let range = try walk.next(in: bytes, byteOrder: .native) { … }
public struct RecordWalk: Sendable {
    private var offset = 0

    /// Starts at the beginning.
    public init() {}

    /// The byte range of the next record of a kind and version that this library knows.
    ///
    /// Padding, other kinds and later versions are stepped over.
    ///
    /// - Parameters:
    ///   - bytes: The whole section, the same in each call.
    ///   - byteOrder: The byte order of the binary.
    /// - Returns: `nil` at the end.
    /// - Throws: ``RecordError`` if a size makes no sense. The walk is over then, because nothing says where
    ///   the next record begins.
    public mutating func next(in bytes: RawSpan, byteOrder: ByteOrder) throws(RecordError) -> Range<Int>? {
        let end = bytes.byteCount
        while let size: UInt32 = bytes.number(at: offset, byteOrder) {
            let start = offset
            guard size != 0 else {
                offset += 8
                continue
            }
            offset = end
            guard size % 8 == 0 else { throw .badSize(size, offset: start) }
            guard Int(size) <= end - start else {
                throw .beyondEnd(size: size, offset: start, sectionSize: end)
            }
            // At most the end.
            offset = start + Int(size)
            let version: UInt8? = bytes.number(at: start + RecordLayout.versionOffset, byteOrder)
            let kind: UInt8? = bytes.number(at: start + RecordLayout.kindOffset, byteOrder)
            if version == RecordLayout.version,
                kind == RecordLayout.valueKind || kind == RecordLayout.actionKind
            {
                return start..<offset
            }
        }
        return nil
    }
}
