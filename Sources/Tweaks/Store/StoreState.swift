internal import FoundationEssentials
internal import Glibc
internal import TweakRecords

/// Everything that a store knows. It is the value of the store's lock.
struct StoreState {
    /// A tweak of the process.
    struct Entry {
        var declaration: TweakDeclaration {
            didSet { needsRestart = declaration.needsRestart }
        }
        /// What the declaration says, found once.
        fileprivate(set) var needsRestart: Bool
        /// The cell of the record that it is declared by comes first.
        var cells: [OwnedCell]
        var value: TweakValue
        var source: TweakSource
        /// See ``TweakStatus/pendingValue``.
        var pendingValue: TweakValue?
        /// What the last change of the value was, except for the value.
        var lastChange: (oldValue: TweakValue, source: TweakSource, date: Date)?
    }

    /// Images whose records have not been decoded, because nobody has asked for anything in them.
    private(set) var undecoded: [ProcessImage] = []
    /// Images that came after the start. The others stay for as long as the process.
    var openedImages: [ProcessImage] = []
    var entries: [TweakKey: Entry] = [:]
    /// The keys in the order of declaration.
    var order: [TweakKey] = []
    /// What others than the binary say. The overrides are those of the file when it was read, with what was set since.
    var chain = ProviderChain()
    var environment = EnvironmentVariables()
    /// What providers hold and nobody has looked for among the tweaks yet.
    var undeclared: [TweakKey: TweakDeclaration] = [:]
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
        if !chain.isEmpty { decode() }
    }

    /// Forgets an image that is about to be unloaded, see `StoreState+Images.swift`.
    mutating func forget(_ image: ProcessImage) {
        undecoded.removeAll { $0.memory == image.memory }
        openedImages.removeAll { $0.memory == image.memory }
        keysOfCells = keysOfCells.filter { !image.memory.contains($0.key) }
    }

    /// Gives the cells of tweaks that are not decoded the values that they have from providers.
    mutating func applyChain() {
        let (keys, words) = chain.firstWords
        let effects = effects(on: keys, before: ProviderChain()) { chain.resolve($0, words[$1]) }
        messages += effects.messages
        effects.store()
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
        if !undeclared.isEmpty { addUndeclared() }
    }

    mutating func add(_ declaration: TweakDeclaration, _ cell: OwnedCell) {
        let key = declaration.key
        if let first = entries[key], first.cells.allSatisfy({ !$0.owner.declares || $0.owner == .provided }) {
            // Who declares it knows better than a provider.
            entries[key]?.cells.insert(cell, at: 0)
            return replaceCells(of: key, with: [cell] + first.cells.filter { $0.cell.type == cell.cell.type })
        }
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
        if let text = environment.claim(key, &messages) { chain[.environment][key] = .text(text) }
        let resolution = chain.resolve(declaration)
        messages += resolution.messages
        if resolution.source != .binary { cell.cell.store(resolution.value) }
        entries[key] = Entry(declaration: declaration, cells: [cell], resolution)
        order.append(key)
        if let handle = handles[key], handle.declaration.type == declaration.type {
            entries[key]?.cells.append(OwnedCell(handle.cell, .handle))
            handle.cell.store(resolution.value)
        }
        if let warning = declaration.expiryWarning(on: utcDay(secondsSince1970: time(nil))) {
            messages.append(warning)
        }
    }

    /// Sets a tweak, or resets it with `nil`.
    ///
    /// - Parameter index: Where it is among the entries.
    /// - Returns: The change of the value, if it changed, and whether the override did.
    mutating func set(
        _ value: TweakValue?, for key: TweakKey, at index: Dictionary<TweakKey, Entry>.Index,
        in source: TweakSource
    ) -> (change: TweakChange?, overrideChanged: Bool) {
        // As a rule nothing stands above, and asking the whole chain can be saved.
        let isHighest = chain.isHighest(source)
        var overrideChanges = true
        if let value {
            let before =
                isHighest
                ? entries.values[index].inPlace { $0.pendingValue ?? $0.value }
                : chain.resolve(entries.values[index].declaration, from: source).value
            guard value != before || chain[.session][key] != nil else { return (nil, false) }
        } else {
            overrideChanges = chain[source][key] != nil
        }
        chain[source][key] = value.map(ProvidedValue.value)
        // What is kept is meant for now too.
        if source == .overrides, !chain[.session].isEmpty { chain[.session][key] = nil }
        if overrideChanges, source == .overrides { setWhileReloading?.insert(key) }
        let resolution =
            if isHighest, let value {
                ProviderChain.Resolution(value: value, source: source)
            } else {
                chain.resolve(entries.values[index].declaration)
            }
        return (entries.values[index].take(resolution), overrideChanges)
    }

    /// What setting a tweak would change; `nil` if it keeps its value, for the moment at least.
    func change(of key: TweakKey, to value: TweakValue?, in source: TweakSource) -> TweakChange? {
        guard let entry = entries[key] else { return nil }
        var after = chain
        if let value {
            after.news.append(.init(source: source, values: [key: .value(value)]))
        } else {
            after.news.append(.init(source: source, gone: [key]))
        }
        if source == .overrides { after.news.append(.init(source: .session, gone: [key])) }
        return entry.change(to: after.resolve(entry.declaration))
    }
}

extension StoreState.Entry {
    init(declaration: TweakDeclaration, cells: [OwnedCell], _ resolution: ProviderChain.Resolution) {
        self.declaration = declaration
        needsRestart = declaration.needsRestart
        self.cells = cells
        value = resolution.value
        source = resolution.source
    }

    /// What another value would change; `nil` if it is the same already, or stays until a restart.
    func change(to resolution: ProviderChain.Resolution) -> TweakChange? {
        guard !needsRestart, resolution.value != value else { return nil }
        return TweakChange(
            key: declaration.key, oldValue: value, newValue: resolution.value, source: resolution.source)
    }

    /// Takes over the value that the providers give now.
    ///
    /// - Returns: The change; `nil` if the value is the same, or is one for the next start.
    mutating func take(_ resolution: ProviderChain.Resolution) -> TweakChange? {
        if needsRestart {
            pendingValue = resolution.value == value ? nil : resolution.value
            return nil
        }
        let change = change(to: resolution)
        source = resolution.source
        if let change {
            value = change.newValue
            lastChange = (change.oldValue, change.source, Date())
            for cell in cells { cell.cell.store(change.newValue) }
        }
        return change
    }

    /// Reads an entry of a dictionary without a copy, which would be large.
    mutating func inPlace<Result, Failure>(
        _ body: (borrowing Self) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        try body(self)
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
