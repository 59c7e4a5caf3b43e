// SPDX-License-Identifier: BSD-3-Clause
internal import TweakELF
package import TweakRecords

/// The global and static variables of an executable or library, from its debug information.
package final class ProgramVariables {
    private let file: DebugFile
    private let types: TypeReader
    private let end: ContinuousClock.Instant
    /// The variables, by name.
    package let variables: [ProgramVariable]
    /// The parts of the debug information that could not be read.
    package let problems: [String]
    /// The build id of the file.
    package var buildID: [UInt8]? { file.buildID }

    /// Reads debug information.
    ///
    /// - Parameters:
    ///   - path: The path of the executable or library.
    ///   - asksServers: Whether to ask the servers in `DEBUGINFOD_URLS` for missing debug information.
    ///   - mostTime: The time limit, by the size of the file if `nil`. Variables read afterwards have no parts.
    package init(
        path: String, asksServers: Bool = false, mostTime: Duration? = nil
    ) throws(DebugFileError) {
        let start = ContinuousClock.now
        file = try DebugFile(path: path, asksServers: asksServers)
        end = start + (mostTime ?? file.limits.mostTime)
        let scan = VariableScan(file, until: end)
        guard !scan.variables.isEmpty || !scan.problems.isEmpty else { throw .noVariables(path: path) }
        types = TypeReader(byteOrder: .native, is64Bit: file.is64Bit, definitions: scan.definitions)
        problems = scan.problems
        variables = Self.named(scan.variables)
    }

    /// Prefixes variables of the same name with as much of their source files' paths as distinguishes them.
    private static func named(_ found: [VariableScan.Found]) -> [ProgramVariable] {
        var variables: [ProgramVariable] = []
        for (name, group) in Dictionary(grouping: found, by: \.name) {
            var names = group.map { _ in name }
            var depth = 1
            // Then their locations distinguish them.
            let longest = 1 + (group.map { $0.unit.count(where: { $0 == "/" }) }.max() ?? 0)
            while Set(names).count < group.count, depth <= longest {
                names = group.map { "\(lastComponents(depth, of: $0.unit)):\(name)" }
                depth += 1
            }
            if Set(names).count < group.count {
                names = group.map { "\(lastComponents(1, of: $0.unit)):\($0.entry.line ?? 0):\(name)" }
            }
            for (variable, shownName) in zip(group, names) {
                variables.append(ProgramVariable(variable, shownName: shownName))
            }
        }
        return variables.sorted { ($0.name, $0.shownName) < ($1.name, $1.shownName) }
    }

    private static func lastComponents(_ count: Int, of path: String) -> String {
        path.split(separator: "/").suffix(count).joined(separator: "/")
    }

    // MARK: - Parts

    /// The whole of a variable.
    package func whole(of variable: ProgramVariable) -> VariablePart {
        VariablePart(
            name: variable.shownName, variable: variable,
            type: types.type(variable.entry.type, variable.language), offset: 0, isConst: false,
            isVolatile: false, isBitField: false, isInside: true, spread: 0)
    }

    /// The variables and parts of them that have values, in the order of the names: each member of structures, and for
    /// arrays one part for all elements, with the range of the indices instead of one.
    package func values(of variable: ProgramVariable) -> [VariablePart] { values(in: whole(of: variable)) }

    /// The parts of a part that have values, as ``values(of:)``.
    package func values(in part: VariablePart) -> [VariablePart] {
        var list = PartList(mostParts: Self.mostParts, mostNameBytes: file.limits.mostNameBytes)
        collect(part, depth: 0, &list)
        return list.parts
    }

    /// The parts of all variables that have values and match.
    ///
    /// - Returns: The parts, and whether these are all: their number is limited in proportion to the file.
    package func values(
        where isMeant: (VariablePart) -> Bool
    ) -> (parts: [VariablePart], areAll: Bool) {
        var list = PartList(
            mostParts: Int(clamping: file.limits.mostParts), mostNameBytes: file.limits.mostNameBytes)
        for variable in variables {
            for part in values(of: variable) where isMeant(part) { list.append(part) }
            guard !list.isFull else { return (list.parts, false) }
        }
        return (list.parts, true)
    }

    private static let deepestPart = 16
    private static let mostParts = 10_000

    /// A list of parts of limited size.
    private struct PartList {
        let mostParts: Int
        let mostNameBytes: UInt64
        private(set) var parts: [VariablePart] = []
        private var nameBytes: UInt64 = 0

        init(mostParts: Int, mostNameBytes: UInt64) {
            (self.mostParts, self.mostNameBytes) = (mostParts, mostNameBytes)
        }

        var isFull: Bool { parts.count >= mostParts || nameBytes >= mostNameBytes }

        mutating func append(_ part: VariablePart) {
            guard !isFull else { return }
            parts.append(part)
            nameBytes += UInt64(part.name.utf8.count + part.type.name.utf8.count)
            guard case .value(_, let choices) = part.type.shape else { return }
            for choice in choices { nameBytes += 16 + UInt64(choice.label?.utf8.count ?? 0) }
        }
    }

    private func collect(_ part: VariablePart, depth: Int, _ list: inout PartList) {
        guard !list.isFull else { return }
        guard ContinuousClock.now < end else { return list.append(part) }
        switch part.type.shape {
        case .record(let members) where depth < Self.deepestPart:
            let members = types.members(of: members)
            if members.isEmpty { list.append(part) }
            for member in members { collect(self.part(member, of: part), depth: depth + 1, &list) }
        case .array(let elements)
        where depth < Self.deepestPart && elements.dimensions.allSatisfy({ $0?.count ?? 0 > 0 }):
            let indices = elements.dimensions.map { $0?.indices ?? "" }.joined()
            let element = self.element(of: part, elements, named: indices, offset: 0, isForAll: true)
            collect(element, depth: depth + 1, &list)
        default: list.append(part)
        }
    }

    private func part(_ member: TypeReader.Member, of whole: VariablePart) -> VariablePart {
        guard case .record(let members) = whole.type.shape else { return whole }
        return part(
            of: whole, named: "." + member.name, types.type(member.entry.type, members.language),
            offset: member.offset, isBitField: member.isBitField)
    }

    private func element(
        of whole: VariablePart, _ elements: VariableType.Elements, named name: String, offset: UInt64,
        isForAll: Bool = false
    ) -> VariablePart {
        var element = part(
            of: whole, named: name, types.type(elements.entry, elements.language), offset: offset,
            isBitField: false)
        if isForAll, let size = element.type.size, let all = whole.type.size, size <= all {
            element.spread &+= all - size
        }
        return element
    }

    private func part(
        of whole: VariablePart, named name: String, _ type: VariableType, offset: UInt64, isBitField: Bool
    ) -> VariablePart {
        var isInside = false
        if whole.isInside, let most = whole.type.size, let size = type.size {
            isInside = offset <= most && size <= most - offset
        }
        return VariablePart(
            name: whole.name + name, variable: whole.variable, type: type, offset: whole.offset &+ offset,
            isConst: whole.isConst || whole.type.isConst,
            isVolatile: whole.isVolatile || whole.type.isVolatile,
            isBitField: whole.isBitField || isBitField, isInside: isInside, spread: whole.spread)
    }

    /// The variable, or the part of one, with a name such as `player.speed`, `table[3].weight` or `physics.c:gravity`.
    ///
    /// - Throws: ``VariableNameError`` if there is none, or several.
    package func part(named text: String) throws(VariableNameError) -> VariablePart {
        var named: (variables: [ProgramVariable], rest: Substring)?
        // The longest name that a variable has: those of Swift have dots too.
        let ends = text.indices.filter { text[$0] == "." || text[$0] == "[" } + [text.endIndex]
        for end in ends.reversed() {
            let variables = variables(named: text[..<end])
            if !variables.isEmpty {
                named = (variables, text[end...])
                break
            }
        }
        guard let named else {
            throw .unknown(text, nearest: variables.lazy.map(\.shownName).nearest(to: text))
        }
        guard named.variables.count == 1 else {
            throw .ambiguous(text, named.variables.map { $0.shownName + named.rest })
        }
        return try part(of: whole(of: named.variables[0]), named.rest, in: text)
    }

    private func part(
        of whole: VariablePart, _ path: Substring, in text: String
    ) throws(VariableNameError) -> VariablePart {
        var (part, rest) = (whole, path)
        while let mark = rest.first {
            rest = rest.dropFirst()
            if mark == ".", case .record(let members) = part.type.shape {
                let name = rest.prefix { $0 != "." && $0 != "[" }
                rest = rest[name.endIndex...]
                let members = types.members(of: members)
                guard let member = members.first(where: { $0.name == name }) else {
                    throw .noMember(part.name, String(name), members: members.map(\.name))
                }
                part = self.part(member, of: part)
            } else if mark == "[", case .array(let elements) = part.type.shape {
                var indices: [Int64] = []
                while indices.count < elements.dimensions.count {
                    guard let end = rest.firstIndex(of: "]"), let index = Int64(rest[..<end]) else {
                        throw .malformed(text)
                    }
                    indices.append(index)
                    rest = rest[rest.index(after: end)...]
                    guard indices.count < elements.dimensions.count else { break }
                    guard rest.popFirst() == "[" else { throw .indices(part.name, part.type.name) }
                }
                part = try element(of: part, elements, indices)
            } else {
                throw .noParts(part.name, part.type.name)
            }
        }
        return part
    }

    private func element(
        of part: VariablePart, _ elements: VariableType.Elements, _ indices: [Int64]
    ) throws(VariableNameError) -> VariablePart {
        for (index, dimension) in zip(indices, elements.dimensions) {
            guard dimension?.offset(of: index) != nil else {
                throw .index(part.name, index, part.type.name)
            }
        }
        guard part.type.size != nil, let size = types.type(elements.entry, elements.language).size,
            let position = elements.position(of: indices)
        else { throw .index(part.name, indices.last ?? 0, part.type.name) }
        return element(
            of: part, elements, named: indices.map { "[\($0)]" }.joined(), offset: position &* size)
    }

    private func variables(named text: Substring) -> [ProgramVariable] {
        let exact = variables.filter { $0.shownName == text }
        if !exact.isEmpty { return exact }
        guard let name = VariableName(text) else { return [] }
        let whole = variables.filter { name.isWhole($0) }
        return whole.isEmpty ? variables.filter { name.isEnd(of: $0) } : whole
    }

    // MARK: - Writing

    /// The address of a part, before relocation; or the reason why it cannot be set.
    package func place(of part: VariablePart) -> VariablePlace {
        if let reason = obstacle(of: part) { return .none(reason) }
        guard case .address(let start) = part.variable.location, let size = part.type.size else {
            return .none("")
        }
        return .address(start &+ part.offset, size: Int(clamping: size))
    }

    private func obstacle(of part: VariablePart) -> String? {
        if let obstacle = part.variable.location.obstacle { return obstacle }
        guard case .address(let start) = part.variable.location else { return "" }
        switch part.type.shape {
        case .value, .text: break
        case .record(let members) where types.members(of: members).isEmpty:
            return "its members are not in the debug information; adopt a number, a bool or a C enumeration"
        case .record: return "it is a structure; name a member"
        case .array(let elements) where elements.dimensions.contains(where: { $0?.count == 0 }):
            return "it has no elements"
        case .array(let elements) where elements.dimensions.contains(nil):
            return "the debug information lacks the number of its elements"
        case .array: return "it is an array; name an element"
        case .other(let reason): return reason
        }
        if part.isBitField { return "it is a bit field: setting it would race with its neighbours" }
        guard let size = part.type.size, size > 0,
            case let (first, overflows) = start.addingReportingOverflow(part.offset), !overflows,
            case let (last, overflows) = first.addingReportingOverflow(size), !overflows
        else { return "its size is unknown" }
        guard part.isInside else { return "according to the debug information, it lies outside its variable" }
        if let end = file.end(ofObjectAt: start), last > end || part.spread > end - last {
            return "according to the symbol table, it lies outside its variable"
        }
        guard
            file.segments.contains(where: {
                $0.isLoaded && $0.address <= first && last <= $0.address &+ $0.memorySize
            })
        else { return "it is not in the program: the linker has removed it" }
        return nil
    }

    /// The reason why a part that can be read cannot be written, or `nil`.
    package func obstacleToWriting(_ part: VariablePart) -> String? {
        guard case .address(let address, let size) = place(of: part) else { return nil }
        if part.isConst || part.type.isConst {
            return
                "it is const, and the compiler may have used its value; remove const, or declare it as a tweak"
        }
        if case .text = part.type.shape {
            return "a text can only be watched: a new one would need memory in the program"
        }
        let addresses = address..<address + UInt64(size)
        guard file.segments.canBeWritten(addresses, pageSize: ImageSegment.leastPageSize) else {
            return "it is in read-only memory: nothing writes it; make it volatile, or declare it as a tweak"
        }
        return nil
    }

    /// The initial value in the file; `nil` if it is not there.
    package func initialValue(of part: VariablePart) -> TweakValue? {
        guard case .value(let type, _) = part.type.shape, case .address(let address, _) = place(of: part),
            let bytes = file.bytes(at: address, count: type.byteCount)
        else { return nil }
        return bytes.span.bytes.value(at: 0, type, .native)
    }
}

