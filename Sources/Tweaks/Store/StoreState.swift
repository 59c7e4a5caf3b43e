internal import Glibc
internal import TweakRecords

/// Everything that a store knows. It is the value of the store's lock.
struct StoreState {
    /// A tweak of the process.
    struct Entry {
        var declaration: TweakDeclaration
        /// The cell of the record that it is declared by comes first.
        var cells: [OwnedCell]
        var value: TweakValue
        var source: TweakSource
        /// See ``TweakStatus/pendingValue``.
        var pendingValue: TweakValue?
    }

    /// Images whose records have not been decoded, because nobody has asked for anything in them.
    private(set) var undecoded: [ProcessImage] = []
    /// Images that came after the start. The others stay for as long as the process.
    var openedImages: [ProcessImage] = []
    var entries: [TweakKey: Entry] = [:]
    /// The keys in the order of declaration.
    var order: [TweakKey] = []
    /// What the overrides file held when it was read, with what was set since.
    var overrides = OverridesDocument()
    var handles: [TweakKey: Handle] = [:]
    /// Handles that others have replaced. Somebody may still read them.
    var oldHandles: [Handle] = []
    /// The names of records that Swift handles lead to, by the addresses of their cells.
    var keysOfCells: [UInt: TweakKey] = [:]
    /// What has been found by name. Whoever changes or removes an entry removes it here.
    var found: [TweakKey: FoundTweak] = [:]
    /// What each bound variable follows, by its address.
    var boundVariables: [UInt: TweakKey] = [:]
    /// The tweaks that have been set while the file is being read again; otherwise `nil`.
    var setWhileReloading: Set<TweakKey>?
    var observers = ObserverList()
    /// Calls into the program that have not returned.
    var runningCalls: [RunningCall] = []
    /// Messages for a person. They wait until the lock is released, because a log handler may call the store.
    var messages: [String] = []
    /// Changes that observers have not been told of.
    var undelivered = UndeliveredChanges()
    var isDelivering = false

    mutating func add(_ images: [ProcessImage]) { undecoded += images }

    /// Adds an image that was loaded later, whose cells hold their defaults.
    mutating func open(_ image: ProcessImage) {
        openedImages.append(image)
        undecoded.append(image)
        // Otherwise what it holds is right already.
        if !overrides.isEmpty { decode() }
    }

    /// Forgets an image that is about to be unloaded, see `StoreState+Images.swift`.
    mutating func forget(_ image: ProcessImage) {
        undecoded.removeAll { $0.memory == image.memory }
        openedImages.removeAll { $0.memory == image.memory }
        keysOfCells = keysOfCells.filter { !image.memory.contains($0.key) }
    }

    /// Takes over the values of a document. Only the records that it names are decoded.
    mutating func apply(_ document: OverridesDocument) {
        overrides = document
        let matcher = RecordMatcher(document.keys)
        var declared: [TweakKey: TweakDeclaration] = [:]
        for image in undecoded {
            for records in image.records {
                matcher.forEachMatch(in: records) { range in
                    guard
                        let declaration = try? TweakDeclaration(
                            record: records.bytes, in: range, byteOrder: .native)
                    else { return }
                    let first = declared[declaration.key] ?? declaration
                    declared[declaration.key] = first
                    guard first.type == declaration.type, let value = admitted(first) else {
                        return
                    }
                    Cell(records, range, declaration.type)?.store(value)
                }
            }
        }
    }

    /// Decodes the records that are not decoded yet.
    mutating func decode() {
        let images = undecoded
        undecoded = []
        for image in images {
            for records in image.records {
                let section = RecordSection(records.bytes, byteOrder: .native)
                messages += section.errors.map { "\(image.path): \($0)" }
                for (offset, declaration) in section.tweaks {
                    guard let cell = Cell(records, offset..<records.count, declaration.type) else { continue }
                    add(declaration, OwnedCell(cell, .image(image.memory)))
                }
            }
        }
    }

