// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import TweakClient
import TweakFormats
import TweakOverrides
import TweakProtocol
import TweakRecords

/// A file with values for tweaks, of this library or of an older one.
struct ImportedFile {
    private let bytes: [UInt8]
    private let path: String

    /// - Parameter path: The path of the file, or `-` for standard input.
    init(_ path: String) throws(Failure) {
        let isStandardInput = path == "-"
        bytes = try readInput(isStandardInput ? nil : path)
        self.path = isStandardInput ? "standard input" : path
    }

    /// The values, and the entries of an older library's file that match no tweak of the program.
    func values(
        for program: any Program
    ) throws(Failure) -> (OverridesDocument, leftOut: [ImportedOverrides.Problem]) {
        try importedValues(bytes, path: path) { () throws(Failure) in
            try program.tweaks().map(\.declaration.key)
        }
    }
}
