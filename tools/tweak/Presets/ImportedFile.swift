import CommandSupport
import TweakClient
import TweakFormats
import TweakOverrides
import TweakProtocol
import TweakRecords

/// A file with values for tweaks, of this system or of an older one.
struct ImportedFile {
    private let bytes: [UInt8]
    private let path: String

    /// - Parameter path: Of the file, or `-` for standard input.
    init(_ path: String) throws(Failure) {
        let isStandardInput = path == "-"
        bytes = try readInput(isStandardInput ? nil : path)
        self.path = isStandardInput ? "standard input" : path
    }

    /// The values, and what in the file of an older system is none for a tweak of the program.
    func values(
        for program: any Program
    ) throws(Failure) -> (OverridesDocument, leftOut: [ImportedOverrides.Problem]) {
        guard ImportedOverrides.recognizes(bytes) else {
            return (try failing { try OverridesDocument(importing: bytes, path: path) }, [])
        }
        let known = try program.tweaks().map(\.declaration.key)
        let imported = try failing { try ImportedOverrides(bytes, path: path, known: known) }
        var values = OverridesDocument()
        for override in imported.overrides { values.set(override.value, for: override.key) }
        return (values, imported.problems)
    }
}
