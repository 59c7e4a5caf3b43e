/// A cell with what decides how long it is there.
struct OwnedCell: Sendable {
    let cell: Cell
    let owner: CellOwner

    init(_ cell: Cell, _ owner: CellOwner) {
        self.cell = cell
        self.owner = owner
    }
}

enum CellOwner: Hashable, Sendable {
    /// A record of the image with this number, there until the image is unloaded.
    case image(UInt32)
    /// A record that was made while the program runs, until it is removed.
    case made
    /// The record of a tweak that no binary declares, as long as a provider has it.
    case provided
    /// The record that a handle leads to, for ever.
    case handle
    /// A variable of the program, until it is unbound or its image is unloaded.
    case variable

    /// Whether the tweak exists as long as this cell does.
    var declares: Bool {
        switch self {
        case .image, .made, .provided: true
        case .handle, .variable: false
        }
    }
}

/// The cells of a tweak, of which there is nearly always one.
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

    /// Whether something declares the tweak.
    var declare: Bool { contains(where: \.owner.declares) }

    var all: [OwnedCell] { (first.map { [$0] } ?? []) + others }

    mutating func insert(_ cell: OwnedCell, isFirst: Bool) {
        if isFirst {
            if let first { others.insert(first, at: 0) }
            first = cell
        } else {
            others.append(cell)
        }
    }

    /// Removes cells. Of the rest the first that declares the tweak comes first.
    mutating func removeAll(where isGone: (OwnedCell) -> Bool) {
        others.removeAll(where: isGone)
        guard first.map(isGone) ?? true else { return }
        first = others.firstIndex(where: \.owner.declares).map { others.remove(at: $0) }
    }
}
