// SPDX-License-Identifier: BSD-3-Clause
package import TweakFormats
internal import TweakRecords

/// A structure with a property for each variable of JustTweak, and constants for the names.
package struct JustTweakAccessor: Sendable {
    private struct Property: Sendable {
        let name: String
        let defaultValue: TweakValue
        let variable: JustTweakFile.Variable
    }

    private let name: String
    private let origin: Origin
    private let properties: [Property]
    private let features, variables: Constants

    /// Names of the accessor besides the properties.
    private static let reserved: Set<String> = ["Features", "Handles", "Variables", "tweaks"]

    /// Makes names for all variables.
    ///
    /// - Parameters:
    ///   - file: The variables. All have a title and a group.
    ///   - name: The name of the structure.
    /// - Throws: ``FormatError`` if a title, a group or a name for code is missing, duplicate or invalid.
    package init(_ file: JustTweakFile, name: String) throws(FormatError) {
        self.name = name
        origin = Origin(path: file.path)
        var variablesByName: [String: JustTweakFile.Variable] = [:]
        var properties: [Property] = []
        for variable in file.variables {
            func failure(_ reason: String) -> FormatError {
                .invalid(path: file.path, place: [variable.feature, variable.name], reason: reason)
            }
            guard variable.title != nil else { throw failure("\"Title\" is missing, a text") }
            guard variable.group != nil else { throw failure("\"Group\" is missing, a text") }
            let property = variable.propertyName ?? Identifier.lowerCamelCase(variable.name)
            guard Identifier.isValid(property), !Self.reserved.contains(property) else {
                throw failure(
                    "\"\(property)\" cannot be a property; give it another \"GeneratedPropertyName\", of letters, "
                        + "digits and _")
            }
            if let other = variablesByName.updateValue(variable, forKey: property) {
                throw failure(
                    "its property would be \(property), and that of \(other.feature).\(other.name) too; give one "
                        + "another \"GeneratedPropertyName\"")
            }
            guard SwiftTweaks.Handle.type(of: variable.value) != nil else {
                throw failure("\(variable.value) is not a value of Bool, Int, Double or String")
            }
            properties.append(
                Property(name: property, defaultValue: Self.defaultValue(of: variable), variable: variable))
        }
        self.properties = properties
        features = try Constants("Features", file.variables.map { ($0.feature, [$0.feature]) }, file.path)
        variables = try Constants(
            "Variables", file.variables.map { ($0.name, [$0.feature, $0.name]) }, file.path)
    }

    /// Encrypted values have an empty default, because nobody should see the one in the file.
    private static func defaultValue(of variable: JustTweakFile.Variable) -> TweakValue {
        guard variable.isEncrypted else { return variable.value }
        return switch variable.value {
        case .bool: false
        case .integer: 0
        case .double: 0.0
        default: ""
        }
    }

    /// The accessor and its constants, each in a file.
    package var files: [GeneratedFile] {
        let tweaks = SwiftTweaks(handles: properties.map(handle))
        var accessor = [
            "// \(origin.notice)", "import Tweaks", "", "nonisolated struct \(name): Sendable {",
            "    let tweaks: Handles", "",
            "    /// Finds the tweaks in a store, and makes those that it does not have.",
            "    init(_ store: TweakStore = .shared) { tweaks = Handles(store) }",
        ]
        for (property, handle) in zip(properties, tweaks.handles) {
            accessor += [""] + declaration(of: property, handle.typeName)
        }
        accessor += [""] + tweaks.declaration + ["}"] + tweaks.records
        var constants = ["// \(origin.notice)", "nonisolated extension \(name) {"]
        constants += features.declaration + [""] + variables.declaration + ["}"]
        return [
            GeneratedFile(name: "\(name).swift", lines: accessor),
            GeneratedFile(name: "\(name)+Constants.swift", lines: constants),
        ]
    }

    private static func texts(of variable: JustTweakFile.Variable) -> [String] {
        [variable.title, variable.description].compactMap { $0 }.filter { !$0.isEmpty }
    }

    private func handle(of property: Property) -> SwiftTweaks.Handle {
        let variable = property.variable
        let names = [
            swiftLiteral(variable.key.category), features.name(of: variable.feature),
            variables.name(of: variable.name),
        ]
        return SwiftTweaks.Handle(
            name: property.name, title: variable.title, description: variable.description,
            group: variable.group, key: variable.key,
            keySource: "TweakKey(\(names.joined(separator: ", ")))", defaultValue: property.defaultValue)
    }

    private func declaration(of property: Property, _ type: String) -> [String] {
        let name = Identifier.swift(property.name)
        return swiftComment(
            Self.texts(of: property.variable).joined(separator: "\n\n"), indentation: "    ") + [
                "    var \(name): \(type) {",
                "        get { tweaks.\(name).value }",
                "        nonmutating set { tweaks.\(name).value = newValue }",
                "    }",
            ]
    }
}

/// An enumeration with a constant for each name.
private struct Constants: Sendable {
    private let title: String
    private var constantsByName: [String: String] = [:]

    init(_ title: String, _ names: [(name: String, place: [String])], _ path: String) throws(FormatError) {
        self.title = title
        var namesByConstant: [String: String] = [:]
        for (name, place) in names where constantsByName[name] == nil {
            let constant = Identifier.lowerCamelCase(name)
            guard !constant.isEmpty else {
                throw .invalid(
                    path: path, place: place,
                    reason: "it has no letter or digit, so it cannot be a name in code")
            }
            if let other = namesByConstant.updateValue(name, forKey: constant) {
                throw .invalid(
                    path: path, place: place,
                    reason:
                        "its constant would be \(title).\(constant), and that of \"\(other)\" too; rename one"
                )
            }
            constantsByName[name] = constant
        }
    }

    /// The source code of a name.
    func name(of name: String) -> String {
        constantsByName[name].map { "\(title).\(Identifier.swift($0))" } ?? swiftLiteral(name)
    }

    var declaration: [String] {
        ["    enum \(title) {"]
            + constantsByName.sorted { $0.value < $1.value }.map {
                "        static let \(Identifier.swift($0.value)) = \(swiftLiteral($0.key))"
            } + ["    }"]
    }
}
