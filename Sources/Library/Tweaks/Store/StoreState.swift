// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
internal import TweakOverrides
internal import TweakRecords

/// The state of a store, guarded by its lock.
struct StoreState {
    var images = TweakImages()
    let tweaks = TweakTable()
    var gates = Gates()
    /// The type records whose functions have not been called.
    private var undescribed: [UndescribedType] = []
    /// Whether the cases of an enumeration are known.
    private var haveEnumerations = false
    /// The values outside the binary. The overrides are those in the file when it was read, with changes since.
    var layers = ProviderLayers()
    var environment = EnvironmentVariables()
    /// Tweaks whose overrides had become defaults in the sources when the file was read, and not in the binary.
    var baked: [TweakKey] = []
    /// The variables that a person has made tweaks of, also those of images that are not loaded yet.
    var adopted = AdoptedBuilds()
    /// Tweaks on the way to the values of their providers.
    var ramps: [TweakKey: Ramp] = [:]
    /// Whether a ``ValueTimer`` ends leases and advances ramps.
    var hasTimer = false
    /// Tweaks that only providers declare and that have no entries yet.
    private var undeclared: Set<TweakKey> = []
    /// Handles of undeclared names, and replaced handles. They may still be read, so those of the tweak's type follow
    /// it, and the others have their defaults.
    private var otherHandles: [TweakKey: [Handle]] = [:]
    /// The names of records that handles point to, by the addresses of their cells.
    private var keysOfCells: [StableNumber: TweakKey] = [:]
    /// The tweaks of objects that records point to, by the objects' addresses.
    private var objects: [StableNumber: TweakKey] = [:]
    /// Whether records point to objects of the program.
    var hasObjects: Bool { !objects.isEmpty }
    /// The closures of actions made in Swift.
    var closures: [StableNumber: ActionClosure] = [:]
    /// The tweak of each bound variable, by the variable's address.
    private var boundVariables: [StableNumber: TweakKey] = [:]
    /// The tweaks set while the file is being read again; otherwise `nil`.
    var setWhileReloading: Set<TweakKey>?
    var delivery = ChangeDelivery()
    var history = ChangeHistory()
    /// Writes a person's overrides; `nil` if they are not kept.
    var writer: OverridesWriter?
    /// The name under which overrides are kept, or `nil`.
    var application: String?
    /// Tweaks that somebody outside of the program has set for the first time.
    private var newlySet: Set<TweakKey> = []
    /// Messages for people. They are reported after the lock was released, because a log handler may call the store.
    var messages: [String] = []
    /// Tweaks with conflicting declarations since the last report: the first place, the second, and the number of
    /// others.
    private var disagreements: [(entry: TweakEntry, second: String, others: Int)] = []
    /// Incremented when the first cell of any tweak may have changed.
    private(set) var cellsVersion: UInt64 = 0
    /// Tweaks for which providers that cannot list their names have not been queried.
    private var unasked: [TweakKey] = []
    /// Undeclared names that the program has used, for which such providers have been queried.
    private(set) var askedFor: Set<TweakKey> = []
    /// The limit of such names, for programs that generate them.
    private static let mostAskedFor = 20_000
}

extension StoreState {
    /// Work to do without the lock: messages to report, observers to release, and providers to query.
    struct Rest {
        let messages: [String]
        let removed: [ObserverList.Observer]
        let unasked: [TweakKey]
        let feeds: [ProviderFeed]
        /// Tweaks to look for in the code.
        let newlySet: Set<TweakKey>
    }

    /// Whether there is something to report.
    var hasMessages: Bool { !messages.isEmpty || !disagreements.isEmpty }

    /// The providers to query for a name; once per name while nothing declares it.
    mutating func feedsToAsk(about key: TweakKey) -> [ProviderFeed] {
        guard !layers.askedForAll.isEmpty, tweaks[key] == nil, askedFor.count < Self.mostAskedFor,
            askedFor.insert(key).inserted
        else { return [] }
        return layers.askedForAll
    }

