package import ArgumentParser

/// How files are signed, for `tweak sign` and for the program that it becomes.
package struct SignOptions: ParsableArguments, Sendable {
    @Option(
        help: ArgumentHelp("Make a key in this new file, and print its public key.", valueName: "file"),
        completion: .file())
    package var newKey: String?

    @Option(help: ArgumentHelp("Sign with the key in this file.", valueName: "file"), completion: .file())
    package var key: String?

    @Option(
        help: ArgumentHelp(
            "Sign nothing, and see that the signature of each file was made with the key that belongs to this one.",
            valueName: "public key"))
    package var check: String?

    @Argument(
        help: "What is signed. The signature goes into a file beside it, with .sig behind the name.",
        completion: .file())
    package var files: [String] = []

    /// Makes options without values.
    package init() {}

    package func validate() throws {
        guard [newKey, key, check].count(where: { $0 != nil }) == 1 else {
            throw ValidationError("One of --new-key, --key and --check is needed.")
        }
        guard newKey == nil || files.isEmpty else {
            throw ValidationError("A new key signs nothing yet; --key FILE does.")
        }
        guard newKey != nil || !files.isEmpty else { throw ValidationError("There is no file.") }
    }
}
