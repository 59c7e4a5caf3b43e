internal import TweakRecords

/// What a program has of a tweak that it asked for by name: a record that stays as long as the store, whatever becomes
/// of the images that declare the tweak. It takes the size of the record, once for each name that was asked for.
final class Handle: Sendable {
    /// The cell of the record.
    let cell: Cell

    init(_ declaration: TweakDeclaration) {
        let bytes = declaration.record
        let record = UnsafeMutableRawPointer.allocate(byteCount: bytes.count, alignment: 8)
        record.copyMemory(from: bytes, byteCount: bytes.count)
        cell = Cell(address: record + RecordLayout.cellOffset, type: declaration.type)
        cell.store(declaration.defaultValue)
    }

    deinit { record.deallocate() }

    /// Where the record begins.
    var record: UnsafeMutableRawPointer { cell.address - RecordLayout.cellOffset }

    /// What the record says.
    var declaration: TweakDeclaration? { TweakDeclaration(record: record) }
}