/// A global or static variable.
package struct ProgramVariable: Sendable {
    /// The name with its scopes, such as `game::Physics::gravity`.
    package let name: String
    /// The name, with a source file in front if others have the same.
    package let shownName: String
    /// The path of the source file of its unit.
    package let unit: String
    /// Whether code that uses it may be optimized.
    package let isOptimized: Bool
    package let location: VariableLocation
    let language: SourceLanguage?
    nonisolated(unsafe) let entry: DebugEntry

    init(_ found: VariableScan.Found, shownName: String) {
        self.shownName = shownName
        (name, unit, isOptimized) = (found.name, found.unit, found.isOptimized)
        (location, language, entry) = (found.location, found.language, found.entry)
    }

    /// The place of the declaration, such as `physics.c:12`.
    package var declaredAt: String? {
        guard let file = entry.file ?? (unit.isEmpty ? nil : unit) else { return nil }
        return entry.line.map { "\(file):\($0)" } ?? file
    }
}

/// A variable, a member of one, or an element of one.
package struct VariablePart {
    package let name: String
    package let variable: ProgramVariable
    package let type: VariableType
    /// Its offset from the variable's address.
    let offset: UInt64
    /// Whether the enclosing variable is const or volatile.
    let isConst, isVolatile: Bool
    /// Whether it is a bit field, or a part of one.
    let isBitField: Bool
    /// Whether the types around it are known to contain all of it.
    let isInside: Bool
    /// For a part that stands for those of all elements of arrays, the distance from the first to the last.
    var spread: UInt64

    /// The name without the source file.
    package var plainName: String { variable.name + name.dropFirst(variable.shownName.count) }

    /// Whether it, or a variable around it, is volatile.
    package var isVolatileWhole: Bool { isVolatile || type.isVolatile }

    /// Whether each read in the source is a read in the machine code.
    package var isAlwaysRead: Bool { isVolatileWhole || !variable.isOptimized }
}

/// The place of a variable in a file.
package enum VariablePlace: Hashable, Sendable {
    case address(UInt64, size: Int)
    /// There is no usable one. The text is the reason and the remedy.
    case none(String)
}
