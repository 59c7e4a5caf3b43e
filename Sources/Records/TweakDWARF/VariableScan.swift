// SPDX-License-Identifier: BSD-3-Clause
internal import CLibDW
internal import TweakSystem

/// Finds the global and static variables in debug information.
///
/// Hostile files are bounded by ``DebugLimits``, the depth of scopes and the time.
struct VariableScan {
    static let deepest = 64

    /// A variable that was found.
    struct Found {
        let entry: DebugEntry
        let name: String
        /// The path of the source file of its unit.
        let unit: String
        let isOptimized: Bool
        let language: SourceLanguage?
        var location: VariableLocation
    }

    private(set) var variables: [Found] = []
    /// The complete types, by name.
    private(set) var definitions: [String: DebugEntry] = [:]
    private(set) var problems: [String] = []
    private(set) var unitCount = 0

    /// The variables without a declaration, by their entries.
    private var indices: [UInt: Int] = [:]
    /// Entries that only add locations to the variables of their abstract origins.
    private var concrete: [(origin: UInt, found: Found)] = []
    /// The declarations in classes of variables that are defined elsewhere. Inline variables also have a value there.
    private var defined: Set<UInt> = []
    private var entryCount: UInt64 = 0
    private var nameBytes: UInt64 = 0
    /// Whether some names took longer, because the scopes of an entry are found by reading its unit.
    private var hasSlowNames = false
    private let limits: DebugLimits
    private let end: ContinuousClock.Instant

    init(_ file: DebugFile, until end: ContinuousClock.Instant) {
        (limits, self.end) = (file.limits, end)
        var unit: OpaquePointer?
        while true {
            var next: OpaquePointer?
            var (version, type): (Dwarf_Half, UInt8) = (0, 0)
            var (entry, split) = (Dwarf_Die(), Dwarf_Die())
            let result = dwarf_get_units(file.dwarf, unit, &next, &version, &type, &entry, nil)
            guard result == 0, let next else {
                if result < 0 { problems.append(Self.reason) }
                break
            }
            if Int(type) != Int(DW_UT_skeleton) || admitsSplit(DebugEntry(entry), of: file) {
                var same: OpaquePointer?
                dwarf_get_units(file.dwarf, unit, &same, nil, nil, nil, &split)
            }
            unit = next
            unitCount += 1
            guard unitCount & 0xF != 0 || isWithinLimits else { break }
            // In a type unit, the other entry is the type.
            let isSplit = split.addr != nil && Int(type) == Int(DW_UT_skeleton)
            guard scan(DebugEntry(entry), isSplit ? DebugEntry(split) : nil, type) else { break }
        }
        merge()
    }

    /// Returns whether the file that has the debug information of a unit can be read.
    private func admitsSplit(_ skeleton: DebugEntry, of file: DebugFile) -> Bool {
        let name = skeleton.attribute(Int(DW_AT_dwo_name)) ?? skeleton.attribute(Int(DW_AT_GNU_dwo_name))
        guard let name = name?.text else { return false }
        guard !name.hasPrefix("/") else { return limits.admits(name) }
        let compilation = skeleton.attribute(Int(DW_AT_comp_dir))?.text.map { [$0] } ?? []
        let folders =
            file.folders
            + compilation.flatMap { folder in
                folder.hasPrefix("/") ? [folder] : file.folders.map { "\($0)/\(folder)" }
            }
        return Set(folders).allSatisfy { limits.admits("\($0)/\(name)") }
    }

    /// Whether to go on; otherwise the reason is a problem.
    private var isWithinLimits: Bool {
        mutating get {
            let kept = variables.count + definitions.count + concrete.count + defined.count
            guard entryCount < limits.mostEntries, UInt64(kept) < limits.mostKept,
                nameBytes < limits.mostNameBytes, ContinuousClock.now < end, !limits.isOutOfMemory
            else {
                problems.append("it is too large, and only a part of it is read")
                return false
            }
            return true
        }
    }

    private static var reason: String { dwarf_errmsg(-1).map { String(cString: $0) } ?? "unknown error" }

    /// The properties that all entries of a unit share.
    private struct Unit {
        let path: String
        let isOptimized: Bool
        let language: SourceLanguage?
    }

    /// - Returns: Whether to go on.
    private mutating func scan(_ skeleton: DebugEntry, _ split: DebugEntry?, _ type: UInt8) -> Bool {
        let entry = split ?? skeleton
        let path = entry.name ?? skeleton.name ?? ""
        if split == nil, Int(type) == Int(DW_UT_skeleton) {
            let name = skeleton.attribute(Int(DW_AT_dwo_name)) ?? skeleton.attribute(Int(DW_AT_GNU_dwo_name))
            problems.append("the debug information in \(name?.text ?? "a .dwo file") cannot be read")
        }
        let producer =
            (entry.attribute(Int(DW_AT_producer)) ?? skeleton.attribute(Int(DW_AT_producer)))?.text ?? ""
        let options = producer.split(separator: " ")
        let unit = Unit(
            path: path,
            // Only GCC records its options.
            isOptimized: options.contains { $0.hasPrefix("-O") && $0 != "-O0" } || !producer.hasPrefix("GNU"),
            language: SourceLanguage(of: entry) ?? SourceLanguage(of: skeleton))
        return scan(unit, from: entry)
    }

    /// A list of entries that is being read.
    private struct Level {
        /// The entry to read next; `nil` if that is the one after ``last``, which is found only after its children have
        /// been read: libdw reads all of them for that, and so many times those deep inside.
        var first: DebugEntry?
        var last: DebugEntry?
        let scopes: String
        let isInFunction: Bool
        let isInType: Bool
    }

