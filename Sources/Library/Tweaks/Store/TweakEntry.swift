// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
internal import TweakRecords
internal import TweakSystem

/// A tweak of the process: its declaration, its value, and the cells that hold the value.
///
/// `@unchecked Sendable` without exclusivity checks: entries are reachable only through a ``StoreState``, and so only
/// with the store's lock.
final class TweakEntry: @unchecked Sendable {
    let key: TweakKey
    @exclusivity(unchecked) private var declared: Declared
    @exclusivity(unchecked) private var storedValue: TweakValue
    @exclusivity(unchecked) private(set) var source: TweakSource
    /// The cell of the declaring record comes first.
    @exclusivity(unchecked) private(set) var cells: OwnedCells
    /// The record for programs that found the tweak by name.
    @exclusivity(unchecked) private(set) var handle: Handle?
    /// The tweak's position among all others. Entries are sorted by it.
    @exclusivity(unchecked) var place: RecordPlace
    @exclusivity(unchecked) private var history: History?

    /// State that most tweaks never need.
    private final class History {
        @exclusivity(unchecked) var pendingValue: TweakValue?
        /// The value that waits for a gate, and the gate.
        @exclusivity(unchecked) var waiting: (resolution: Resolution, mailbox: GateMailbox)?
        @exclusivity(unchecked) var rampTarget: TweakValue?
        @exclusivity(unchecked) var isKnownToDisagree = false
        @exclusivity(unchecked) var isLookedFor = false
        @exclusivity(unchecked) var enumeration: Enumeration?
        @exclusivity(unchecked) var epoch: UInt32 = 0
        @exclusivity(unchecked) var lastChange: (oldValue: TweakValue, source: TweakSource, time: Duration)?
    }

    /// A declaration that is read without copying, which would retain all of its members.
    private final class Declared {
        let declaration: TweakDeclaration
        /// Derived from the declaration once.
        let needsRestart: Bool
        let isMonitor: Bool

        init(_ declaration: TweakDeclaration) {
            self.declaration = declaration
            needsRestart = declaration.needsRestart
            isMonitor = declaration.isMonitor
        }

        func admit(
            _ body: (TweakDeclaration, TweakValue) throws(TweakValueError) -> TweakDeclaration.Admission,
            _ current: TweakValue
        ) throws(TweakValueError) -> TweakDeclaration.Admission {
            try body(declaration, current)
        }

        func found(_ handle: Handle) -> FoundTweak {
            FoundTweak(
                cell: handle.cell.number, type: declaration.type, isOptional: declaration.isOptional,
                defaultValue: declaration.defaultValue)
        }

        func resolution(
            in layers: ProviderLayers, after update: ValueUpdate, _ provided: ProvidedValue?, in layer: Int?,
            _ messages: inout [String]
        ) -> Resolution {
            layers.resolve(declaration, after: update, provided, in: layer, &messages)
        }
    }

    init(_ declaration: TweakDeclaration, _ cell: OwnedCell, at place: RecordPlace, _ resolution: Resolution)
    {
        key = declaration.key
        declared = Declared(declaration)
        cells = OwnedCells(cell)
        self.place = place
        storedValue = resolution.value
        source = resolution.source
        if source != .binary { cell.cell.store(storedValue) }
    }

    var declaration: TweakDeclaration { declared.declaration }

    /// The data for handles in Swift; `nil` before the first handle.
    var found: FoundTweak? { handle.map(declared.found) }

    /// See ``TweakStatus/pendingValue``.
    var pendingValue: TweakValue? { history?.waiting?.resolution.value ?? history?.pendingValue }

    /// The gate that a value of the tweak waits for, or `nil`.
    var waitsIn: GateMailbox? { history?.waiting?.mailbox }

    /// Makes the tweak wait for a gate, or no longer.
    func wait(for waiting: (Resolution, GateMailbox)?) {
        if history == nil, waiting != nil { history = History() }
        history?.waiting = waiting
    }

    /// The value at the end of the tweak's ramp; `nil` if it has none.
    var rampTarget: TweakValue? {
        get { history?.rampTarget }
        set {
            if history == nil { history = History() }
            history?.rampTarget = newValue
        }
    }

    /// The value once nothing waits any more.
    var nextValue: TweakValue { rampTarget ?? pendingValue ?? value }

    /// The point in the store's history after which the tweak has changed.
    var epoch: UInt32 {
        get { history?.epoch ?? 0 }
        set {
            if history == nil { history = History() }
            history?.epoch = newValue
        }
    }

    /// Whether conflicting declarations are known.
    var isKnownToDisagree: Bool {
        get { history?.isKnownToDisagree ?? false }
        set {
            if history == nil { history = History() }
            history?.isKnownToDisagree = newValue
        }
    }

