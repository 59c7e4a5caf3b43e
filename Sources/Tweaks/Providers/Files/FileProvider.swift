internal import TweakRecords

/// A provider of this library that has its values from files. Its store has it read them again when they change.
protocol FileProvider: TweakProvider {
    var files: [String] { get }
    /// What it has read, so that the store need not ask for each tweak.
    var tweaks: ReadTweaks { get }

    /// Reads the files again. If that fails everything stays as it is.
    func reload() throws
}

/// What a provider has read.
struct ReadTweaks {
    var values: [TweakKey: ProvidedValue]
    /// Why there is no value, though there should be.
    var failures: [TweakKey: any Error] = [:]
    /// As ``TweakProvider/declaration(of:)``. It is called with the store's lock held and runs nobody else's code.
    var declaration: @Sendable (TweakKey) -> TweakDeclaration? = { _ in nil }
}
