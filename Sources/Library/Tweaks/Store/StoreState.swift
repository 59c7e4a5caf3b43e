internal import Glibc
internal import TweakRecords

/// Everything that a store knows. It is the value of the store's lock.
struct StoreState {
    var images = TweakImages()
    let tweaks = TweakTable()
    /// What others than the binary say. The overrides are those of the file when it was read, with what was set since.
    var layers = ProviderLayers()
    var environment = EnvironmentVariables()
    /// What only providers declare, and nobody has looked for among the tweaks yet.
    private var undeclared: Set<TweakKey> = []
    /// Handles of names that nothing declares, and those that others have replaced. Somebody may read them, so those of the
    /// tweak's type follow it, and the others have their defaults.
    private var otherHandles: [TweakKey: [Handle]] = [:]
    /// The names of records that handles lead to, by the addresses of their cells.
    private var keysOfCells: [StableNumber: TweakKey] = [:]
    /// What actions run that are made in Swift.
    var closures: [StableNumber: ActionClosure] = [:]
    /// What each bound variable follows, by its address.
    private var boundVariables: [StableNumber: TweakKey] = [:]
    /// The tweaks that have been set while the file is being read again; otherwise `nil`.
    var setWhileReloading: Set<TweakKey>?
    var delivery = ChangeDelivery()
    /// What writes a person's overrides; `nil` if they are not kept.
    var writer: OverridesWriter?
    /// By what overrides are kept; `nil` as long as they are not.
    var application: String?
    /// Messages for a person. They wait until the lock is released, because a log handler may call the store.
    var messages: [String] = []
    /// The tweaks that are declared differently since the last messages: the first place, the second, and how many
    /// others there are.
    private var disagreements: [(entry: TweakEntry, second: String, others: Int)] = []
    /// Grows whenever the first cell of a tweak may have changed.
    private(set) var cellsVersion: UInt64 = 0
    /// Tweaks that providers which list none have not been asked for.
    private var unasked: [TweakKey] = []
    /// Names that the program has asked for and nothing declared, of which such providers have been asked.
    private(set) var askedFor: Set<TweakKey> = []
    /// How many of them there can be. A program that makes them up has others than people know.
    private static let mostAskedFor = 20_000
}

extension StoreState {
    /// What is done without the lock: messages to report, observers whose closures are to be released, and providers to ask.
    struct Rest {
        let messages: [String]
        let removed: [ObserverList.Observer]
        let unasked: [TweakKey]
        let feeds: [ProviderFeed]
    }

    /// Whether there is something to report.
    var hasMessages: Bool { !messages.isEmpty || !disagreements.isEmpty }

    /// The providers that are to be asked for a name, which is once while nothing declares it.
    mutating func feedsToAsk(about key: TweakKey) -> [ProviderFeed] {
        guard !layers.askedForAll.isEmpty, tweaks[key] == nil, askedFor.count < Self.mostAskedFor,
            askedFor.insert(key).inserted
        else { return [] }
        return layers.askedForAll
    }

    mutating func drainRest() -> Rest? {
        guard hasMessages || !unasked.isEmpty || delivery.hasRemoved else { return nil }
        defer { (messages, disagreements, unasked) = ([], [], []) }
        messages += disagreements.map { entry, second, others in
            let first = entry.declaration.location ?? "an unknown place"
            let places =
                others == 0 ? "\(first) and at \(second)" : "\(first), at \(second) and at \(others) more"
            return "\(entry.key): declared differently at \(places); the first declaration counts"
        }
        return Rest(
            messages: messages, removed: delivery.drainRemoved(), unasked: unasked,
            feeds: unasked.isEmpty ? [] : layers.askedForAll)
    }
}

extension StoreState {
    func status(of key: TweakKey) -> TweakStatus? {
        // A closure would hold a copy of the state.
        guard let entry = tweaks[key] else { return nil }
        return status(of: entry)
    }