    mutating func drainRest() -> Rest? {
        guard hasMessages || !unasked.isEmpty || delivery.hasRemoved || !newlySet.isEmpty else { return nil }
        defer { (messages, disagreements, unasked, newlySet) = ([], [], [], []) }
        messages += disagreements.map { entry, second, others in
            let first = entry.declaration.location ?? "an unknown place"
            let places =
                others == 0 ? "\(first) and at \(second)" : "\(first), at \(second) and at \(others) more"
            return "\(entry.key): declared differently at \(places); the first declaration is used"
        }
        return Rest(
            messages: messages, removed: delivery.drainRemoved(), unasked: unasked,
            feeds: unasked.isEmpty ? [] : layers.askedForAll, newlySet: newlySet)
    }

    /// Whether the program is known to read a tweak in another way than by code at its declaration.
    func isReadOtherwise(_ entry: TweakEntry) -> Bool {
        entry.hasOtherCells || delivery.observers.areThere(for: entry.key)
    }

    /// Notes the tweaks that a plan gives values other than their defaults, if only code at their declarations can read
    /// them.
    mutating func noteSet(_ plan: ValuePlan) {
        plan.steps.forEach { _, step in
            let entry = step.entry
            guard step.resolution.source != .binary, !entry.isLookedFor, !isReadOtherwise(entry) else {
                return
            }
            entry.isLookedFor = true
            newlySet.insert(entry.key)
        }
    }
}

extension StoreState {
    func status(of key: TweakKey) -> TweakStatus? {
        // A closure would copy the state.
        guard let entry = tweaks[key] else { return nil }
        return status(of: entry)
    }

    /// All tweaks, in the order of declaration.
    var statuses: [TweakStatus] { tweaks.all.map(status) }

    /// The status of a tweak, with the texts for people that only a provider has.
    func status(of entry: TweakEntry) -> TweakStatus {
        guard let provided = layers.declaration(of: entry.key), !entry.isProvided else {
            return status(of: entry, as: entry.declaration)
        }
        return status(of: entry, as: entry.declaration.withTexts(of: provided))
    }

    /// The value of a tweak, and its provider, when leases and ramps have ended, after the next start.
    func lasting(of entry: TweakEntry) -> Resolution {
        layers.leases[entry.key].isEmpty
            ? Resolution(value: entry.nextValue, source: entry.source)
            : layers.withoutLeases.resolve(entry.declaration)
    }

    /// The value of a tweak when leases, kills and ramps have ended, after the next start: what undoing restores.
    func valueBelowKills(of entry: TweakEntry) -> TweakValue {
        layers.isKilled(entry.key)
            ? layers.withoutLeasesAndKills.resolve(entry.declaration).value : lasting(of: entry).value
    }

    /// The status of a tweak when leases and ramps have ended.
    func lastingStatus(of entry: TweakEntry) -> TweakStatus {
        guard entry.rampTarget != nil || entry.source == .lease else { return status(of: entry) }
        let resolution = lasting(of: entry)
        return TweakStatus(
            declaration: entry.declaration, value: resolution.value, source: resolution.source)
    }

    private func status(of entry: TweakEntry, as declaration: TweakDeclaration) -> TweakStatus {
        let value = entry.value
        // A value that the program has stored in its variable is not the default.
        let isStored = entry.isStoredByProgram && entry.source == .binary && value != declaration.defaultValue
        var status = TweakStatus(
            declaration: declaration, value: value, source: isStored ? .program : entry.source,
            pendingValue: entry.pendingValue)
        if !gates.isEmpty { status.gate = gates.mailbox(of: entry.key)?.name.description }
        return status
    }
}

/// The images of a process that contain tweaks.
struct TweakImages {
    /// The images whose records are not decoded, because nothing in them was needed yet.
    private(set) var undecoded: [(image: ProcessImage, number: UInt32)] = []
    /// The images that can be unloaded. The others stay until the process exits.
    private(set) var opened: [(image: ProcessImage, number: UInt32)] = []
    /// The images with records that point to objects.
    private var withObjects: [(image: ProcessImage, number: UInt32)] = []
    private var lastNumber: UInt32 = 0
    /// Whether some records of undecoded images have been decoded.
    fileprivate var areDecodedInPart = false

