// SPDX-License-Identifier: BSD-3-Clause
internal import CLibDW
internal import Glibc

/// An entry of debug information, which describes a variable, a type, a scope or the like.
///
/// Entries may come from hostile files: whoever follows their references must bound the number of steps.
struct DebugEntry {
    private var die: Dwarf_Die

    init(_ die: Dwarf_Die) { self.die = die }

    /// Longer names are truncated.
    private static let longestText = 4096

    /// Identifies the entry among all those of a session: its place in memory.
    var id: UInt { UInt(bitPattern: die.addr) }

    var tag: Int { with { Int(dwarf_tag($0)) } }

    private func with<Result>(_ body: (UnsafeMutablePointer<Dwarf_Die>) -> Result) -> Result {
        var copy = die
        return withUnsafeMutablePointer(to: &copy, body)
    }

    // MARK: - Attributes

    /// An attribute of the entry.
    ///
    /// - Parameter isInherited: Whether it may be one of the declaration or of the abstract instance.
    func attribute(_ name: Int, isInherited: Bool = false) -> DebugAttribute? {
        var attribute = Dwarf_Attribute()
        let isFound = with {
            (isInherited
                ? dwarf_attr_integrate($0, UInt32(name), &attribute)
                : dwarf_attr($0, UInt32(name), &attribute)) != nil
        }
        return isFound ? DebugAttribute(attribute) : nil
    }

    func has(_ name: Int) -> Bool { attribute(name) != nil }

    /// Whether a flag is set.
    func flag(_ name: Int) -> Bool { attribute(name)?.flag ?? false }

    /// The name, possibly from the declaration.
    var name: String? { with { dwarf_diename($0) }.map(Self.text) }

    /// The entry that an attribute refers to.
    func reference(_ name: Int, isInherited: Bool = false) -> DebugEntry? {
        attribute(name, isInherited: isInherited)?.entry
    }

    var type: DebugEntry? { reference(Int(DW_AT_type), isInherited: true) }

    /// The path of the source file of its declaration.
    var file: String? {
        // libdw has a function for this, which aborts for units whose table of files is missing.
        guard let declaration = first(with: Int(DW_AT_decl_file)),
            let index = declaration.attribute(Int(DW_AT_decl_file))?.unsigned
        else { return nil }
        var unit = Dwarf_Die()
        var files: OpaquePointer?
        var count = 0
        guard declaration.with({ dwarf_diecu($0, &unit, nil, nil) }) != nil,
            dwarf_getsrcfiles(&unit, &files, &count) == 0, index < UInt64(clamping: count)
        else { return nil }
        return dwarf_filesrc(files, Int(index), nil, nil).map(Self.text)
    }

    /// The entry with an attribute of its own: this one, its declaration or its abstract instance. These may be in other
    /// units, and numbers of files are those of a unit.
    private func first(with name: Int) -> DebugEntry? {
        var entry = self
        for _ in 0..<8 {
            if entry.has(name) { return entry }
            guard
                let next = entry.reference(Int(DW_AT_abstract_origin))
                    ?? entry.reference(Int(DW_AT_specification))
            else { return nil }
            entry = next
        }
        return nil
    }

    /// The path of the source file of its unit.
    var unitPath: String? { unit?.name }

    /// The language of its unit.
    var language: SourceLanguage? { unit.flatMap { SourceLanguage(of: $0) } }

    private var unit: DebugEntry? {
        var unit = Dwarf_Die()
        return with { dwarf_diecu($0, &unit, nil, nil) } == nil ? nil : DebugEntry(unit)
    }

    var line: Int? {
        var line: CInt = 0
        return with { dwarf_decl_line($0, &line) } == 0 && line > 0 ? Int(line) : nil
    }

    static func text(_ pointer: UnsafePointer<CChar>) -> String {
        let count = strnlen(pointer, longestText)
        return UnsafeRawBufferPointer(start: pointer, count: count).withMemoryRebound(to: UInt8.self) {
            String(decoding: $0, as: UTF8.self)
        }
    }

    // MARK: - Neighbours

