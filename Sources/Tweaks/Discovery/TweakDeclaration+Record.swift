internal import TweakRecords

extension TweakDeclaration {
    /// Decodes a record of this process.
    init?(record: UnsafeRawPointer) {
        let size = Int(record.loadUnaligned(as: UInt32.self))
        let bytes = UnsafeRawBufferPointer(start: record, count: size)
        try? self.init(record: bytes.bytes, in: 0..<size, byteOrder: .native)
    }
}
