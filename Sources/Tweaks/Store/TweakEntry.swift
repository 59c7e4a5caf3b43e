internal import TweakRecords

/// A tweak of the process: what is said about it, its value, and the cells that hold that.
///
/// `@unchecked Sendable`: only a ``StoreState`` leads to its entries, so whoever reaches one has the lock of that store.
final class TweakEntry: @unchecked Sendable {
    let key: TweakKey
    private var declared: Declared
    private(set) var value: TweakValue
    private(set) var source: TweakSource
    /// The cell of the record that it is declared by comes first.
    private(set) var cells: OwnedCells
    /// What programs that asked for the tweak by name read.
    private(set) var handle: Handle?
    /// Where the record is among all others. Entries are sorted by it.
    let place: RecordPlace
    private var history: History?

    /// What most tweaks never have.
    private final class History {
        var pendingValue: TweakValue?
        var lastChange: (oldValue: TweakValue, source: TweakSource, time: Duration)?
    }

    /// A declaration that is read without copying it, which would count references of all that is in it.
    private final class Declared {
        let declaration: TweakDeclaration
        /// What the declaration says, found once.
        let needsRestart: Bool

        init(_ declaration: TweakDeclaration) {
            self.declaration = declaration
            needsRestart = declaration.needsRestart
        }

        func admit(
            _ body: (TweakDeclaration) throws(TweakValueError) -> TweakDeclaration.Admission
        ) throws(TweakValueError) -> TweakDeclaration.Admission {
            try body(declaration)
        }

        func found(_ handle: Handle) -> FoundTweak {
            FoundTweak(
                cell: handle.cell.number, type: declaration.type, defaultValue: declaration.defaultValue)
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
        value = resolution.value
        source = resolution.source
        if source != .binary { cell.cell.store(value) }
    }

    var declaration: TweakDeclaration { declared.declaration }

    /// What Swift's handles need; `nil` until there is one.
    var found: FoundTweak? { handle.map(declared.found) }

    /// See ``TweakStatus/pendingValue``.
    var pendingValue: TweakValue? { history?.pendingValue }

    var status: TweakStatus {
        TweakStatus(declaration: declaration, value: value, source: source, pendingValue: pendingValue)
    }

    /// The last change of the value; `nil` if there was none.
    var lastChange: (change: TweakChange, time: Duration)? {
        history?.lastChange.map { last in
            (
                TweakChange(key: key, oldValue: last.oldValue, newValue: value, source: last.source),
                last.time
            )
        }
    }

    // MARK: The value

    /// What the declaration says about a value.
    func admit(
        _ body: (TweakDeclaration) throws(TweakValueError) -> TweakDeclaration.Admission
    ) throws(TweakValueError) -> TweakDeclaration.Admission {
        try declared.admit(body)
    }

    /// What decides the value, see ``ProviderLayers/resolve(_:after:_:in:_:)``.
    func resolution(
        in layers: ProviderLayers, after update: ValueUpdate, _ provided: ProvidedValue?, in layer: Int?,
        _ messages: inout [String]
    ) -> Resolution {
        declared.resolution(in: layers, after: update, provided, in: layer, &messages)
    }

    /// What another value would change; `nil` if it is the same already, or stays until a restart.
    func change(to resolution: Resolution) -> TweakChange? {
        guard !declared.needsRestart, resolution.value != value else { return nil }
        return TweakChange(key: key, oldValue: value, newValue: resolution.value, source: resolution.source)
    }

    /// Gives the tweak the value that its providers decide on. This, ``add(_:isFirst:)`` and the initialiser are the only writers
    /// of its cells.
    func commit(_ resolution: Resolution) {
        if declared.needsRestart {
            let pendingValue = resolution.value == value ? nil : resolution.value
            if history == nil, pendingValue != nil { history = History() }
            history?.pendingValue = pendingValue
            return
        }
        source = resolution.source
        guard resolution.value != value else { return }
        if history == nil { history = History() }
        history?.lastChange = (value, resolution.source, .since1970)
        value = resolution.value
        cells.forEach { $0.cell.store(value) }
    }

    // MARK: The cells

    /// Adds a cell, which gets the value.
    ///
    /// - Parameter isFirst: Whether it is that of the record which declares the tweak from now on.
    func add(_ cell: OwnedCell, isFirst: Bool = false) {
        cells.insert(cell, isFirst: isFirst)
        cell.cell.store(value)
    }

    func removeCells(where isGone: (OwnedCell) -> Bool) { cells.removeAll(where: isGone) }

    func redeclare(_ declaration: TweakDeclaration) {
        declared = Declared(declaration)
        if !declared.needsRestart { history?.pendingValue = nil }
    }

    /// - Returns: The handle that was there before.
    @discardableResult
    func setHandle(_ new: Handle?) -> Handle? {
        defer { handle = new }
        if let handle { cells.removeAll { $0.owner == .handle && $0.cell.number == handle.cell.number } }
        if let new, !cells.contains(new.cell) { add(OwnedCell(new.cell, .handle)) }
        return handle
    }
}

/// Where a record is among those of all images.
struct RecordPlace: Comparable, Sendable {
    /// The number of the image, in the order of their coming; what is made while the program runs is as one more image.
    let image: UInt32
    /// How many bytes of records come before it.
    let offset: UInt32

    static func < (left: Self, right: Self) -> Bool {
        (left.image, left.offset) < (right.image, right.offset)
    }
}