    /// All tweaks, in the order of declaration.
    var statuses: [TweakStatus] { tweaks.all.map(status) }

    /// A tweak, with the texts for people that only a provider has.
    func status(of entry: TweakEntry) -> TweakStatus {
        guard let provided = layers.declaration(of: entry.key), !entry.isProvided else {
            return status(of: entry, as: entry.declaration)
        }
        return status(of: entry, as: entry.declaration.withTexts(of: provided))
    }

    private func status(of entry: TweakEntry, as declaration: TweakDeclaration) -> TweakStatus {
        TweakStatus(
            declaration: declaration, value: entry.value, source: entry.source,
            pendingValue: entry.pendingValue)
    }
}

/// The images of a process that have tweaks.
struct TweakImages {
    /// Those whose records have not been decoded, because nobody has asked for anything in them.
    private(set) var undecoded: [(image: ProcessImage, number: UInt32)] = []
    /// Those that came after the start. The others stay for as long as the process.
    private var opened: [(image: ProcessImage, number: UInt32)] = []
    private var lastNumber: UInt32 = 0
    /// Whether some records of those that are not decoded are.
    fileprivate var areDecodedInPart = false

    mutating func add(_ image: ProcessImage, isOpened: Bool) {
        lastNumber &+= 1
        undecoded.append((image, lastNumber))
        if isOpened { opened.append((image, lastNumber)) }
    }

    /// The image that came later and that an address is in.
    func opened(at address: UInt) -> (image: ProcessImage, number: UInt32)? {
        opened.first { $0.image.memory.contains(address) }
    }

    mutating func remove(_ number: UInt32) {
        undecoded.removeAll { $0.number == number }
        opened.removeAll { $0.number == number }
    }

    fileprivate mutating func drainUndecoded() -> [(image: ProcessImage, number: UInt32)] {
        defer { undecoded = [] }
        return undecoded
    }

    /// The place of what is made now.
    fileprivate mutating func nextPlace() -> RecordPlace {
        lastNumber &+= 1
        return RecordPlace(image: lastNumber, position: 0)
    }
}

// MARK: - Decoding

extension StoreState {
    /// Adds an image that was loaded later, whose cells hold their defaults.
    mutating func open(_ image: ProcessImage) {
        images.add(image, isOpened: true)
        // Otherwise what it holds is right already.
        if !layers.isEmpty || !layers.askedForAll.isEmpty { decode() }
    }

    /// Decodes the records that are not decoded yet.
    mutating func decode() {
        if !images.undecoded.isEmpty {
            for (image, number) in images.drainUndecoded() {
                var place = RecordPlace(image: number, position: 0)
                for records in image.records {
                    let section = RecordSection(records.bytes, byteOrder: .native)
                    messages += section.errors.map { "\(image.path): \($0)" }
                    for tweak in section.tweaks {
                        add(tweak.declaration, records, tweak.offset, at: place)
                        place.position &+= 1
                    }
                }
            }
            if images.areDecodedInPart { tweaks.sort() }
            images.areDecodedInPart = false
        }
        if !undeclared.isEmpty { addUndeclared() }
    }

    /// Decodes the records of some tweaks, which takes much less time than all if there are many others.
    mutating func decode(only keys: [TweakKey]) {
        guard !images.undecoded.isEmpty, !keys.isEmpty else { return }
        // What the environment sets is known when all names are.
        guard environment.isEmpty else { return decode() }
        let matcher = RecordMatcher(keys)
        for (image, number) in images.undecoded {
            for records in image.records {
                matcher.forEachMatch(in: records) { range, key in
                    // What is broken is reported when all are decoded.
                    let declaration = try? TweakDeclaration(
                        record: records.bytes, in: range, byteOrder: .native, knownAs: key)
                    guard let declaration else { return }
                    add(
                        declaration, records, range.lowerBound, at: RecordPlace(image: number, position: 0))
                }
            }
        }
        images.areDecodedInPart = true
    }

