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
    /// A record of the image at these addresses, there until the image is unloaded.
    case image(Range<UInt>)
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
