internal import TweakRecords

extension StoreState {
    /// Lets go of everything in an image: records, bound variables, observers whose code is there. Tweaks that nothing
    /// else declares are gone.
    ///
    /// - Returns: The observers that were removed, so that what they hold is released after the store's lock.
    mutating func close(_ image: ProcessImage) -> [ObserverList.Observer] {
        forget(image)
        for (key, entry) in entries {
            let remaining = entry.cells.filter { owned in
                switch owned.owner {
                case .image(let memory): memory != image.memory
                case .variable: !image.memory.contains(owned.cell.number)
                case .made: !(owned.cell.action.map { image.memory.contains($0.code) } ?? false)
                case .provided, .handle: true
                }
            }
            if remaining.count != entry.cells.count { replaceCells(of: key, with: remaining) }
        }
        boundVariables = boundVariables.filter { !image.memory.contains($0.key) }
        return observers.remove { $0.code.map(image.memory.contains) ?? false } + forgetMissing()
    }

    /// Gives a tweak fewer cells. Without one that declares it, it is gone, and the caller owes a
    /// ``forgetMissing()``; if the first declaration is gone, the next one counts.
    mutating func replaceCells(of key: TweakKey, with cells: [OwnedCell]) {
        guard let entry = entries[key] else { return }
        found[key] = nil
        guard let first = cells.first(where: \.owner.declares) else {
            entries[key] = nil
            if let handle = handles[key] { handle.cell.store(handle.declaration.defaultValue) }
            return
        }
        entries[key]?.cells = cells
        guard first.cell.number != entry.cells.first?.cell.number,
            let declaration = TweakDeclaration(record: first.cell.address - RecordLayout.cellOffset),
            declaration != entry.declaration
        else { return }
        entries[key]?.declaration = declaration
        let resolution = chain.resolve(declaration)
        messages += resolution.messages
        if let change = entries[key]?.take(resolution) { undelivered.append(change) }
    }

    /// Removes what belongs to tweaks that are gone.
    ///
    /// - Returns: The observers of them that end with their tweak.
    mutating func forgetMissing() -> [ObserverList.Observer] {
        order.removeAll { entries[$0] == nil }
        boundVariables = boundVariables.filter { entries[$0.value] != nil }
        return observers.remove { observer in
            guard observer.endsWithTweak, let key = observer.keys?.first else { return false }
            return entries[key] == nil
        }
    }
}
