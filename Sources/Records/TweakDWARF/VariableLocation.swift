// SPDX-License-Identifier: BSD-3-Clause
internal import CLibDW

/// The location of a variable.
package enum VariableLocation: Hashable, Sendable {
    /// At an address of the file, before relocation.
    case address(UInt64)
    /// At an address of its own in each thread.
    case threadLocal
    /// In several places, and perhaps in parts.
    case pieces
    /// Nowhere: it is computed from something else in memory.
    case computed
    /// Nowhere: its value is part of the code.
    case constant
    /// Nowhere.
    case optimizedOut
    /// At places that depend on the code being executed.
    case moving
    /// The description cannot be read.
    case unknown
}

extension VariableLocation {
    init(of entry: DebugEntry) {
        guard let attribute = entry.attribute(Int(DW_AT_location), isInherited: true) else {
            self =
                entry.attribute(Int(DW_AT_const_value), isInherited: true) == nil ? .optimizedOut : .constant
            return
        }
        guard let operations = attribute.operations else {
            self = attribute.isList ? .moving : .unknown
            return
        }
        self = Self(operations, of: attribute)
    }

    /// Only a plain address, or one with an addend, is certain to hold the whole variable.
    private init(_ operations: [Dwarf_Op], of attribute: DebugAttribute) {
        let atoms = operations.map { Int($0.atom) }
        guard let first = operations.first else {
            self = .optimizedOut
            return
        }
        if atoms.contains(where: {
            [Int(DW_OP_form_tls_address), Int(DW_OP_GNU_push_tls_address)].contains($0)
        }) {
            self = .threadLocal
        } else if atoms.contains(Int(DW_OP_piece)) || atoms.contains(Int(DW_OP_bit_piece)) {
            self = .pieces
        } else if atoms.contains(Int(DW_OP_stack_value)) || atoms.contains(Int(DW_OP_implicit_value)) {
            self = .computed
        } else {
            let base = atoms[0] == Int(DW_OP_addr) ? first.number : attribute.address(at: 0)
            guard let base, Self.addressAtoms.contains(atoms[0]) else {
                self = .unknown
                return
            }
            switch atoms.dropFirst() {
            case []: self = .address(base)
            case [Int(DW_OP_plus_uconst)]: self = .address(base &+ operations[1].number)
            default: self = .unknown
            }
        }
    }

    private static let addressAtoms = [Int(DW_OP_addr), Int(DW_OP_addrx), Int(DW_OP_GNU_addr_index)]

    /// Returns whether a variable without an address is in the memory of the image nevertheless: in pieces, or computed
    /// from other content.
    static func isInImage(_ entry: DebugEntry) -> Bool {
        let atoms = entry.attribute(Int(DW_AT_location), isInherited: true)?.operations?.map { Int($0.atom) }
        guard let atoms, let first = atoms.first, addressAtoms.contains(first) else { return false }
        let reading = [Int(DW_OP_deref), Int(DW_OP_deref_size), Int(DW_OP_piece), Int(DW_OP_bit_piece)]
        return atoms.contains(where: reading.contains)
    }

    /// The reason why a variable at such a place cannot be set, and the remedy; `nil` for an address.
    package var obstacle: String? {
        switch self {
        case .address: nil
        case .threadLocal: "it is thread-local: each thread has its own; make it global"
        case .pieces: "the compiler has split it; make it volatile, or compile with -Og"
        case .computed:
            "the compiler keeps it in another form, so that writing it would change its neighbours; make it volatile, or "
                + "compile with -Og"
        case .constant:
            "the compiler has put its value into the code; make it volatile and not const, or declare it as a tweak"
        case .optimizedOut:
            "optimized out: if nothing writes it, the compiler puts its value into the code; make it volatile, compile "
                + "with -Og, or declare it as a tweak"
        case .moving: "its place depends on the code that runs; make it volatile, or compile with -Og"
        case .unknown:
            "its place cannot be read from the debug information; make it volatile, or compile with -Og"
        }
    }
}