    private mutating func add(
        _ declaration: TweakDeclaration, _ records: UnsafeRawBufferPointer, _ offset: Int,
        at place: RecordPlace
    ) {
        guard let cell = Cell(records, offset, declaration.type) else { return }
        add(declaration, OwnedCell(cell, .image(place.image)), at: place)
    }

    private mutating func add(
        _ declaration: TweakDeclaration, _ cell: OwnedCell, at place: RecordPlace, _ handle: Handle? = nil
    ) {
        let key = declaration.key
        if let entry = tweaks[key] {
            // Known since only some were decoded.
            if entry.cells.first?.cell.number == cell.cell.number {
                entry.place = place
            } else if !entry.cells.contains(cell.cell) {
                add(declaration, cell, to: entry)
            }
            return
        }
        if let text = environment.claim(key, &messages) { layers[.environment][key] = .text(text) }
        cellsVersion &+= 1
        let resolution = layers.resolve(declaration, &messages)
        let entry = TweakEntry(declaration, cell, at: place, resolution)
        tweaks.append(entry)
        if !layers.askedForAll.isEmpty { unasked.append(key) }
        updateHandles(of: entry, handle)
        if let warning = declaration.expiryWarning(on: utcDay(secondsSince1970: time(nil))) {
            messages.append(warning)
        }
    }

    /// Adds a further record of a tweak. The first declaration counts, but who declares a tweak knows better than a provider.
    private mutating func add(
        _ declaration: TweakDeclaration, _ cell: OwnedCell, to entry: TweakEntry, _ handle: Handle? = nil
    ) {
        if entry.isProvided {
            cellsVersion &+= 1
            entry.removeCells { $0.cell.type != declaration.type || $0.cell.number == cell.cell.number }
            entry.add(cell, isFirst: true)
            return redeclare(entry, as: declaration, handle)
        }
        if !entry.declaration.agrees(with: declaration) {
            note(declaration.location ?? "an unknown place", disagreesWith: entry)
        }
        if let handle {
            entry.removeCells { $0.cell.number == cell.cell.number }
            if otherHandles[entry.key]?.contains(where: { $0 === handle }) != true {
                otherHandles[entry.key, default: []].append(handle)
            }
        }
        if entry.declaration.type == declaration.type { entry.add(cell) }
    }

    /// A tweak is told of once, whatever comes later.
    private mutating func note(_ place: String, disagreesWith entry: TweakEntry) {
        if let last = disagreements.indices.last(where: { disagreements[$0].entry === entry }) {
            disagreements[last].others += 1
        } else if !entry.isKnownToDisagree {
            entry.isKnownToDisagree = true
            disagreements.append((entry, place, 0))
        }
    }

    private mutating func redeclare(
        _ entry: TweakEntry, as declaration: TweakDeclaration, _ handle: Handle? = nil
    ) {
        guard declaration != entry.declaration || handle != nil else { return }
        entry.redeclare(declaration)
        updateHandles(of: entry, handle)
        let resolution = layers.resolve(declaration, &messages)
        if delivery.isHeard, let change = entry.change(to: resolution) { delivery.add([change]) }
        entry.commit(resolution)
    }

    /// Makes the tweaks that only providers know.
    private mutating func addUndeclared() {
        let keys = undeclared.sorted()
        undeclared = []
        for key in keys where tweaks[key] == nil {
            if let declaration = layers.declaration(of: key) { _ = addRecord(declaration, .provided) }
        }
    }