    @discardableResult
    mutating func add(_ image: ProcessImage) -> UInt32 {
        lastNumber &+= 1
        if image.noteInitialValues() { withObjects.append((image, lastNumber)) }
        undecoded.append((image, lastNumber))
        if !image.isLasting { opened.append((image, lastNumber)) }
        return lastNumber
    }

    /// The image that contains an address, if it can be unloaded.
    func opened(at address: UInt) -> (image: ProcessImage, number: UInt32)? {
        opened.first { $0.image.memory.contains(address) }
    }

    mutating func remove(_ number: UInt32) {
        undecoded.removeAll { $0.number == number }
        opened.removeAll { $0.number == number }
        withObjects.removeAll { $0.number == number }
    }

    /// The declaration in a record that points to an object.
    fileprivate func declaration(ofObject cell: Cell) -> TweakDeclaration? {
        for (image, _) in withObjects {
            for records in image.records {
                for object in RecordSection.objects(in: records.bytes, byteOrder: .native) {
                    let record = records.baseAddress.map { $0 + object.offset }
                    let start = object.address(in: records.bytes)
                    if let record, cell.number >= start, cell.number - start < UInt(object.byteCount) {
                        return TweakDeclaration(
                            record: record, element: Int(cell.number - start) / object.type.byteCount)
                    }
                }
            }
        }
        return nil
    }

    fileprivate mutating func drainUndecoded() -> [(image: ProcessImage, number: UInt32)] {
        defer { undecoded = [] }
        return undecoded
    }

    /// The place of the next tweak made at run time.
    fileprivate mutating func nextPlace() -> RecordPlace {
        lastNumber &+= 1
        return RecordPlace(image: lastNumber, position: 0)
    }
}

// MARK: - Decoding

extension StoreState {
    /// Adds an image loaded after the start, whose cells hold their defaults.
    mutating func open(_ image: ProcessImage) { changeImage { $0.add(image) } }

    private mutating func add(_ image: ProcessImage) {
        let number = images.add(image)
        // Without other values the cells are right already, unless older values have not left the gate.
        if !layers.isEmpty || !layers.askedForAll.isEmpty || gates.haveWaiting { decode() }
        if !adopted.builds.isEmpty { adoptVariables(of: image, number) }
        _ = dropBaked()
    }

    /// Removes the overrides that were baked, if the binary has their values as defaults.
    ///
    /// - Returns: `false` if no thread will write the file, so that the caller must flush.
    mutating func dropBaked() -> Bool {
        guard !baked.isEmpty else { return true }
        let values = layers[.overrides]
        let dropped = baked.filter { key in
            guard let declaration = tweaks[key]?.declaration, let provided = values[key] else { return false }
            return (try? provided.admission(for: declaration))?.value == declaration.defaultValue
        }
        guard !dropped.isEmpty else { return true }
        baked.removeAll(where: dropped.contains)
        let update = ValueUpdate(dropped.map { ($0, nil) }, in: .overrides, by: .file)
        update.session = nil
        return commit(plan(update, in: layers), of: update)
    }

    /// Whether there are type records in images that are not decoded.
    var haveTypeRecords: Bool {
        images.undecoded.contains { image, _ in
            image.records.contains {
                !ControlRecords(in: $0.bytes, byteOrder: .native).types.isEmpty
            }
        }
    }

    /// Decodes the remaining records.
    mutating func decode() {
        if !images.undecoded.isEmpty {
            findGates()
            for (image, number) in images.drainUndecoded() {
                var place = RecordPlace(image: number, position: 0)
                for records in image.records {
                    let section = RecordSection(records.bytes, byteOrder: .native)
                    messages += section.errors.map { "\(image.path): \($0)" }
                    for type in section.controls.types {
                        if let type = UndescribedType(type, in: records, of: number) {
                            undescribed.append(type)
                        }
                    }
                    tweaks.reserveCapacity(for: section.tweaks.count)
                    var last = (offset: -1, element: 0)
                    // By index, because an iterator copies each declaration.
                    for index in section.tweaks.indices {
                        let offset = section.tweaks[index].offset
                        last = (offset, offset == last.offset ? last.element + 1 : 0)
                        let isAdded = add(
                            section.tweaks[index].declaration, records, offset, element: last.element,
                            at: place)
                        if !isAdded {
                            let key = section.tweaks[index].declaration.key
                            messages.append(
                                "\(image.path): the variable of \(key) is ignored, because it is "
                                    + "not aligned, cannot be written, is in another library, or is a tweak already"
                            )
                        }
                        place.position &+= 1
                    }
                }
            }
            if images.areDecodedInPart { tweaks.sort() }
            images.areDecodedInPart = false
        }
        if !undeclared.isEmpty { addUndeclared() }
        if gates.haveWaiting { settleGates() }
    }