    var firstChild: DebugEntry? {
        var child = Dwarf_Die()
        return with { dwarf_child($0, &child) } == 0 ? DebugEntry(child) : nil
    }

    /// The next entry of the same parent. Entries only follow each other forwards.
    var sibling: DebugEntry? {
        var sibling = Dwarf_Die()
        guard with({ dwarf_siblingof($0, &sibling) }) == 0, UInt(bitPattern: sibling.addr) > id else {
            return nil
        }
        return DebugEntry(sibling)
    }

    /// The first children of an entry.
    ///
    /// - Parameter most: The maximum number.
    func children(_ most: Int) -> [DebugEntry] {
        var children: [DebugEntry] = []
        var next = firstChild
        while let child = next, children.count < most {
            children.append(child)
            next = child.sibling
        }
        return children
    }

    /// The entry and the scopes around it, from the inside to the unit.
    var scopes: [DebugEntry] {
        var list: UnsafeMutablePointer<Dwarf_Die>?
        let count = with { dwarf_getscopes_die($0, &list) }
        defer { free(list) }
        guard count > 0, let list else { return [] }
        return (0..<Int(count)).map { DebugEntry(list[$0]) }
    }
}

/// An attribute of an entry.
struct DebugAttribute {
    private var attribute: Dwarf_Attribute

    init(_ attribute: Dwarf_Attribute) { self.attribute = attribute }

    private func with<Result>(_ body: (UnsafeMutablePointer<Dwarf_Attribute>) -> Result) -> Result {
        var copy = attribute
        return withUnsafeMutablePointer(to: &copy, body)
    }

    private var form: Int { with { Int(dwarf_whatform($0)) } }

    var flag: Bool {
        var value = false
        return with { dwarf_formflag($0, &value) } == 0 && value
    }

    var unsigned: UInt64? {
        var value: Dwarf_Word = 0
        return with { dwarf_formudata($0, &value) } == 0 ? value : nil
    }

    var signed: Int64? {
        var value: Dwarf_Sword = 0
        return with { dwarf_formsdata($0, &value) } == 0 ? value : nil
    }

    /// The number, signed or unsigned by its form. libdw sign-extends the forms `data1` to `data4`, in which compilers
    /// write unsigned numbers.
    var integer: Int128? {
        if form == Int(DW_FORM_sdata) || form == Int(DW_FORM_implicit_const) {
            return signed.map { Int128($0) }
        }
        return unsigned.map { Int128($0) }
    }

    var address: UInt64? {
        var value: Dwarf_Addr = 0
        return with { dwarf_formaddr($0, &value) } == 0 ? value : nil
    }

    var text: String? { with { dwarf_formstring($0) }.map(DebugEntry.text) }

    var entry: DebugEntry? {
        var entry = Dwarf_Die()
        return with { dwarf_formref_die($0, &entry) } != nil ? DebugEntry(entry) : nil
    }

    /// The operations of a location; `nil` if it is a list of locations, or broken.
    var operations: [Dwarf_Op]? {
        var expression: UnsafeMutablePointer<Dwarf_Op>?
        var count = 0
        // This fails for a list of locations.
        guard with({ dwarf_getlocation($0, &expression, &count) }) == 0 else { return nil }
        return Array(UnsafeBufferPointer(start: expression, count: count))
    }

    /// Whether it is a list of locations for ranges of code.
    var isList: Bool {
        [Int(DW_FORM_sec_offset), Int(DW_FORM_loclistx), Int(DW_FORM_data4), Int(DW_FORM_data8)].contains(
            form)
    }

    /// The address that an operation refers to by an index.
    func address(at index: Int) -> UInt64? {
        var expression: UnsafeMutablePointer<Dwarf_Op>?
        var count = 0
        return with { attribute in
            guard dwarf_getlocation(attribute, &expression, &count) == 0, index < count,
                let expression
            else { return nil }
            var result = Dwarf_Attribute()
            guard dwarf_getlocation_attr(attribute, expression + index, &result) == 0 else { return nil }
            return DebugAttribute(result).address
        }
    }
}
