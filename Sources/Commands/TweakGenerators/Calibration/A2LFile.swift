// SPDX-License-Identifier: BSD-3-Clause
package import TweakFormats
package import TweakRecords
internal import TweakSystem

/// A file in the format A2L, from which calibration tools know the values in a program: tweaks are characteristics,
/// monitors are measurements.
///
/// Source: ASAM MCD-2 MC 1.7.1.
package struct A2LFile {
    /// A tweak or monitor, and where it is.
    package struct Cell {
        let declaration: TweakDeclaration
        let address: UInt64?

        /// - Parameter address: The address of its value, to which a process adds the load bias; `nil` if the image does
        ///   not contain the value.
        package init(_ declaration: TweakDeclaration, address: UInt64?) {
            (self.declaration, self.address) = (declaration, address)
        }
    }

    /// A place that the file describes: of a tweak, or of a monitor.
    package struct Object {
        package let declaration: TweakDeclaration
        /// The number of the image, which is the extension of the address.
        package let image: Int
        /// The address in the image.
        package let address: UInt32
    }

    private var modules: [(name: String, lines: [String])] = []
    private var names = A2LNames()
    /// All places that the file describes. Several can be of one tweak.
    package private(set) var objects: [Object] = []

    /// Creates a file without images.
    package init() {}

    /// Adds a module with the tweaks and monitors of an image. Its number, from 0, is the extension of its addresses.
    ///
    /// If a tweak has several cells, the others are characteristics that depend on the first one, so that tools change
    /// all of them. A monitor is its first cell.
    ///
    /// - Parameters:
    ///   - path: The path of the image, whose last component names the module.
    ///   - buildID: The build id, which tools compare with that of the program.
    ///   - cells: The tweaks and monitors in the order of their records.
    /// - Returns: What A2L cannot describe, with the reasons.
    /// - Throws: ``FormatError/malformed(path:reason:)`` if two tweaks, groups or images would have the same name.
    package mutating func addModule(
        path: String, buildID: String?, byteOrder: ByteOrder, _ cells: [Cell]
    ) throws(FormatError) -> [(tweak: TweakDeclaration, reason: String)] {
        let file = lastComponent(of: path)
        let name = try names.add([file], of: path, in: path)
        var module = A2LModule(path: path, number: modules.count)
        try module.add(cells)
        var lines = ["/begin MODULE \(name) \(a2lText(file))"]
        if let buildID { lines.append("  /begin MOD_PAR \"\" EPK \(a2lText(buildID)) /end MOD_PAR") }
        let order = byteOrder == .little ? "MSB_LAST" : "MSB_FIRST"
        lines.append("  /begin MOD_COMMON \"\" BYTE_ORDER \(order) /end MOD_COMMON")
        modules.append((name, lines + module.lines.map { "  " + $0 } + ["/end MODULE"]))
        objects += module.places
        return module.leftOut
    }

    /// The text of the file. It starts with a byte order mark unless it is ASCII, because tools read other files as
    /// ISO 8859-1.
    package var text: String {
        // A project has at least one module.
        let modules = modules.isEmpty ? [("tweaks", ["/begin MODULE tweaks \"\"", "/end MODULE"])] : modules
        let lines = modules.flatMap(\.1).map { "  " + $0 }
        let text =
            (["ASAP2_VERSION 1 71", "/begin PROJECT \(modules[0].0) \"\""] + lines + ["/end PROJECT", ""])
            .joined(separator: "\n")
        return (text.utf8.allSatisfy { $0 < 0x80 } ? "" : "\u{FEFF}") + text
    }
}

/// The content of a module.
private struct A2LModule {
    private let path: String
    private let number: Int
    private(set) var leftOut: [(tweak: TweakDeclaration, reason: String)] = []
    private(set) var places: [A2LFile.Object] = []
    private var names = A2LNames()
    private var groupNames = A2LNames()
    private var layouts: Set<TweakType> = []
    private var tables: [String: [(number: String, text: String)]] = [:]
    private var objects: [String] = []
    /// Sorted by their names.
    private var categories: [(name: String, title: String, collections: [Collection])] = []

    private struct Collection {
        let name, title: String
        var characteristics: [String] = []
        var measurements: [String] = []
    }