    private mutating func scan(_ unit: Unit, from root: DebugEntry) -> Bool {
        var levels = [Level(first: root.firstChild, scopes: "", isInFunction: false, isInType: false)]
        while let level = levels.last {
            guard let entry = level.first ?? level.last?.sibling else {
                levels.removeLast()
                continue
            }
            (levels[levels.count - 1].first, levels[levels.count - 1].last) = (nil, entry)
            entryCount += 1
            if entryCount & 0xFFF == 0 || nameBytes >= limits.mostNameBytes
                || hasSlowNames && ContinuousClock.now >= end
            {
                guard isWithinLimits else { return false }
            }
            let tag = entry.tag
            switch tag {
            case Int(DW_TAG_variable), Int(DW_TAG_member):
                // A data member of objects is not a variable.
                if tag == Int(DW_TAG_member), !entry.flag(Int(DW_AT_external)),
                    !entry.flag(Int(DW_AT_declaration))
                {
                    continue
                }
                add(entry, level, unit)
            case Int(DW_TAG_namespace), Int(DW_TAG_module):
                enter(entry, level, &levels)
            case Int(DW_TAG_structure_type), Int(DW_TAG_class_type), Int(DW_TAG_union_type),
                Int(DW_TAG_enumeration_type):
                guard !level.isInFunction, let name = entry.name else { continue }
                let isDeclared = entry.flag(Int(DW_AT_declaration))
                if !isDeclared {
                    nameBytes += UInt64(level.scopes.utf8.count + name.utf8.count)
                    definitions[level.scopes + name] = definitions[level.scopes + name] ?? entry
                }
                if tag != Int(DW_TAG_enumeration_type) { enter(entry, level, &levels, isType: true) }
            case Int(DW_TAG_subprogram), Int(DW_TAG_lexical_block), Int(DW_TAG_inlined_subroutine),
                Int(DW_TAG_try_block), Int(DW_TAG_catch_block):
                enter(entry, level, &levels, isFunction: true)
            default: break
            }
        }
        return true
    }

    private mutating func enter(
        _ entry: DebugEntry, _ level: Level, _ levels: inout [Level], isFunction: Bool = false,
        isType: Bool = false
    ) {
        guard levels.count < Self.deepest, let child = entry.firstChild else { return }
        let scopes = isFunction ? level.scopes : level.scopes + QualifiedName.name(of: entry) + "::"
        nameBytes += UInt64(scopes.utf8.count)
        levels.append(
            Level(
                first: child, scopes: scopes, isInFunction: level.isInFunction || isFunction, isInType: isType
            )
        )
    }

    private mutating func add(_ entry: DebugEntry, _ level: Level, _ unit: Unit) {
        guard !entry.flag(Int(DW_AT_declaration)) || entry.has(Int(DW_AT_const_value)) else { return }
        let location = VariableLocation(of: entry)
        if level.isInFunction {
            // Others are on the stack or in registers, or indistinguishable from those.
            switch location {
            case .address, .threadLocal: break
            case .computed, .pieces: guard VariableLocation.isInImage(entry) else { return }
            default: return
            }
        }
        if level.isInType, case .optimizedOut = location { return }
        let origin = entry.reference(Int(DW_AT_abstract_origin))
        let isPlain = origin == nil && !entry.has(Int(DW_AT_specification)) && !level.isInFunction
        hasSlowNames = hasSlowNames || !isPlain
        var swiftName: String?
        if unit.language?.isSwift == true,
            let symbol = entry.attribute(Int(DW_AT_linkage_name), isInherited: true)?.text
        {
            swiftName = QualifiedName(swift: symbol)?.text
        }
        guard
            let name = swiftName
                ?? (isPlain ? entry.name.map({ level.scopes + $0 }) : QualifiedName(of: entry)?.text)
        else { return }
        nameBytes += UInt64(name.utf8.count)
        let found = Found(
            entry: entry, name: name, unit: origin?.unitPath ?? unit.path, isOptimized: unit.isOptimized,
            language: unit.language, location: location)
        if let declaration = entry.reference(Int(DW_AT_specification)) { defined.insert(declaration.id) }
        if let origin { return concrete.append((origin.id, found)) }
        indices[entry.id] = variables.count
        variables.append(found)
    }

    /// Takes the locations of variables from their concrete entries, which GCC writes with link-time optimization, and
    /// removes duplicates.
    private mutating func merge() {
        for (origin, found) in concrete {
            guard let index = indices[origin] else {
                variables.append(found)
                continue
            }
            if case .optimizedOut = variables[index].location { variables[index].location = found.location }
        }
        struct Place: Hashable {
            let name: String
            let location: VariableLocation
            let unit: String
        }
        var seen: Set<Place> = []
        // The definitions of a class's variables may refer to other entries than the type unit of the class has.
        let defined = defined
        let names = Set(
            variables.filter { if case .address = $0.location { true } else { false } }.map(\.name))
        variables = variables.filter { variable in
            if case .constant = variable.location, variable.entry.flag(Int(DW_AT_declaration)),
                names.contains(variable.name)
            {
                return false
            }
            guard !defined.contains(variable.entry.id) else { return false }
            // Each unit has its own entry of an inline variable, all at one address.
            let unit = if case .address = variable.location { "" } else { variable.unit }
            return seen.insert(Place(name: variable.name, location: variable.location, unit: unit)).inserted
        }
    }
}
