/// A file `config.json` of JustTweak's generator: `{ "accessorName": "GeneratedTweakAccessor" }`.
public struct AccessorConfiguration: Hashable, Sendable {
    /// What the generated accessor is called.
    public let accessorName: String

    /// Reads a file.
    ///
    /// - Throws: ``FormatError`` if it is none.
    public init(json: [UInt8], path: String) throws(FormatError) {
        let json = try PlacedJSON(json, path: path)
        guard let name = try json.members("an object").first(where: { $0.name == "accessorName" }) else {
            throw json.invalid("\"accessorName\" is missing, a text")
        }
        accessorName = try name.value.text
    }
}
