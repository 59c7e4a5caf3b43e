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
        /// An array.
        case array(Elements)
        /// A type that no tweak can have.
        case other(reason: String)
    }

    /// The members of a structure, read lazily: there may be many, or in hostile files infinitely many.
    package struct Members {
        let entry: DebugEntry
        let language: SourceLanguage?
    }

    /// The elements of an array.
    package struct Elements {
        let entry: DebugEntry
        let language: SourceLanguage?
        /// The dimensions in the order of the source; `nil` for one with unknown bounds.
        package let dimensions: [Dimension?]
        /// Whether the elements that differ in the first index only are neighbours.
        let isColumnMajor: Bool

        /// The number of elements from the first to the one with these indices.
        ///
        /// - Returns: `nil` if an index is out of bounds, or the bounds are unknown.
        func position(of indices: [Int64]) -> UInt64? {
            guard indices.count == dimensions.count else { return nil }
            let pairs = Array(zip(indices, dimensions))
            var position: UInt64 = 0
            for (index, dimension) in isColumnMajor ? pairs.reversed() : pairs {
                guard let dimension, let offset = dimension.offset(of: index) else { return nil }
                // This overflows only if the array is too large for an address, and so has no known size.
                position = position &* dimension.count &+ offset
            }
            return position
        }
    }

    /// A dimension of an array.
    package struct Dimension: Hashable, Sendable {
        /// The lowest index.
        package let first: Int64
        package let count: UInt64

        /// The distance of an index from the lowest one; `nil` if it is out of bounds.
        func offset(of index: Int64) -> UInt64? {
            guard index >= first else { return nil }
            let offset = UInt64(bitPattern: index &- first)
            return offset < count ? offset : nil
        }

        /// The indices as in the names of parts, such as `[0..3]`; empty for none.
        var indices: String {
            count == 0 ? "" : "[\(first)..\(first &+ Int64(truncatingIfNeeded: count - 1))]"
        }

        /// The dimension in the name of a type: the number of elements, or for an array that does not begin at 0 the
        /// indices.
        var declared: String { first == 0 || count == 0 ? "[\(count)]" : indices }
    }
}

