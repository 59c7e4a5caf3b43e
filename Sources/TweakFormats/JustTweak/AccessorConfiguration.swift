/// A file `config.json` of JustTweak's generator: `{ "accessorName": "GeneratedTweakAccessor" }`.
public struct AccessorConfiguration: Hashable, Sendable {
    /// What the generated accessor is called.
    public let accessorName: String

    /// Reads a file.
    ///
    /// - Throws: ``FormatError`` if it is none.
    public init(json: [UInt8], path: String) throws(FormatError) {
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
