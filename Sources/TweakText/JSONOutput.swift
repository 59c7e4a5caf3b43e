internal import FoundationEssentials

/// Prints a value as JSON for people and scripts: indented, with sorted keys.
///
/// - Throws: What the value's `encode(to:)` throws.
public func printJSON(_ value: some Encodable) throws {
    try printJSON(value, .prettyPrinted)
}

/// Prints a value as one line of JSON, with sorted keys.
///
/// - Throws: What the value's `encode(to:)` throws.
public func printJSONLine(_ value: some Encodable) throws {
    try printJSON(value, [])
}

private func printJSON(_ value: some Encodable, _ formatting: JSONEncoder.OutputFormatting) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = formatting.union([.sortedKeys, .withoutEscapingSlashes])
    print(printableJSON(String(decoding: try encoder.encode(value), as: UTF8.self)))
}
