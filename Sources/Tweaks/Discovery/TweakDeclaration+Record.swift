internal import TweakRecords

extension TweakDeclaration {
    /// Decodes a record of this process.
    init?(record: UnsafeRawPointer) {
        let bytes = UnsafeRawBufferPointer(record: record)
        try? self.init(record: bytes.bytes, in: bytes.indices, byteOrder: .native)
    }
}

extension TweakKey {
    /// Decodes the name in a record of this process.
    init?(record: UnsafeRawPointer) {
        let bytes = UnsafeRawBufferPointer(record: record)
        self.init(record: bytes.bytes, in: bytes.indices)
    }
}

extension UnsafeRawBufferPointer {
    /// A record, which says itself how long it is.
    fileprivate init(record: UnsafeRawPointer) {
        self.init(start: record, count: Int(record.loadUnaligned(as: UInt32.self)))
    }
}
