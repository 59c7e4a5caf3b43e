// SPDX-License-Identifier: BSD-3-Clause
internal import CLibDW
package import TweakRecords

/// The type of a variable or of a part of one, without its typedefs and qualifiers.
package struct VariableType {
    /// The name in the source, such as `const struct player` or `double[3]`.
    package let name: String
    /// The number of bytes; `nil` if it is unknown.
    package let size: UInt64?
    package let isConst, isVolatile: Bool
    package let shape: Shape

    package enum Shape {
        /// A value that a tweak can have.
        case value(TweakType, choices: [TweakChoice])
        /// A pointer to text.
        case text
        /// A structure, class or union.
        case record(Members)
        /// An array: its elements, and their number in each dimension; a missing number is unknown.
        case array(Elements)
        /// A type that no tweak can have.
        case other(reason: String)
    }

    /// The members of a structure, read lazily: there may be many, or in hostile files infinitely many.
    package struct Members { let entry: DebugEntry }

    package struct Elements {
        let entry: DebugEntry
        package let counts: [UInt64?]
    }
}

/// Reads types.
///
/// All steps are bounded, because a hostile type may contain itself.
struct TypeReader {
    private static let mostQualifiers = 32
    private static let mostDimensions = 16
    private static let mostEnumerators = 4096
    private static let mostMembers = 4096
    /// The depth of base classes, anonymous members and arrays in one another.
    private static let deepest = 16

    let byteOrder: ByteOrder
    let is64Bit: Bool
    /// The complete types, by qualified name. A unit may only declare such a type.
    let definitions: [String: DebugEntry]

    /// Reads a type.
    ///
    /// - Parameters:
    ///   - entry: The entry of the type; `nil` for `void`.
    ///   - depth: The number of types around this one.
    func type(_ entry: DebugEntry?, depth: Int = 0) -> VariableType {
        var entry = entry
        var name: String?
        var (isConst, isVolatile) = (false, false)
        for _ in 0..<Self.mostQualifiers {
            guard let current = entry else { return other("void", "it has no type") }
            switch current.tag {
            case Int(DW_TAG_const_type), Int(DW_TAG_immutable_type): isConst = true
            case Int(DW_TAG_volatile_type): isVolatile = true
            case Int(DW_TAG_typedef): name = name ?? current.name
            case Int(DW_TAG_atomic_type), Int(DW_TAG_restrict_type), Int(DW_TAG_packed_type): break
            default:
                let (ownName, size, shape) = content(of: current, depth)
                let qualifiers = (isConst ? "const " : "") + (isVolatile ? "volatile " : "")
                return VariableType(
                    name: qualifiers + (name ?? ownName), size: size, isConst: isConst,
                    isVolatile: isVolatile,
                    shape: shape)
            }
            entry = current.type
        }
        return other(name ?? "?", "its type never ends")
    }

    private func other(_ name: String, _ reason: String) -> VariableType {
        VariableType(name: name, size: nil, isConst: false, isVolatile: false, shape: .other(reason: reason))
    }

    private func content(
        of entry: DebugEntry, _ depth: Int
    ) -> (name: String, size: UInt64?, shape: VariableType.Shape) {
        let entry = completed(entry)
        let size = entry.attribute(Int(DW_AT_byte_size))?.unsigned
        let name = entry.name
        switch entry.tag {
        case Int(DW_TAG_base_type): return (name ?? "?", size, base(entry, name ?? "", size))
        case Int(DW_TAG_enumeration_type):
            let name = "enum " + (name ?? "{…}")
            return (
                name, size ?? entry.type.flatMap { type($0, depth: depth + 1).size },
                enumeration(entry, depth)
            )
        case Int(DW_TAG_structure_type), Int(DW_TAG_class_type), Int(DW_TAG_union_type):
            if let swift = swiftValue(entry) {
                return (name ?? "?", UInt64(swift.byteCount), .value(swift, choices: []))
            }
            let keyword = entry.tag == Int(DW_TAG_union_type) ? "union" : "struct"
            let shown = "\(keyword) \(name ?? "{…}")"
            guard !entry.flag(Int(DW_AT_declaration)) else {
                return (shown, nil, .other(reason: "the debug information only declares its type"))
            }
            return (shown, size, .record(VariableType.Members(entry: entry)))
        case Int(DW_TAG_array_type): return array(entry, depth)
        case Int(DW_TAG_pointer_type): return pointer(entry, size, depth)
        case Int(DW_TAG_reference_type), Int(DW_TAG_rvalue_reference_type):
            return ("reference", size, .other(reason: "it refers to another variable; adopt that one"))
        case Int(DW_TAG_subroutine_type): return ("function", nil, .other(reason: "it is a function"))
        default:
            return (name ?? "?", size, .other(reason: "no tweak can have its type"))
        }
    }

    /// The complete type, if the entry only declares it.
    private func completed(_ entry: DebugEntry) -> DebugEntry {
        if let inUnit = entry.reference(Int(DW_AT_signature)) { return inUnit }
        guard entry.flag(Int(DW_AT_declaration)) else { return entry }
        guard let name = QualifiedName(of: entry)?.text else { return entry }
        return definitions[name] ?? entry
    }

