// SPDX-License-Identifier: BSD-3-Clause
internal import TweakJSON
package import TweakRecords

/// A file of JustTweak: variables by feature.
///
///     { "general": { "greeting": { "Title": "Greeting", "Group": "General", "Value": "hello" } } }
///
/// A variable has a `Value`, which is a Bool, a number or text, and may have the texts `Title`, `Description`, `Group`
/// and `GeneratedPropertyName`, and the flag `Encrypted`.
package struct JustTweakFile: Hashable, Sendable {
    /// A variable of a feature.
    package struct Variable: Hashable, Sendable {
        /// A Bool, a string, an integer or, if written with a point or an exponent, a floating-point number.
        package let value: TweakValue
        /// The feature's name.
        package let feature: String
        /// Its own name.
        package let name: String
        /// Whether the program must decrypt the value.
        package let isEncrypted: Bool
        /// The other members. Usually there are none, which takes no memory. They may be read before `main`, see
        /// ``StableHashable``.
        package let texts: [ByteText: String]

        /// The name that people see.
        package var title: String? { texts["Title"] }
        /// A description for people.
        package var description: String? { texts["Description"] }
        /// The heading under which people see it.
        package var group: String? { texts["Group"] }
        /// The name of the property in a generated accessor; `nil` to derive it from the name.
        package var propertyName: String? { texts["GeneratedPropertyName"] }

        /// The variable's tweak, see ``PlacedFeature``.
        package var key: TweakKey { TweakKey(PlacedFeature.category, feature, name) }
    }

    /// The file's path.
    package let path: String
    /// The variables, sorted by feature, then by name.
    package let variables: [Variable]

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - json: The bytes, with at most 100 nested objects.
    ///   - path: The path for error messages.
    /// - Throws: ``FormatError`` if the file is malformed.
    package init(json: [UInt8], path: String) throws(FormatError) {
        self.path = path
        var variables: [Variable] = []
        try Self.read(json, path: path) { variables.append($0) }
        variables.sort { $0.key < $1.key }
        self.variables = variables
    }

    /// Reads a file, and calls `body` with each variable in the order of the file. Variables before an error remain
    /// reported.
    package static func read(
        _ json: [UInt8], path: String, _ body: (Variable) -> Void
    ) throws(FormatError) {
        try PlacedParser.read(json, path: path) { (file) throws(FormatError) in
            try file.members("an object of features") { (file, _) throws(FormatError) in
                let feature = try file.name
                try file.members("a feature, an object of variables") { (file, _) throws(FormatError) in
                    body(try variable(&file, of: feature))
                }
            }
        }
    }

    private static func variable(
        _ file: inout PlacedParser, of feature: String
    ) throws(FormatError) -> Variable {
        let name = try file.name
        var value: TweakValue?
        var texts: [ByteText: String] = [:]
        var isEncrypted = false
        try file.members("a variable, an object") { (file, member) throws(FormatError) in
            switch member {
            case "Value": value = try scalar(&file)
            case "Encrypted": isEncrypted = try file.flag()
            case "Title", "Description", "Group", "GeneratedPropertyName":
                texts[ByteText(member)] = try file.text()
            default: _ = try file.value()
            }
        }
        guard let value else { throw file.invalid("\"Value\" is missing: true, false, a number or text") }
        return Variable(value: value, feature: feature, name: name, isEncrypted: isEncrypted, texts: texts)
    }

    private static func scalar(_ file: inout PlacedParser) throws(FormatError) -> TweakValue {
        let value = try file.value()
        guard case .scalar(let scalar) = value else {
            throw file.unexpected(value, "true, false, a number or text")
        }
        if case .string(let text) = scalar { try file.checkText(text) }
        return scalar
    }
}

/// A file `config.json` of JustTweak's generator: `{ "accessorName": "GeneratedTweakAccessor" }`.
package struct AccessorConfiguration: Hashable, Sendable {
    /// The name of the generated accessor.
    package let accessorName: String

    /// Reads a file.
    ///
    /// - Throws: ``FormatError`` if the file is malformed.
    package init(json: [UInt8], path: String) throws(FormatError) {
        accessorName = try PlacedParser.read(json, path: path) { (file) throws(FormatError) in
            var accessorName: String?
            try file.members("an object") { (file, name) throws(FormatError) in
                if name == "accessorName" { accessorName = try file.text() } else { _ = try file.value() }
            }
            guard let accessorName else { throw file.invalid("\"accessorName\" is missing, a text") }
            return accessorName
        }
    }
}
