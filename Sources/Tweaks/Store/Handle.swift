internal import TweakRecords

/// What a program has of a tweak that it asked for by name: a record that stays as long as the store, whatever becomes
/// of the images that declare the tweak. It takes the size of the record, once for each name that was asked for.
final class Handle: Sendable {
    let declaration: TweakDeclaration
    /// The cell of the record.
    let cell: Cell

    init(_ declaration: TweakDeclaration) {
        self.declaration = declaration
        let bytes = declaration.record
        let record = UnsafeMutableRawPointer.allocate(byteCount: bytes.count, alignment: 8)
        record.copyMemory(from: bytes, byteCount: bytes.count)
        cell = Cell(address: record + RecordLayout.cellOffset, type: declaration.type)
    }

    deinit { record.deallocate() }

    /// Where the record begins.
    var record: UnsafeMutableRawPointer { cell.address - RecordLayout.cellOffset }
}

extension StoreState {
    /// The handle of a name, which is always the same unless type, default or limits change.
    ///
    /// - Parameter declaration: What the handle says if no image declares the tweak.
    mutating func handle(of key: TweakKey, otherwise declaration: TweakDeclaration? = nil) -> Handle? {
        let handle = handles[key]
        guard let declaration = entries[key]?.declaration ?? handle?.declaration ?? declaration else {
            return nil
        }
        if let handle, handle.declaration.agrees(with: declaration) { return handle }
        let new = Handle(declaration)
        replaceHandle(of: key, with: new)
        if let entry = entries[key] {
            new.cell.store(entry.value)
            entries[key]?.cells =
                entry.cells.filter { $0.cell.number != handle?.cell.number } + [OwnedCell(new.cell, .handle)]
            handle?.cell.store(declaration.defaultValue)
        }
        return new
    }

    mutating func replaceHandle(of key: TweakKey, with new: Handle) {
        if let old = handles[key], old !== new { oldHandles.append(old) }
        handles[key] = new
        found[key] = nil
        keysOfCells[new.cell.number] = key
    }
}