    private func base(_ entry: DebugEntry, _ name: String, _ size: UInt64?) -> VariableType.Shape {
        let refused = VariableType.Shape.other(reason: "no tweak can have the type \(name)")
        guard let size, let encoding = entry.attribute(Int(DW_AT_encoding))?.unsigned else { return refused }
        let endianity = entry.attribute(Int(DW_AT_endianity))?.unsigned ?? UInt64(DW_END_default)
        guard
            endianity == UInt64(DW_END_default)
                || endianity == UInt64(byteOrder == .big ? DW_END_big : DW_END_little)
        else { return .other(reason: "its bytes are in another order than the machine's") }
        if entry.has(Int(DW_AT_bit_size)), entry.attribute(Int(DW_AT_bit_size))?.unsigned != size * 8 {
            return refused
        }
        let type: TweakType? =
            switch (Int(encoding), size) {
            case (Int(DW_ATE_boolean), 1): .bool
            case (Int(DW_ATE_float), 4): .float
            case (Int(DW_ATE_float), 8): .double
            case (Int(DW_ATE_signed), _), (Int(DW_ATE_signed_char), _): Self.integer(size, isSigned: true)
            case (Int(DW_ATE_unsigned), _), (Int(DW_ATE_unsigned_char), _), (Int(DW_ATE_UTF), _),
                (Int(DW_ATE_UCS), _), (Int(DW_ATE_ASCII), _):
                Self.integer(size, isSigned: false)
            default: nil
            }
        return type.map { .value($0, choices: []) } ?? refused
    }

    private static func integer(_ size: UInt64, isSigned: Bool) -> TweakType? {
        switch size {
        case 1: isSigned ? .int8 : .uint8
        case 2: isSigned ? .int16 : .uint16
        case 4: isSigned ? .int32 : .uint32
        case 8: isSigned ? .int64 : .uint64
        default: nil
        }
    }

    /// Swift's numbers are structures, recognized by their linkage names in the standard library.
    private func swiftValue(_ entry: DebugEntry) -> TweakType? {
        guard let name = entry.attribute(Int(DW_AT_linkage_name))?.text else { return nil }
        return switch name {
        case "$sSbD": .bool
        case "$sSfD": .float
        case "$sSdD": .double
        case "$sSiD": Self.integer(is64Bit ? 8 : 4, isSigned: true)
        case "$sSuD": Self.integer(is64Bit ? 8 : 4, isSigned: false)
        case "$ss4Int8VD": .int8
        case "$ss5Int16VD": .int16
        case "$ss5Int32VD": .int32
        case "$ss5Int64VD": .int64
        case "$ss5UInt8VD": .uint8
        case "$ss6UInt16VD": .uint16
        case "$ss6UInt32VD": .uint32
        case "$ss6UInt64VD": .uint64
        default: nil
        }
    }

    /// An enumeration is an integer whose enumerators become choices, unless two have the same value, which a tweak cannot
    /// show.
    private func enumeration(_ entry: DebugEntry, _ depth: Int) -> VariableType.Shape {
        let enumerators = entry.children(Self.mostEnumerators).filter { $0.tag == Int(DW_TAG_enumerator) }
        var values: [(name: String, value: Int128)] = []
        for enumerator in enumerators {
            guard let name = enumerator.name,
                let value = enumerator.attribute(Int(DW_AT_const_value))?.integer
            else { continue }
            values.append((name, value))
        }
        var underlying: TweakType?
        if depth < Self.deepest, let entry = entry.type,
            case .value(let type, _) = type(entry, depth: depth + 1).shape
        {
            underlying = type
        } else if let size = entry.attribute(Int(DW_AT_byte_size))?.unsigned {
            underlying = Self.integer(size, isSigned: values.contains { $0.value < 0 })
        }
        guard let underlying, let range = underlying.integerRange else {
            return .other(reason: "no tweak can have its type")
        }
        let choices = values.filter { range.contains($0.value) }.map {
            TweakChoice(.integer($0.value), label: $0.name)
        }
        let isComplete =
            choices.count == values.count && enumerators.count < Self.mostEnumerators
            && Set(values.map(\.value)).count == values.count
        return .value(underlying, choices: isComplete ? choices : [])
    }

    private func array(
        _ entry: DebugEntry, _ depth: Int
    ) -> (name: String, size: UInt64?, shape: VariableType.Shape) {
        guard depth < Self.deepest, !entry.has(Int(DW_AT_byte_stride)), !entry.has(Int(DW_AT_bit_stride))
        else {
            return ("array", nil, .other(reason: "no tweak can have the type of its elements"))
        }
        let counts = entry.children(Self.mostDimensions).filter { $0.tag == Int(DW_TAG_subrange_type) }
            .map(count)
        let element = type(entry.type, depth: depth + 1)
        var size = element.size
        for count in counts {
            guard let known = size, let count else {
                size = nil
                break
            }
            let (product, overflows) = known.multipliedReportingOverflow(by: count)
            size = overflows ? nil : product
        }
        let name = element.name + counts.map { "[\($0.map(String.init) ?? "")]" }.joined()
        guard !counts.isEmpty, let entry = entry.type else {
            return (name, size, .other(reason: "its elements are unknown"))
        }
        return (name, size, .array(VariableType.Elements(entry: entry, counts: counts)))
    }