    /// Whether code that reads the tweak has been looked for.
    var isLookedFor: Bool {
        get { history?.isLookedFor ?? false }
        set {
            if history == nil { history = History() }
            history?.isLookedFor = newValue
        }
    }

    /// The type of the value, if it is an enumeration that is known.
    var enumeration: Enumeration? {
        get { history?.enumeration }
        set {
            if history == nil { history = History() }
            history?.enumeration = newValue
        }
    }

    /// Whether the program can read the tweak from other cells than those of its declarations.
    var hasOtherCells: Bool { cells.contains { $0.owner == .handle || $0.owner == .variable } }

    /// The last change of the value, or `nil`.
    var lastChange: (change: TweakChange, time: Duration)? {
        history?.lastChange.map { last in
            (
                TweakChange(key: key, oldValue: last.oldValue, newValue: value, source: last.source),
                last.time
            )
        }
    }

    // MARK: The value

    /// The value chosen by the providers; for a monitor or a variable the value in its cell, where the program stores
    /// values, too.
    var value: TweakValue {
        guard declared.isMonitor || isStoredByProgram, let cell = cells.first?.cell else {
            return storedValue
        }
        return cell.value ?? storedValue
    }

    /// The value that the library stored in a variable, if the program has stored another one since; `nil`
    /// otherwise.
    var overwrittenValue: TweakValue? {
        guard isStoredByProgram, source != .binary, rampTarget == nil, waitsIn == nil,
            let cell = cells.first?.cell,
            !cell.holds(storedValue)
        else { return nil }
        return storedValue
    }

    /// Whether a person has made the tweak of a variable.
    var isAdopted: Bool { cells.first?.owner.isAdopted ?? false }

    /// Whether the value is in a variable of the program, which stores values there, too.
    var isStoredByProgram: Bool { cells.first?.owner.isStoredByProgram ?? false }

    var isMonitor: Bool { declared.isMonitor }

    /// Applies the declaration to a value.
    func admit(
        _ body: (TweakDeclaration, TweakValue) throws(TweakValueError) -> TweakDeclaration.Admission
    ) throws(TweakValueError) -> TweakDeclaration.Admission {
        try declared.admit(body, pendingValue ?? value)
    }

    /// The tweak's new value and provider, see ``ProviderLayers/resolve(_:after:_:in:_:)``.
    func resolution(
        in layers: ProviderLayers, after update: ValueUpdate, _ provided: ProvidedValue?, in layer: Int?,
        _ messages: inout [String]
    ) -> Resolution {
        var resolution = declared.resolution(in: layers, after: update, provided, in: layer, &messages)
        // A value that the program has stored in its variable is not replaced by the default.
        if isStoredByProgram, resolution.source == .binary, source == .binary || overwrittenValue != nil {
            resolution.value = value
        }
        return resolution
    }

    /// Whether a new value has to wait for the gate that the tweak is below.
    func waits(with resolution: Resolution) -> Bool {
        !declared.needsRestart && !declared.isMonitor
            && (resolution.value != storedValue || history?.waiting != nil)
    }

    /// The change that a new value would make; `nil` if the value is the same, or stays until a restart.
    func change(to resolution: Resolution) -> TweakChange? {
        guard !declared.needsRestart, !declared.isMonitor, resolution.value != value else { return nil }
        return TweakChange(key: key, oldValue: value, newValue: resolution.value, source: resolution.source)
    }

    /// Gives the tweak the value chosen by its providers. Only this, ``add(_:isFirst:)`` and the initialiser write its
    /// cells, and the loop of a gate.
    ///
    /// - Parameter isStored: Whether a loop has stored the value in the cells.
    func commit(_ resolution: Resolution, isStored: Bool = false) {
        if declared.needsRestart {
            let pendingValue = resolution.value == value ? nil : resolution.value
            if history == nil, pendingValue != nil { history = History() }
            history?.pendingValue = pendingValue
            return
        }
        source = resolution.source
        guard !declared.isMonitor, resolution.value != value else { return }
        if history == nil { history = History() }
        history?.lastChange = (value, resolution.source, .since1970)
        storedValue = resolution.value
        if !isStored { cells.forEach { $0.cell.store(storedValue) } }
    }

    /// Gives all cells the value, because a loop, the program or a killed command has stored another one in some.
    func storeAgain() { cells.forEach { $0.cell.store(storedValue) } }

    // MARK: The cells

    /// Adds a cell, and stores the value in it. A monitor's cells are written only by the program, and people see the
    /// first.
    ///
    /// - Parameter isFirst: Whether the cell belongs to the record that declares the tweak from now on.
    func add(_ cell: OwnedCell, isFirst: Bool = false) {
        cells.insert(cell, isFirst: isFirst)
        if !declared.isMonitor { cell.cell.store(storedValue) }
    }

