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
    var undelivered: [TweakChange] = []
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

    /// What ``set(_:for:)`` would change; `nil` if the value is the same already, or stays until a restart.
    func change(of key: TweakKey, to value: TweakValue?) -> TweakChange? {
        guard let entry = entries[key], !entry.declaration.needsRestart else { return nil }
        let newValue = value ?? entry.declaration.defaultValue
        guard newValue != entry.value else { return nil }
        return TweakChange(
            key: key, oldValue: entry.value, newValue: newValue, source: value == nil ? .binary : .overrides)
    }

    /// Sets a tweak, or resets it with `nil`. Call only after ``decode()``.
    ///
    /// - Returns: The change of the value, if it changed, and whether the override did.
    mutating func set(_ value: TweakValue?, for key: TweakKey) -> (
        change: TweakChange?, overrideChanged: Bool
    ) {
        guard let entry = entries[key], value != entry.pendingValue ?? entry.value else {
            return (nil, false)
        }
        let change = change(of: key, to: value)
        let hadOverride = overrides[key] != nil
        overrides.set(value, for: key)
        let overrideChanged = value != nil || hadOverride
        if overrideChanged { setWhileReloading?.insert(key) }
        if entry.declaration.needsRestart {
            let next = value ?? entry.declaration.defaultValue
            entries[key]?.pendingValue = next == entry.value ? nil : next
            return (nil, overrideChanged)
        }
        entries[key]?.source = value == nil ? .binary : .overrides
        if let change {
            entries[key]?.value = change.newValue
            for cell in entry.cells { cell.cell.store(change.newValue) }
        }
        return (change, overrideChanged)
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