/// Reads types.
///
/// All steps are bounded, because a hostile type may contain itself.
struct TypeReader {
    private static let mostQualifiers = 32
    private static let mostDimensions = 16
    private static let mostEnumerators = 4096
    private static let mostEnumeratorBytes = 1 << 20
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
    ///   - language: The language of the variable, for types in units without one.
    ///   - depth: The number of types around this one.
    func type(_ entry: DebugEntry?, _ language: SourceLanguage?, depth: Int = 0) -> VariableType {
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
                let (ownName, size, shape) = content(of: current, language, depth)
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
        of entry: DebugEntry, _ language: SourceLanguage?, _ depth: Int
    ) -> (name: String, size: UInt64?, shape: VariableType.Shape) {
        let entry = completed(entry)
        let size = entry.attribute(Int(DW_AT_byte_size))?.unsigned
        let name = entry.name
        let elsewhere = [Int(DW_AT_data_location), Int(DW_AT_allocated), Int(DW_AT_associated)]
        guard !elsewhere.contains(where: entry.has) else {
            return (
                name ?? "descriptor", nil, .other(reason: "the program allocates its content while it runs")
            )
        }
        switch entry.tag {
        case Int(DW_TAG_base_type): return (name ?? "?", size, base(entry, name ?? "", size))
        case Int(DW_TAG_enumeration_type):
            let name = "enum " + (name ?? "{…}")
            return (
                name, size ?? entry.type.flatMap { type($0, language, depth: depth + 1).size },
                enumeration(entry, language, depth)
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
            return (shown, size, .record(VariableType.Members(entry: entry, language: language)))
        case Int(DW_TAG_array_type): return array(entry, language, depth)
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
    private func enumeration(
        _ entry: DebugEntry, _ language: SourceLanguage?, _ depth: Int
    ) -> VariableType.Shape {
        let enumerators = entry.children(Self.mostEnumerators).filter { $0.tag == Int(DW_TAG_enumerator) }
        var values: [(name: String, value: Int128)] = []
        var nameBytes = 0
        for enumerator in enumerators where nameBytes < Self.mostEnumeratorBytes {
            guard let name = enumerator.name,
                let value = enumerator.attribute(Int(DW_AT_const_value))?.integer
            else { continue }
            nameBytes += name.utf8.count
            values.append((name, value))
        }
        var underlying: TweakType?
        if depth < Self.deepest, let entry = entry.type,
            case .value(let type, _) = type(entry, language, depth: depth + 1).shape
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
            && nameBytes < Self.mostEnumeratorBytes
            && Set(values.map(\.value)).count == values.count
        return .value(underlying, choices: isComplete ? choices : [])
    }

    private func array(
        _ entry: DebugEntry, _ language: SourceLanguage?, _ depth: Int
    ) -> (name: String, size: UInt64?, shape: VariableType.Shape) {
        guard depth < Self.deepest else {
            return ("array", nil, .other(reason: "no tweak can have the type of its elements"))
        }
        let children = entry.children(Self.mostDimensions + 1)
        let ranges = children.filter { Self.dimensionTags.contains($0.tag) }
        let isPacked = ([entry] + ranges).contains {
            $0.has(Int(DW_AT_byte_stride)) || $0.has(Int(DW_AT_bit_stride))
        }
        guard !isPacked else {
            return ("array", nil, .other(reason: "its elements are packed, or not next to one another"))
        }
        let language = entry.language ?? language
        var dimensions = ranges.map { dimension($0, language) }
        let isColumnMajor = isColumnMajor(entry, language)
        if children.count > Self.mostDimensions || dimensions.count > 1 && isColumnMajor == nil {
            dimensions = dimensions.map { _ in nil }
        }
        let element = type(entry.type, language, depth: depth + 1)
        var size = element.size
        for dimension in dimensions {
            guard let known = size, let dimension else {
                size = nil
                break
            }
            let (product, overflows) = known.multipliedReportingOverflow(by: dimension.count)
            size = overflows ? nil : product
        }
        let name = element.name + dimensions.map { $0?.declared ?? "[]" }.joined()
        guard !dimensions.isEmpty, let type = entry.type else {
            return (name, size, .other(reason: "its elements are unknown"))
        }
        if let elementBytes = size, let attribute = entry.attribute(Int(DW_AT_byte_size)) {
            // A vector may be padded at its end.
            guard let bytes = attribute.unsigned,
                bytes == elementBytes || bytes > elementBytes && entry.flag(Int(DW_AT_GNU_vector))
            else { return (name, nil, .other(reason: "its elements are packed, or not next to one another")) }
            size = bytes
        }
        let elements = VariableType.Elements(
            entry: type, language: language, dimensions: dimensions, isColumnMajor: isColumnMajor ?? false)
        return (name, size, .array(elements))
    }

    private static let dimensionTags = [
        Int(DW_TAG_subrange_type), Int(DW_TAG_enumeration_type), Int(DW_TAG_generic_subrange),
    ]

    /// The order of an array's elements; `nil` if it is unknown.
    private func isColumnMajor(_ array: DebugEntry, _ language: SourceLanguage?) -> Bool? {
        guard let attribute = array.attribute(Int(DW_AT_ordering)) else { return language?.isColumnMajor }
        return switch attribute.unsigned {
        case UInt64(DW_ORD_row_major): false
        case UInt64(DW_ORD_col_major): true
        default: nil
        }
    }

    /// A dimension of an array; `nil` if its bounds depend on something else, or are not in the debug information.
    private func dimension(_ range: DebugEntry, _ language: SourceLanguage?) -> VariableType.Dimension? {
        guard range.tag == Int(DW_TAG_subrange_type) else { return nil }
        let bound = { (name: Int) in
            range.attribute(name)?.integer.map { signed($0, in: range.type) }
        }
        let lower =
            range.has(Int(DW_AT_lower_bound))
            ? bound(Int(DW_AT_lower_bound)).flatMap { Int64(exactly: $0) } : language?.lowestIndex
        guard let first = lower else { return nil }
        if range.has(Int(DW_AT_count)) {
            return range.attribute(Int(DW_AT_count))?.unsigned.flatMap { dimension(from: first, $0) }
        }
        guard let last = bound(Int(DW_AT_upper_bound)) else { return nil }
        // GNU C: the upper bound of an empty array is -1, in the width of the index. As `data1` or `data2`, the same bits
        // are the end of 256 or 65536 elements.
        if first == 0, [Int128(UInt32.max), Int128(UInt64.max)].contains(last) {
            return dimension(from: 0, 0)
        }
        // Languages other than C have arrays that end before they begin, and are empty.
        let count = last - Int128(first) + 1
        guard count < Int128(UInt32.max) else { return nil }
        return dimension(from: first, UInt64(max(count, 0)))
    }

    private func dimension(from first: Int64, _ count: UInt64) -> VariableType.Dimension? {
        guard
            count == 0
                || Int64(exactly: count - 1).map({ first.addingReportingOverflow($0).overflow }) == false
        else { return nil }
        return VariableType.Dimension(first: first, count: count)
    }

    /// A bound of a dimension. Older compilers write negative bounds as unsigned numbers of the width of the index.
    private func signed(_ bound: Int128, in index: DebugEntry?) -> Int128 {
        guard bound > 0, case .value(let type, _) = type(index, nil, depth: Self.deepest).shape,
            let range = type.integerRange, range.lowerBound < 0, bound > range.upperBound,
            case let width = range.upperBound - range.lowerBound + 1, bound < width
        else { return bound }
        return bound - width
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
        collect(members.entry, members.language, at: 0, depth: 0, &found, &entriesLeft)
        return found
    }

    private func collect(
        _ entry: DebugEntry, _ language: SourceLanguage?, at start: UInt64, depth: Int,
        _ found: inout [Member], _ entriesLeft: inout Int
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
            let isBitField =
                child.has(Int(DW_AT_bit_size)) || child.has(Int(DW_AT_data_bit_offset))
                || child.has(Int(DW_AT_bit_offset))
            if !isBase, let name = child.name {
                found.append(Member(name: name, offset: offset, entry: child, isBitField: isBitField))
            } else if !isBitField, let type = child.type,
                case .record(let inner) = self.type(type, language, depth: depth + 1).shape
            {
                collect(inner.entry, language, at: offset, depth: depth + 1, &found, &entriesLeft)
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