    init(path: String, number: Int) { (self.path, self.number) = (path, number) }

    mutating func add(_ cells: [A2LFile.Cell]) throws(FormatError) {
        var cells = cells
        cells.sortAsWritten(\.declaration.attributeList)
        let cellsByKey = Dictionary(grouping: cells, by: \.declaration.key)
        for (_, cells) in cellsByKey.sorted(by: { $0.key < $1.key }) {
            guard let first = cells.first, let address = address(of: first) else { continue }
            try add(first.declaration, address, others: cells.dropFirst())
        }
    }

    /// The address of a tweak that A2L can describe. Others are left out.
    private mutating func address(of cell: A2LFile.Cell) -> UInt32? {
        let tweak = cell.declaration
        let reason: String
        if tweak.type.a2lName == nil {
            reason = "A2L has no type for \(tweak.type.withArticle)"
        } else if tweak.key.parts.contains(where: { A2LNames.identifier($0).utf8.count > A2LNames.mostBytes })
        {
            reason = "a part of its name has more than the \(A2LNames.mostBytes) characters that A2L allows"
        } else if let choice = tweak.choices.first(where: { $0.value.a2lNumber == nil }) {
            reason = "A2L has no exact number for its choice \(choice.value)"
        } else if let address = cell.address {
            if let address = UInt32(exactly: address) { return address }
            reason = "its address 0x\(String(address, radix: 16)) has more than the 32 bits that A2L allows"
        } else {
            reason = "its variable is not in the file"
        }
        leftOut.append((tweak, reason))
        return nil
    }

    private mutating func add(
        _ tweak: TweakDeclaration, _ address: UInt32, others: ArraySlice<A2LFile.Cell>
    ) throws(FormatError) {
        let name = try names.add(tweak.key.parts, of: "\(tweak.key)", in: path)
        let method = addMethod(of: tweak, name)
        places.append(A2LFile.Object(declaration: tweak, image: number, address: address))
        guard !tweak.isMonitor else {
            objects.append(tweak.measurement(name, address, method, options(of: tweak)))
            return try changeGroup(of: tweak.key) { $0.measurements.append(name) }
        }
        layouts.insert(tweak.type)
        objects.append(tweak.characteristic(name, address, method, options(of: tweak)))
        var all = [name]
        for other in tweak.isFixed ? [] : others {
            guard tweak.agrees(with: other.declaration) else {
                leftOut.append((other.declaration, "the first declaration differs"))
                continue
            }
            guard let address = self.address(of: other) else { continue }
            // Names of tweaks have three parts.
            let copy = "\(name).cell\(all.count + 1)"
            let dependence = "/begin DEPENDENT_CHARACTERISTIC \"X1\" \(name) /end DEPENDENT_CHARACTERISTIC"
            objects.append(tweak.characteristic(copy, address, method, options(of: tweak) + [dependence]))
            places.append(A2LFile.Object(declaration: tweak, image: number, address: address))
            all.append(copy)
        }
        try changeGroup(of: tweak.key) { $0.characteristics += all }
    }

    /// The optional parts of a characteristic or measurement.
    private func options(of tweak: TweakDeclaration) -> [String] {
        var options: [String] = []
        if let unit = tweak.unit { options.append("PHYS_UNIT \(a2lText(unit))") }
        if let precision = tweak.precision { options.append("FORMAT \"%.\(precision)\"") }
        if number > 0 { options.append("ECU_ADDRESS_EXTENSION \(number)") }
        return options
    }

    /// Adds the table with the texts for the values of a tweak, if it has any.
    ///
    /// - Returns: The name of the conversion.
    private mutating func addMethod(of tweak: TweakDeclaration, _ name: String) -> String {
        let texts = tweak.a2lTexts
        guard !texts.isEmpty else { return "NO_COMPU_METHOD" }
        let name = tweak.choices.isEmpty ? (tweak.isOptional ? "OptionalBool" : "Bool") : name
        tables[name] = texts
        return name
    }