    /// Adds a tweak that is in no image, or says more about one that only providers know. Its handle is the record.
    ///
    /// - Parameter isFurther: Whether an action may have other functions.
    /// - Returns: `nil` if the program has a tweak of this name.
    mutating func addRecord(
        _ declaration: TweakDeclaration, _ owner: CellOwner, _ action: CFunction? = nil,
        isFurther: Bool = false
    ) -> Handle? {
        let entry = tweaks[declaration.key]
        guard entry.map({ $0.isProvided || isFurther && $0.declaration.type == .action }) ?? true else {
            return nil
        }
        let used = entry?.cells.all.filter(\.owner.declares).map(\.cell.number) ?? []
        let known = otherHandles[declaration.key]?.first { handle in
            // A provider may say something new all the time, and each handle is there for ever.
            !used.contains(handle.cell.number)
                && (owner == .provided
                    ? handle.cell.type == declaration.type : handle.declaration == declaration)
        }
        let handle = known ?? Handle(declaration)
        if declaration.type == .action { handle.cell.action = action }
        let cell = OwnedCell(handle.cell, owner)
        if let entry {
            add(declaration, cell, to: entry, handle)
        } else {
            add(declaration, cell, at: images.nextPlace(), handle)
        }
        return handle
    }

    /// Has a tweak be what the highest provider that declares it says, unless the program declares it.
    ///
    /// - Returns: Whether it was not there.
    @discardableResult
    mutating func followProviders(_ key: TweakKey) -> Bool {
        guard let declaration = layers.declaration(of: key) else {
            undeclared.remove(key)
            if !layers.fail(key) { removeCells(of: key, keepingObservers: true) { $0.owner == .provided } }
            return false
        }
        guard let entry = tweaks[key] else { return undeclared.insert(key).inserted }
        guard entry.isProvided else { return false }
        if entry.declaration.type == declaration.type {
            redeclare(entry, as: declaration)
        } else {
            _ = addRecord(declaration, .provided)
        }
        return false
    }
}

// MARK: - Handles and bound variables

extension StoreState {
    /// The handle of a name, which is always the same unless type, default or limits change.
    ///
    /// - Parameter declaration: What the handle says if no image declares the tweak.
    mutating func handle(of key: TweakKey, otherwise declaration: TweakDeclaration? = nil) -> Handle? {
        if let entry = tweaks[key] { return handle(of: entry) }
        if let handle = otherHandles[key]?.last { return handle }
        guard let declaration else { return nil }
        let handle = Handle(declaration)
        otherHandles[key] = [handle]
        return handle
    }

    /// - Returns: `nil` for a monitor of an image, since a record of its own would not follow what the program stores.
    mutating func handle(of entry: TweakEntry) -> Handle? {
        if let handle = entry.handle { return handle }
        if entry.isMonitor { return nil }
        let handle = Handle(entry.declaration)
        updateHandles(of: entry, handle)
        return handle
    }

    /// Gives a tweak the handle that says what the tweak is, a new one if there is none, unless nobody has asked for one.
    ///
    /// - Parameter new: The one that it gets.
    private mutating func updateHandles(of entry: TweakEntry, _ new: Handle? = nil) {
        if entry.isMonitor {
            guard let new else { return }
            otherHandles[entry.key]?.removeAll { $0 === new }
            entry.setHandle(new)
            return
        }
        var others = otherHandles.removeValue(forKey: entry.key) ?? []
        if let handle = entry.handle { others.append(handle) }
        guard new != nil || !others.isEmpty else { return }
        let handle =
            new ?? others.last { handle in
                // What a provider says may change all the time, so that is only in the store.
                entry.isProvided
                    ? handle.cell.type == entry.declaration.type
                    : handle.declaration?.agrees(with: entry.declaration) ?? false
            } ?? Handle(entry.declaration)
        entry.setHandle(handle)
        others.removeAll { $0 === handle }
        for other in others {
            if other.cell.type == entry.declaration.type {
                entry.follow(with: other)
            } else {
                other.cell.store(other.declaration?.defaultValue ?? .nothing)
            }
        }
        if !others.isEmpty { otherHandles[entry.key] = others }
    }