    private func count(of range: DebugEntry) -> UInt64? {
        if let count = range.attribute(Int(DW_AT_count))?.unsigned { return count }
        guard let last = range.attribute(Int(DW_AT_upper_bound))?.integer else { return nil }
        // GNU C: the upper bound of an empty array is -1. As `data1` or `data2`, the same bits are the end of 256 or 65536
        // elements.
        if [-1, Int128(UInt32.max), Int128(UInt64.max)].contains(last) { return 0 }
        let first = range.attribute(Int(DW_AT_lower_bound))?.unsigned ?? 0
        guard first == 0, last >= 0, last < Int128(UInt32.max) else { return nil }
        return UInt64(last) + 1
    }

    private func pointer(
        _ entry: DebugEntry, _ size: UInt64?, _ depth: Int
    ) -> (name: String, size: UInt64?, shape: VariableType.Shape) {
        let size = size ?? (is64Bit ? 8 : 4)
        guard let target = entry.type, depth < Self.deepest else {
            return ("void *", size, .other(reason: "it is a pointer"))
        }
        // Only the first step: a list has pointers to itself.
        var inner: DebugEntry? = target
        var qualifiers = ""
        for _ in 0..<Self.mostQualifiers {
            guard let current = inner else { break }
            switch current.tag {
            case Int(DW_TAG_const_type): qualifiers += "const "
            case Int(DW_TAG_volatile_type): qualifiers += "volatile "
            case Int(DW_TAG_typedef), Int(DW_TAG_atomic_type), Int(DW_TAG_restrict_type): break
            case Int(DW_TAG_base_type):
                let encoding = current.attribute(Int(DW_AT_encoding))?.unsigned
                let isCharacter =
                    current.attribute(Int(DW_AT_byte_size))?.unsigned == 1
                    && [UInt64(DW_ATE_signed_char), UInt64(DW_ATE_unsigned_char), UInt64(DW_ATE_UTF)]
                        .contains(encoding)
                let name = qualifiers + (target.name ?? current.name ?? "?") + " *"
                return (name, size, isCharacter ? .text : .other(reason: "it is a pointer"))
            default:
                return (qualifiers + (current.name ?? "…") + " *", size, .other(reason: "it is a pointer"))
            }
            inner = current.type
        }
        return (qualifiers + "void *", size, .other(reason: "it is a pointer"))
    }

    // MARK: - Parts

    /// A member of a structure, class or union.
    struct Member {
        let name: String
        let offset: UInt64
        let entry: DebugEntry
        let isBitField: Bool
    }

    /// The members, including those of base classes and of anonymous members.
    func members(of members: VariableType.Members) -> [Member] {
        var found: [Member] = []
        var entriesLeft = Self.mostMembers
        collect(members.entry, at: 0, depth: 0, &found, &entriesLeft)
        return found
    }

    private func collect(
        _ entry: DebugEntry, at start: UInt64, depth: Int, _ found: inout [Member], _ entriesLeft: inout Int
    ) {
        guard depth < Self.deepest else { return }
        for child in entry.children(entriesLeft) {
            entriesLeft -= 1
            guard entriesLeft > 0 else { return }
            let isBase = child.tag == Int(DW_TAG_inheritance)
            guard isBase || child.tag == Int(DW_TAG_member), !child.flag(Int(DW_AT_external)),
                !child.flag(Int(DW_AT_declaration)),
                let own = offset(of: child),
                case let (offset, overflows) = start.addingReportingOverflow(own),
                !overflows
            else { continue }
            if !isBase, let name = child.name {
                let isBitField =
                    child.has(Int(DW_AT_bit_size)) || child.has(Int(DW_AT_data_bit_offset))
                    || child.has(Int(DW_AT_bit_offset))
                found.append(Member(name: name, offset: offset, entry: child, isBitField: isBitField))
            } else if let type = child.type, case .record(let inner) = self.type(type, depth: depth + 1).shape
            {
                collect(inner.entry, at: offset, depth: depth + 1, &found, &entriesLeft)
            }
        }
    }

    /// The offset of a member or base class; `nil` if it depends on the object, as for a virtual base class.
    private func offset(of member: DebugEntry) -> UInt64? {
        guard let attribute = member.attribute(Int(DW_AT_data_member_location)) else {
            // A member of a union, or a bit field.
            return 0
        }
        if let offset = attribute.unsigned { return offset }
        guard let operations = attribute.operations, operations.count == 1,
            Int(operations[0].atom) == Int(DW_OP_plus_uconst)
        else { return nil }
        return operations[0].number
    }
}