    private mutating func changeGroup(
        of key: TweakKey, _ change: (inout Collection) -> Void
    ) throws(FormatError) {
        let title = "\(TweakKey.escape(key.category))/\(TweakKey.escape(key.collection))"
        let category = try groupNames.add([key.category], of: TweakKey.escape(key.category), in: path)
        let collection = try groupNames.add([key.category, key.collection], of: title, in: path)
        if categories.last?.name != category { categories.append((category, key.category, [])) }
        let last = categories.count - 1
        if categories[last].collections.last?.name != collection {
            categories[last].collections.append(Collection(name: collection, title: key.collection))
        }
        change(&categories[last].collections[categories[last].collections.count - 1])
    }

    /// The lines of the module.
    var lines: [String] {
        var lines = layouts.sorted { $0.rawValue < $1.rawValue }.compactMap(\.a2lName).map {
            "/begin RECORD_LAYOUT \(layoutName($0)) FNC_VALUES 1 \($0) ROW_DIR DIRECT /end RECORD_LAYOUT"
        }
        for (name, texts) in tables.sorted(by: { $0.key < $1.key }) {
            lines.append(
                "/begin COMPU_METHOD \(name) \"\" TAB_VERB \"%.0\" \"\" COMPU_TAB_REF \(name) /end COMPU_METHOD"
            )
            let pairs = texts.map { " \($0.number) \(a2lText($0.text))" }.joined()
            lines.append("/begin COMPU_VTAB \(name) \"\" TAB_VERB \(texts.count)\(pairs) /end COMPU_VTAB")
        }
        lines += objects
        for (name, title, collections) in categories {
            lines += ["/begin GROUP \(name) \(a2lText(title)) ROOT"]
            lines += list("SUB_GROUP", collections.map(\.name)) + ["/end GROUP"]
            for collection in collections {
                lines += ["/begin GROUP \(collection.name) \(a2lText(collection.title))"]
                lines += list("REF_CHARACTERISTIC", collection.characteristics)
                lines += list("REF_MEASUREMENT", collection.measurements) + ["/end GROUP"]
            }
        }
        return lines
    }

    private func list(_ kind: String, _ names: [String]) -> [String] {
        names.isEmpty ? [] : ["  /begin \(kind)"] + names.map { "    " + $0 } + ["  /end \(kind)"]
    }
}

/// The names of one kind of object. Characters that A2L does not allow are replaced, which can make two names equal.
private struct A2LNames {
    /// The bytes of a part of a name, at most.
    static let mostBytes = 128

    private var origins: [String: String] = [:]

    /// Makes a name of parts, which points separate.
    ///
    /// - Parameters:
    ///   - origin: The object that has the name.
    ///   - path: The path of the image.
    /// - Throws: ``FormatError/malformed(path:reason:)`` if another object has it.
    mutating func add(
        _ parts: [String], of origin: String, in path: String
    ) throws(FormatError) -> String {
        let name = parts.map(Self.identifier).joined(separator: ".")
        let other = origins[name] ?? origin
        guard other.utf8.elementsEqual(origin.utf8) else {
            throw .malformed(
                path: path, reason: "\(other) and \(origin) would both be \(name) in A2L; rename one")
        }
        origins[name] = origin
        return name
    }

    /// The text with letters, digits and `_` only, not starting with a digit. An index such as `[2]` may end it.
    static func identifier(_ text: String) -> String {
        let bytes = Array(text.utf8)
        var end = bytes.count
        if bytes.last == UInt8(ascii: "]"), let start = bytes.lastIndex(of: UInt8(ascii: "[")), start > 0,
            start + 2 < bytes.count, bytes[(start + 1)...].dropLast().allSatisfy(isDigit)
        {
            end = start
        }
        var name = bytes.first.map(isDigit) == false && end > 0 ? "" : "_"
        for scalar in String(decoding: bytes[..<end], as: UTF8.self).unicodeScalars {
            switch scalar {
            case "a"..."z", "A"..."Z", "0"..."9", "_": name.unicodeScalars.append(scalar)
            default: name += "_"
            }
        }
        return name + String(decoding: bytes[end...], as: UTF8.self)
    }

    private static func isDigit(_ byte: UInt8) -> Bool {
        UInt8(ascii: "0")...UInt8(ascii: "9") ~= byte
    }
}