    func removeCells(where isGone: (OwnedCell) -> Bool) { cells.removeAll(where: isGone) }

    /// Whether only providers declare the tweak.
    var isProvided: Bool { cells.first?.owner == .provided }

    func redeclare(_ declaration: TweakDeclaration) {
        declared = Declared(declaration)
        if !declared.needsRestart { history?.pendingValue = nil }
    }

    func setHandle(_ new: Handle) {
        handle = new
        follow(with: new)
    }

    /// Makes a handle of the tweak's type follow the tweak.
    func follow(with handle: Handle) {
        if !cells.contains(handle.cell) { add(OwnedCell(handle.cell, .handle)) }
    }
}

/// A record's position among those of all images.
struct RecordPlace: Comparable, Sendable {
    /// The number of the image, in load order; tweaks made at run time are in an image of their own.
    let image: UInt32
    /// The index of the tweak in its image; 0 until all are decoded.
    var position: UInt32

    static func < (left: Self, right: Self) -> Bool {
        (left.image, left.position) < (right.image, right.position)
    }
}

/// The program's handle of a tweak that it found by name: a record that stays as long as the store, whatever happens to
/// the images that declare the tweak. There is one for each name found.
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

    /// The address of the record.
    var record: UnsafeMutableRawPointer { cell.address - RecordLayout.cellOffset }

    /// The declaration in the record.
    var declaration: TweakDeclaration? { TweakDeclaration(record: record) }
}

/// A location of the current value of a tweak: in a record, or in a bound variable.
///
/// `@unchecked Sendable`: both members are constant, and the memory is only written atomically. It stays valid until
/// the store has dropped the cell, see ``CellOwner``.
struct Cell: @unchecked Sendable {
    let address: UnsafeMutableRawPointer
    let type: TweakType

    var number: UInt { UInt(bitPattern: address) }

    /// Writes a value of the cell's type.
    func store(_ value: TweakValue) {
        guard let number = number(of: value) else { return }
        switch type.byteCount {
        case 1:
            fbtweak__store_8(
                address.assumingMemoryBound(to: UInt8.self), UInt8(truncatingIfNeeded: number))
        case 2:
            fbtweak__store_16(
                address.assumingMemoryBound(to: UInt16.self), UInt16(truncatingIfNeeded: number))
        case 4:
            fbtweak__store_32(
                address.assumingMemoryBound(to: UInt32.self), UInt32(truncatingIfNeeded: number))
        case 8 where type == .string:
            fbtweak__store_text(
                address.assumingMemoryBound(to: UnsafePointer<CChar>?.self),
                UnsafePointer(bitPattern: UInt(number)))
        case 8: fbtweak__store_64(address.assumingMemoryBound(to: UInt64.self), number)
        default: break
        }
    }

    /// Returns whether the cell contains a value.
    func holds(_ value: TweakValue) -> Bool {
        guard let number = number(of: value) else { return false }
        switch type.byteCount {
        case 1:
            return fbtweak__load_8(address.assumingMemoryBound(to: UInt8.self))
                == UInt8(truncatingIfNeeded: number)
        case 2:
            return fbtweak__load_16(address.assumingMemoryBound(to: UInt16.self))
                == UInt16(truncatingIfNeeded: number)
        case 4:
            return fbtweak__load_32(address.assumingMemoryBound(to: UInt32.self))
                == UInt32(truncatingIfNeeded: number)
        default: return fbtweak__load_64(address.assumingMemoryBound(to: UInt64.self)) == number
        }
    }

    /// The number that is stored in the cell for a value, in as many bytes as the type has; `nil` if it is not a value
    /// of the type. A string gets an address.
    func number(of value: TweakValue) -> UInt64? {
        switch (type, value) {
        case (.bool, .bool(let flag)): return flag ? 1 : 0
        case (.float, .double(let number)): return UInt64(Float(number).bitPattern)
        case (.double, .double(let number)): return number.bitPattern
        case (.string, .string(let text)):
            return UInt64(UInt(bitPattern: TextPool.address(of: text)))
        case (_, .integer(let number)): return UInt64(truncatingIfNeeded: number)
        case (.color, .color(let color)):
            let bytes = [color.alpha, color.blue, color.green, color.red]
            return UInt64(UInt32(littleEndian: bytes.reduce(0) { $0 << 8 | UInt32($1) }))
        case (_, .string): return TweakValue.emptyCell(type)
        default: return nil
        }
    }

