// SPDX-License-Identifier: BSD-3-Clause
package import CommandSupport
package import TweakFormats
package import TweakOverrides
package import TweakRecords

/// Reads values for tweaks from a file of this library or of an older one.
///
/// - Parameters:
///   - path: The name of the file in messages.
///   - known: Returns the tweaks of the program; called only for a file of an older library.
/// - Returns: The values, and the entries of an older library's file that match no tweak of the program.
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
