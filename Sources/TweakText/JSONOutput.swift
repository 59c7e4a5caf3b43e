internal import FoundationEssentials

/// Prints a value as JSON for people and scripts: indented, with sorted keys.
///
/// - Throws: What the value's `encode(to:)` throws.
public func printJSON(_ value: some Encodable) throws {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
    print(String(decoding: try encoder.encode(value), as: UTF8.self))
}