    /// Decodes the records of some tweaks, which is much faster than decoding all of many.
    mutating func decode(only keys: [TweakKey]) {
        guard !images.undecoded.isEmpty, !keys.isEmpty else { return }
        // Matching environment variables requires all names.
        guard environment.isEmpty else { return decode() }
        let matcher = RecordMatcher(keys + keys.compactMap { $0.ofArray })
        for (image, number) in images.undecoded {
            let place = RecordPlace(image: number, position: 0)
            for records in image.records {
                matcher.forEachMatch(in: records) { range, key in
                    // Broken records are reported when all are decoded.
                    if records[range.lowerBound + RecordLayout.kindOffset] == RecordLayout.variableKind {
                        guard
                            let elements = try? TweakDeclaration.all(
                                record: records.bytes, in: range, byteOrder: .native)
                        else { return }
                        for element in elements.indices {
                            add(elements[element], records, range.lowerBound, element: element, at: place)
                        }
                    } else if let declaration = try? TweakDeclaration(
                        record: records.bytes, in: range, byteOrder: .native, knownAs: key)
                    {
                        add(declaration, records, range.lowerBound, at: place)
                    }
                }
            }
        }
        images.areDecodedInPart = true
    }

    /// - Returns: `false` if the record is that of a variable that cannot be used.
    @discardableResult
    private mutating func add(
        _ declaration: TweakDeclaration, _ records: UnsafeRawBufferPointer, _ offset: Int, element: Int = 0,
        at place: RecordPlace
    ) -> Bool {
        guard let start = records.baseAddress else { return true }
        let record = start + offset
        guard records[offset + RecordLayout.kindOffset] == RecordLayout.variableKind else {
            let cell = Cell(
                address: UnsafeMutableRawPointer(mutating: record + RecordLayout.cellOffset),
                type: declaration.type)
            let owned = OwnedCell(cell, .image(place.image))
            // Copying a declaration takes time.
            if haveEnumerations {
                add(complete(declaration), owned, at: place)
            } else {
                add(declaration, owned, at: place)
            }
            return true
        }
        guard let cell = Cell(object: record, element: element, declaration) else { return false }
        if let known = objects[StableNumber(cell.number)], known != declaration.key { return false }
        objects[StableNumber(cell.number)] = declaration.key
        let owned = OwnedCell(cell, .object(image: place.image))
        if tweaks[declaration.key] == nil {
            addVariable(declaration, owned, at: place)
        } else {
            add(declaration, owned, at: place)
        }
        return true
    }

