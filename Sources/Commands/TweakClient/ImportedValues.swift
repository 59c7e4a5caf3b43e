package import CommandSupport
package import TweakFormats
package import TweakOverrides
package import TweakRecords

/// Reads values for tweaks from a file of this system or of an older one.
///
/// - Parameters:
///   - path: What the file is called in a message.
///   - known: The tweaks of the program, which are asked for if the file is of an older system.
/// - Returns: The values, and what in a file of an older system is none for a tweak of the program.
package func importedValues(
    _ bytes: [UInt8], path: String, known: () throws(Failure) -> [TweakKey]
) throws(Failure) -> (OverridesDocument, leftOut: [ImportedOverrides.Problem]) {
    guard ImportedOverrides.recognizes(bytes) else {
        return (try failing { try OverridesDocument(importing: bytes, path: path) }, [])
    }
    let known = try known()
    let imported = try failing { try ImportedOverrides(bytes, path: path, known: known) }
    var values = OverridesDocument()
    for override in imported.overrides { values.set(override.value, for: override.key) }
    return (values, imported.problems)
}