    /// The name of a record, by its cell.
    mutating func key(ofCell cell: UInt) -> TweakKey {
        if let key = keysOfCells[StableNumber(cell)] { return key }
        let record = UnsafeRawPointer(bitPattern: cell &- UInt(RecordLayout.cellOffset))
        let key = record.flatMap(TweakKey.init(record:)) ?? TweakKey("", "", "")
        keysOfCells[StableNumber(cell)] = key
        return key
    }

    /// Has a variable follow a tweak, and nothing else.
    mutating func bind(_ variable: Cell, to entry: TweakEntry) {
        unbind(variable.number)
        boundVariables[StableNumber(variable.number)] = entry.key
        entry.add(OwnedCell(variable, .variable))
    }

    mutating func unbind(_ variable: UInt) {
        guard let key = boundVariables.removeValue(forKey: StableNumber(variable)) else { return }
        tweaks[key]?.removeCells { $0.owner == .variable && $0.cell.number == variable }
    }
}

// MARK: - Removing

extension StoreState {
    /// Lets go of everything in an image: records, bound variables, observers whose code is there. Tweaks that nothing
    /// else declares are gone.
    mutating func close(_ image: ProcessImage, _ number: UInt32) {
        images.remove(number)
        keysOfCells = keysOfCells.filter { !image.memory.contains(UInt($0.key.number)) }
        for (variable, _) in boundVariables where image.memory.contains(UInt(variable.number)) {
            unbind(UInt(variable.number))
        }
        for entry in Array(tweaks.all) {
            removeCells(of: entry.key) { owned in
                switch owned.owner {
                case .image(let other): other == number
                case .made: owned.cell.action.map { image.memory.contains($0.code) } ?? false
                case .provided, .handle, .variable: false
                }
            }
        }
        delivery.removeObservers { $0.code.map(image.memory.contains) ?? false }
    }

    /// Takes cells away from a tweak. Without one that declares it, it is gone, with its bound variables and the observers
    /// that end with it; if the first declaration is gone, the next one counts.
    ///
    /// - Parameter keepsObservers: Whether those observers stay, since the tweak may come again.
    mutating func removeCells(
        of key: TweakKey, keepingObservers keepsObservers: Bool = false, where isGone: (OwnedCell) -> Bool
    ) {
        guard let entry = tweaks[key], entry.cells.contains(where: isGone) else { return }
        let first = entry.cells.first?.cell.number
        cellsVersion &+= 1
        entry.removeCells(where: isGone)
        guard entry.cells.declare else {
            remove(entry)
            if !keepsObservers { delivery.removeObservers(endingWith: key) }
            // What a provider knows of it counts again.
            if layers.declaration(of: key) != nil { undeclared.insert(key) }
            return
        }
        updateHandles(of: entry)
        guard let cell = entry.cells.first?.cell, cell.number != first else { return }
        if entry.isProvided {
            followProviders(key)
            return
        }
        if let declaration = TweakDeclaration(record: cell.address - RecordLayout.cellOffset) {
            redeclare(entry, as: declaration)
        }
    }

    private mutating func remove(_ entry: TweakEntry) {
        tweaks.remove(entry.key)
        entry.cells.forEach { owned in
            if owned.owner == .variable { boundVariables[StableNumber(owned.cell.number)] = nil }
        }
        if let handle = entry.handle { otherHandles[entry.key, default: []].append(handle) }
        for handle in otherHandles[entry.key] ?? [] where handle.cell.type == entry.declaration.type {
            handle.cell.store(entry.declaration.defaultValue)
        }
    }
}

extension Cell {
    /// The cell of the record that begins at an offset.
    init?(_ records: UnsafeRawBufferPointer, _ offset: Int, _ type: TweakType) {
        guard let start = records.baseAddress else { return nil }
        address = UnsafeMutableRawPointer(mutating: start + offset + RecordLayout.cellOffset)
        self.type = type
    }
}
