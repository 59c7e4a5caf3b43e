/// Why a file of values could not be read.
public struct ProviderFileError: Error, Hashable, CustomStringConvertible {
    /// Which file, and why.
    public let description: String
}

/// The content of a file that a provider needs, of at most 16 MiB.
func providerFile(_ path: String) throws(ProviderFileError) -> [UInt8] {
    let content: [UInt8]?
    do throws(OverridesError) { content = try OverridesFile(path: path).read() } catch {
        throw ProviderFileError(description: "\(error)")
    }
    guard let content else {
        throw ProviderFileError(description: "cannot read \(path): there is no such file")
    }
    return content
}