    private mutating func add(
        _ declaration: TweakDeclaration, _ cell: OwnedCell, at place: RecordPlace, _ handle: Handle? = nil
    ) {
        let key = declaration.key
        if let entry = tweaks[key] {
            // The tweak is known from partial decoding.
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

    /// Adds another record of a tweak. The first declaration counts, but the program's takes precedence over a
    /// provider's.
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
        if entry.declaration.type == declaration.type {
            changeCells(of: entry, isRemoving: false) { entry.add(cell) }
        }
    }

    /// Each tweak is reported once, however many declarations follow.
    private mutating func note(_ place: String, disagreesWith entry: TweakEntry) {
        if let last = disagreements.indices.last(where: { disagreements[$0].entry === entry }) {
            disagreements[last].others += 1
        } else if !entry.isKnownToDisagree {
            entry.isKnownToDisagree = true
            disagreements.append((entry, place, 0))
        }
    }

    private mutating func redeclare(
        _ entry: TweakEntry, as declaration: TweakDeclaration, _ handle: Handle? = nil,
        by author: ChangeAuthor = .program
    ) {
        guard declaration != entry.declaration || handle != nil else { return }
        // The value that waits for a gate may be of another type.
        if let mailbox = entry.waitsIn { changeCells(of: entry, isRemoving: true) { mailbox.drop(entry) } }
        entry.redeclare(declaration)
        if !ramps.isEmpty { follow(nil, entry) }
        updateHandles(of: entry, handle)
        let resolution = layers.resolve(declaration, &messages)
        let before = history.before(entry, layers)
        let update = ValueUpdate(of: .binary, by: author, ShortList())
        let change = commit(resolution, of: entry, update)
        history.record(resolution, in: entry, before, of: update)
        if let change { delivery.add([change], of: update) }
    }

    /// Adds entries for the tweaks that only providers declare.
    private mutating func addUndeclared() {
        let keys = undeclared.sorted()
        undeclared = []
        for key in keys where tweaks[key] == nil {
            if let declaration = layers.declaration(of: key) { _ = addRecord(declaration, .provided) }
        }
    }

    /// Adds a tweak that is in no image, or a program's declaration of one that only providers declare. The record is
    /// its handle.
    ///
    /// - Parameter isFurther: Whether the action may have functions already.
    /// - Returns: `nil` if the program has a tweak of this name.
    mutating func addRecord(
        _ declaration: TweakDeclaration, _ owner: CellOwner, _ action: CFunction? = nil,
        isFurther: Bool = false
    ) -> Handle? {
        // The program's declaration takes precedence over a person's.
        removeCells(of: declaration.key, keepingObservers: true) { $0.owner.isAdopted }
        let entry = tweaks[declaration.key]
        guard entry.map({ $0.isProvided || isFurther && $0.declaration.type == .action }) ?? true else {
            return nil
        }
        let used = entry?.cells.all.filter { $0.owner.declares }.map { $0.cell.number } ?? []
        let known = otherHandles[declaration.key]?.first { handle in
            // A provider's declaration may change all the time, and handles are never freed.
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

    /// Adds an adopted variable.
    mutating func addVariable(_ declaration: TweakDeclaration, _ cell: OwnedCell) {
        addVariable(declaration, cell, at: images.nextPlace())
    }

    /// Adds a tweak whose value is in a variable, in which the program may have stored one.
    private mutating func addVariable(
        _ declaration: TweakDeclaration, _ cell: OwnedCell, at place: RecordPlace
    ) {
        layers.ownValues[declaration.key] = cell.cell.value
        add(declaration, cell, at: place)
        if tweaks[declaration.key]?.source == .binary { layers.ownValues[declaration.key] = nil }
    }

    /// Updates a tweak to the highest provider's declaration, unless the program declares it.
    ///
    /// - Parameters:
    ///   - key: The tweak.
    ///   - author: Who changed the declaration.
    /// - Returns: Whether the tweak is new.
    @discardableResult
    mutating func followProviders(_ key: TweakKey, by author: ChangeAuthor = .program) -> Bool {
        guard let declaration = layers.declaration(of: key) else {
            undeclared.remove(key)
            if !layers.fail(key) { removeCells(of: key, keepingObservers: true) { $0.owner == .provided } }
            return false
        }
        guard let entry = tweaks[key] else { return undeclared.insert(key).inserted }
        guard entry.isProvided else { return false }
        if entry.declaration.type == declaration.type {
            redeclare(entry, as: declaration, by: author)
        } else {
            _ = addRecord(declaration, .provided)
        }
        return false
    }
}

// MARK: - Enumerations

extension StoreState {
    /// Whether the functions of all type records have returned, except one that runs on this thread.
    var knowsTypes: Bool { undescribed.isEmpty && !delivery.isDescribing }

    /// Begins the call of the next type record's function.
    mutating func beginDescribing() -> (UndescribedType, RunningCall)? {
        guard let next = undescribed.popLast() else { return nil }
        let call = RunningCall(.type, code: next.function.code)
        delivery.begin(call)
        return (next, call)
    }

    /// Ends the call, and gives the tweak the cases of its enumeration.
    mutating func endDescribing(
        _ type: UndescribedType, _ call: RunningCall, _ description: TypeDescription
    ) {
        delivery.end(call)
        guard !description.choices.isEmpty, let entry = tweaks[type.record.key],
            entry.declaration.type == description.type, case .image = entry.cells.first?.owner
        else { return }
        haveEnumerations = true
        entry.enumeration = Enumeration(
            cases: description.choices, defaultCase: type.record.defaultCase)
        redeclare(entry, as: complete(entry.declaration))
        // Before, an override that was baked was not known to be the default.
        _ = dropBaked()
    }

    /// A declaration with what is known about its enumeration.
    private mutating func complete(_ declaration: TweakDeclaration) -> TweakDeclaration {
        guard let entry = tweaks[declaration.key], let enumeration = entry.enumeration,
            entry.declaration.type == declaration.type
        else { return declaration }
        return enumeration.complete(declaration, &messages)
    }
}

// MARK: - Handles and bound variables

extension StoreState {
    /// The handle of a name, which stays the same unless type, default or limits change.
    ///
    /// - Parameter declaration: The declaration for the handle if no image declares the tweak.
    mutating func handle(of key: TweakKey, otherwise declaration: TweakDeclaration? = nil) -> Handle? {
        if let entry = tweaks[key] { return handle(of: entry) }
        if let handle = otherHandles[key]?.last { return handle }
        guard let declaration else { return nil }
        let handle = Handle(declaration)
        otherHandles[key] = [handle]
        return handle
    }

    /// - Returns: `nil` for a monitor of an image, because a separate record would not follow the program's stores.
    mutating func handle(of entry: TweakEntry) -> Handle? {
        if let handle = entry.handle { return handle }
        if entry.isMonitor { return nil }
        let handle = Handle(entry.declaration)
        updateHandles(of: entry, handle)
        return handle
    }

    /// Replaces a tweak's handle if it no longer matches the declaration. Does nothing if no handle was ever requested.
    ///
    /// - Parameter new: The new handle.
    private mutating func updateHandles(of entry: TweakEntry, _ new: Handle? = nil) {
        if entry.isMonitor {
            guard let new else { return }
            otherHandles[entry.key]?.removeAll { $0 === new }
            entry.setHandle(new)
            return
        }
        // In the most common case, without the hash of the name.
        if otherHandles.isEmpty, entry.handle == nil {
            if let new { changeCells(of: entry, isRemoving: false) { entry.setHandle(new) } }
            return
        }
        var others = otherHandles.removeValue(forKey: entry.key) ?? []
        if let handle = entry.handle { others.append(handle) }
        guard new != nil || !others.isEmpty else { return }
        let handle =
            new ?? others.last { handle in
                // A provider's declaration may change all the time, so it is only kept in the store.
                entry.isProvided
                    ? handle.cell.type == entry.declaration.type
                    : handle.declaration?.agrees(with: entry.declaration) ?? false
            } ?? Handle(entry.declaration)
        others.removeAll { $0 === handle }
        changeCells(of: entry, isRemoving: false) {
            entry.setHandle(handle)
            for other in others {
                if other.cell.type == entry.declaration.type {
                    entry.follow(with: other)
                } else {
                    other.cell.store(other.declaration?.defaultValue ?? .nothing)
                }
            }
        }
        if !others.isEmpty { otherHandles[entry.key] = others }
    }

    /// The name in the record with this cell.
    mutating func key(ofCell cell: UInt) -> TweakKey {
        if let key = keysOfCells[StableNumber(cell)] { return key }
        let record = UnsafeRawPointer(bitPattern: cell &- UInt(RecordLayout.cellOffset))
        let key = record.flatMap(TweakKey.init(record:)) ?? TweakKey("", "", "")
        keysOfCells[StableNumber(cell)] = key
        return key
    }

    /// Makes a variable follow this tweak, and no other.
    mutating func bind(_ variable: Cell, to entry: TweakEntry) {
        unbind(variable.number)
        boundVariables[StableNumber(variable.number)] = entry.key
        changeCells(of: entry, isRemoving: false) { entry.add(OwnedCell(variable, .variable)) }
    }

    mutating func unbind(_ variable: UInt) {
        guard let key = boundVariables.removeValue(forKey: StableNumber(variable)) else { return }
        guard let entry = tweaks[key] else { return }
        changeCells(of: entry, isRemoving: true) {
            entry.removeCells { $0.owner == .variable && $0.cell.number == variable }
        }
    }
}

// MARK: - Removing

extension StoreState {
    /// Removes everything in an image: its records, bound variables, and observers whose code is there. Tweaks that
    /// nothing else declares disappear.
    mutating func close(_ image: ProcessImage, _ number: UInt32) {
        changeImage { $0.remove(image, number) }
    }

    private mutating func remove(_ image: ProcessImage, _ number: UInt32) {
        images.remove(number)
        undescribed.removeAll { $0.image == number }
        closeGates(of: number)
        keysOfCells = keysOfCells.filter { !image.memory.contains(UInt($0.key.number)) }
        for (variable, _) in boundVariables where image.memory.contains(UInt(variable.number)) {
            unbind(UInt(variable.number))
        }
        for entry in Array(tweaks.all) {
            removeCells(of: entry.key) { owned in
                switch owned.owner {
                case .image(let other), .object(let other), .adopted(let other?): other == number
                case .made: owned.cell.action.map { image.memory.contains($0.code) } ?? false
                case .adopted(nil), .provided, .handle, .variable: false
                }
            }
        }
        objects = objects.filter { !image.memory.contains(UInt($0.key.number)) }
        delivery.removeObservers { $0.code.map(image.memory.contains) ?? false }
    }

    /// The declaration in the record of a cell.
    private func declaration(of owned: OwnedCell) -> TweakDeclaration? {
        guard case .object = owned.owner else {
            return TweakDeclaration(record: owned.cell.address - RecordLayout.cellOffset)
        }
        return images.declaration(ofObject: owned.cell)
    }

    /// Removes cells from a tweak. Without a declaring cell the tweak disappears, with its bound variables and the
    /// observers that end with it; if the first declaration is removed, the next one counts.
    ///
    /// - Parameter keepsObservers: Whether those observers stay, because the tweak may appear again.
    mutating func removeCells(
        of key: TweakKey, keepingObservers keepsObservers: Bool = false, where isGone: (OwnedCell) -> Bool
    ) {
        guard let entry = tweaks[key], entry.cells.contains(where: isGone) else { return }
        let first = entry.cells.first?.cell.number
        if entry.isStoredByProgram { layers.ownValues[key] = nil }
        cellsVersion &+= 1
        changeCells(of: entry, isRemoving: true) {
            entry.removeCells(where: isGone)
            if !entry.cells.declare { entry.waitsIn?.drop(entry) }
        }
        guard entry.cells.declare else {
            remove(entry)
            if !keepsObservers { delivery.removeObservers(endingWith: key) }
            // The provider's declaration counts again.
            if layers.declaration(of: key) != nil { undeclared.insert(key) }
            return
        }
        updateHandles(of: entry)
        guard let owned = entry.cells.first, owned.cell.number != first else { return }
        if entry.isProvided {
            followProviders(key)
            return
        }
        if let declaration = declaration(of: owned) {
            redeclare(entry, as: complete(declaration))
        }
    }

    private mutating func remove(_ entry: TweakEntry) {
        if !ramps.isEmpty { follow(nil, entry) }
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
    /// The object that a record points to, or an element of it; `nil` unless ``ProcessImage/noteInitialValues()`` has
    /// found it.
    fileprivate init?(object record: UnsafeRawPointer, element: Int, _ declaration: TweakDeclaration) {
        guard declaration.defaultValue != .nothing,
            let start = record.loadUnaligned(
                fromByteOffset: RecordLayout.cellOffset, as: UnsafeMutableRawPointer?.self)
        else { return nil }
        (address, type) = (start + declaration.type.byteCount * element, declaration.type)
    }
}