    mutating func add(_ declaration: TweakDeclaration, _ cell: OwnedCell) {
        let key = declaration.key
        if let first = entries[key] {
            if !first.declaration.agrees(with: declaration) {
                messages.append(
                    "\(key): declared differently at \(first.declaration.location ?? "an unknown place") and at "
                        + "\(declaration.location ?? "an unknown place"); the first declaration counts")
            }
            guard first.declaration.type == declaration.type else { return }
            cell.cell.store(first.value)
            entries[key]?.cells.append(cell)
            return
        }
        let override = admitted(declaration)
        let value = override ?? declaration.defaultValue
        if override != nil { cell.cell.store(value) }
        entries[key] = Entry(
            declaration: declaration, cells: [cell], value: value,
            source: override == nil ? .binary : .overrides)
        order.append(key)
        if let handle = handles[key], handle.declaration.type == declaration.type {
            entries[key]?.cells.append(OwnedCell(handle.cell, .handle))
            handle.cell.store(value)
        }
        if let warning = declaration.expiryWarning(on: utcDay(secondsSince1970: time(nil))) {
            messages.append(warning)
        }
    }

    mutating func admitted(_ declaration: TweakDeclaration) -> TweakValue? {
        do throws(TweakValueError) {
            guard let admission = try overrides.admission(for: declaration) else { return nil }
            if admission.wasClamped {
                messages.append(clampingMessage(declaration, admission.value))
            }
            return admission.value
        } catch {
            messages.append("override ignored: \(error)")
            return nil
        }
    }

    func clampingMessage(_ declaration: TweakDeclaration, _ value: TweakValue) -> String {
        "\(declaration.key): the override is outside the limits and taken as \(value); "
            + "allowed: \(declaration.allowed)"
    }

    /// Sets a tweak, or resets it with `nil`. Call only after ``decode()``.
    ///
    /// - Returns: The change of the value, if it changed, and whether the override did.
    mutating func set(_ value: TweakValue?, for key: TweakKey) -> (
        change: TweakChange?, overrideChanged: Bool
    ) {
        guard let index = entries.index(forKey: key), let change = entries.values[index].set(value) else {
            return (nil, false)
        }
        let overrideChanges = value != nil || overrides[key] != nil
        overrides.set(value, for: key)
        if overrideChanges { setWhileReloading?.insert(key) }
        return (change, overrideChanges)
    }
}

extension StoreState.Entry {
    /// What setting the tweak would change; `nil` if the value is the same already, or stays until a restart.
    func change(to value: TweakValue?) -> TweakChange? {
        guard !declaration.needsRestart else { return nil }
        let newValue = value ?? declaration.defaultValue
        guard newValue != self.value else { return nil }
        return TweakChange(
            key: declaration.key, oldValue: self.value, newValue: newValue,
            source: value == nil ? .binary : .overrides)
    }

    /// Sets the tweak, or resets it with `nil`.
    ///
    /// - Returns: `nil` if nothing happens, otherwise the change, which is `nil` if it is one for the next start.
    fileprivate mutating func set(_ newValue: TweakValue?) -> TweakChange?? {
        guard newValue != pendingValue ?? value else { return nil }
        if declaration.needsRestart {
            let next = newValue ?? declaration.defaultValue
            pendingValue = next == value ? nil : next
            return .some(nil)
        }
        let change = change(to: newValue)
        source = newValue == nil ? .binary : .overrides
        if let change {
            value = change.newValue
            for cell in cells { cell.cell.store(change.newValue) }
        }
        return change
    }

    /// Asks with the declaration. An entry is large, and this does not copy it.
    mutating func withDeclaration<Result, Failure>(
        _ body: (TweakDeclaration) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(declaration)
    }
}

extension Cell {
    /// The cell of the record that begins where a range does.
    init?(_ records: UnsafeRawBufferPointer, _ range: Range<Int>, _ type: TweakType) {
        guard let start = records.baseAddress else { return nil }
        address = UnsafeMutableRawPointer(mutating: start + range.lowerBound + RecordLayout.cellOffset)
        self.type = type
    }
}