    /// Eight bytes, of which smaller types use the first ones.
    var bits: UInt64 {
        var bits: UInt64 = 0
        withUnsafeMutableBytes(of: &bits) { bytes in
            switch type.byteCount {
            case 1:
                bytes.storeBytes(
                    of: fbtweak__load_8(address.assumingMemoryBound(to: UInt8.self)), as: UInt8.self)
            case 2:
                bytes.storeBytes(
                    of: fbtweak__load_16(address.assumingMemoryBound(to: UInt16.self)), as: UInt16.self)
            case 4:
                bytes.storeBytes(
                    of: fbtweak__load_32(address.assumingMemoryBound(to: UInt32.self)), as: UInt32.self)
            default:
                bytes.storeBytes(
                    of: fbtweak__load_64(address.assumingMemoryBound(to: UInt64.self)), as: UInt64.self)
            }
        }
        return bits
    }
    /// The value; `nil` for a string that has its default.
    var value: TweakValue? { decode(address, type) }
}

/// The strings that string cells point to.
///
/// Each distinct string stays in memory until the process exits, because readers may have kept its address.
enum TextPool {
    /// As numbers, because pointers are not Sendable.
    static let addresses = Guarded<[ByteText: UInt]>([:])

    static func address(of text: String) -> UnsafePointer<CChar>? {
        let address = addresses.withLock { addresses in
            if let address = addresses[ByteText(text)] { return address }
            let characters = text.utf8CString
            let copy = UnsafeMutableBufferPointer<CChar>.allocate(capacity: characters.count)
            _ = copy.initialize(from: characters)
            let address = UInt(bitPattern: copy.baseAddress)
            addresses[ByteText(text)] = address
            return address
        }
        return UnsafePointer(bitPattern: address)
    }
}

/// A cell and its owner, which decides about its lifetime.
struct OwnedCell: Sendable {
    let cell: Cell
    let owner: CellOwner

    init(_ cell: Cell, _ owner: CellOwner) {
        self.cell = cell
        self.owner = owner
    }
}

enum CellOwner: Hashable, Sendable {
    /// A record in the image with this number, valid until the image is unloaded.
    case image(UInt32)
    /// The object that a record in the image with this number points to, valid until the image is unloaded.
    case object(image: UInt32)
    /// A record made at run time, valid until it is removed.
    case made
    /// A variable of the program that a person has made the tweak of. It has no record, and is always the first cell.
    /// Valid until the image with this number is unloaded; `nil` for an image that is never.
    case adopted(image: UInt32?)
    /// The record of a tweak that no binary declares, valid as long as a provider has it.
    case provided
    /// The record of a handle, valid for ever.
    case handle
    /// A variable of the program, until it is unbound or its image is unloaded.
    case variable

    /// Whether the tweak exists as long as this cell does.
    var declares: Bool { isOfProgram || self == .provided }

    /// Whether the cell belongs to a declaration of the program, which takes precedence over a provider's.
    var isOfProgram: Bool {
        switch self {
        case .image, .object, .made, .adopted: true
        case .provided, .handle, .variable: false
        }
    }

    var isAdopted: Bool { if case .adopted = self { true } else { false } }

    /// Whether the cell is a variable that the program stores values in, too.
    var isStoredByProgram: Bool { if case .object = self { true } else { isAdopted } }
}

/// The cells of a tweak. Nearly always there is one.
struct OwnedCells: Sendable {
    /// `nil` only in an entry that is about to be removed.
    private(set) var first: OwnedCell?
    private var others: [OwnedCell] = []

    init(_ first: OwnedCell) { self.first = first }

    func forEach(_ body: (OwnedCell) -> Void) {
        first.map(body)
        others.forEach(body)
    }

    func contains(where matches: (OwnedCell) -> Bool) -> Bool {
        first.map(matches) ?? false || others.contains(where: matches)
    }

    func contains(_ cell: Cell) -> Bool { contains { $0.cell.number == cell.number } }

    /// Whether any cell declares the tweak.
    var declare: Bool { contains { $0.owner.declares } }

    var all: [OwnedCell] { (first.map { [$0] } ?? []) + others }

    mutating func insert(_ cell: OwnedCell, isFirst: Bool) {
        if isFirst {
            if let first { others.insert(first, at: 0) }
            first = cell
        } else {
            others.append(cell)
        }
    }

    /// Removes cells. The first remaining declaring cell becomes the first, the program's before a provider's.
    mutating func removeAll(where isGone: (OwnedCell) -> Bool) {
        others.removeAll(where: isGone)
        guard first.map(isGone) ?? true else { return }
        let next = others.firstIndex { $0.owner.isOfProgram } ?? others.firstIndex { $0.owner.declares }
        first = next.map { others.remove(at: $0) }
    }
}

/// A C function and its context, as numbers. `fbtweak.h` documents the threads that call it.
struct CFunction: Hashable, Sendable {
    /// The address of its code.
    let code: UInt
    private let contextAddress: UInt

    init(code: UInt, context: UnsafeMutableRawPointer?) {
        self.code = code
        contextAddress = UInt(bitPattern: context)
    }

    var context: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: contextAddress) }
}
