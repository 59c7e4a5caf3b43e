// SPDX-License-Identifier: BSD-3-Clause
internal import TweakFormats
public import TweakRecords
internal import TweakSystem

/// A provider of features' variables in files, in the format of JustTweak:
///
///     { "search": { "limit": { "Title": "Limit", "Value": 20 } } }
///
///     try store.add(VariablesProvider(files: ["tweaks-local.json", "tweaks.json"]), above: nil)
///
/// Every variable is a tweak, `Features/feature/variable`, whether a binary declares it or not. A store with
/// this provider follows the files.
public final class VariablesProvider: FileProvider {
    /// A closure that decrypts the value of a variable. It gets the variable's declaration from the file,
    /// with the encrypted value as the default.
    public typealias Decryption = @Sendable (TweakDeclaration) throws(ProviderFailure) -> TweakValue

    /// The provider's name: the given one, or the first file's.
    public let source: TweakSource
    let files: [String]
    private let decrypting: Guarded<Decrypting>
    private let variables: ReadFiles<Variables>

    /// The decryption closure, in a structure because each access to a closure stored directly in a generic
    /// type would wrap it once more.
    private struct Decrypting: Sendable {
        var closure: Decryption?
    }

    private struct Variables: Sendable {
        var values: [TweakKey: ProvidedValue] = [:]
        var encrypted: [TweakKey: TweakValue] = [:]
        /// The variables that have more than a value.
        var described: [TweakKey: JustTweakFile.Variable] = [:]

        mutating func add(_ variable: JustTweakFile.Variable) {
            let key = variable.key
            values[key] = variable.isEncrypted ? nil : .value(variable.value)
            if variable.isEncrypted || !encrypted.isEmpty {
                encrypted[key] = variable.isEncrypted ? variable.value : nil
            }
            if !variable.texts.isEmpty || !described.isEmpty {
                described[key] = variable.texts.isEmpty ? nil : variable
            }
        }

        func declaration(of key: TweakKey, _ value: TweakValue) -> TweakDeclaration {
            TweakDeclaration(variable: key, having: value, describedBy: described[key])
        }
    }

    /// Creates a provider and reads the files.
    ///
    /// - Parameters:
    ///   - files: The paths. If several have a variable, the first counts.
    ///   - name: The name of the provider.
    ///   - decryption: Called for variables that are `Encrypted`; without it they have no value.
    /// - Throws: ``ProviderFileError`` if a file cannot be read, ``FormatError`` if it is malformed.
    public init(files: [String], name: String? = nil, decryption: Decryption? = nil) throws(ProviderFailure) {
        source = TweakSource(name ?? files.first.map(lastComponent(of:)) ?? "variables")
        self.files = files
        decrypting = Guarded(Decrypting(closure: decryption))
        variables = try ReadFiles { () throws(ProviderFailure) in try Self.read(files) }
    }

    /// The closure that decrypts variables that are `Encrypted`. Setting it updates their tweaks at once, or
    /// a moment later if another thread is applying a file change.
    public var decryption: Decryption? {
        get { decrypting.withLock { $0.closure } }
        set {
            // The former closure is the program's, and is released without the lock.
            let former = decrypting.withLock { decrypting in
                defer { decrypting.closure = newValue }
                return decrypting.closure
            }
            withExtendedLifetime(former) { variables.reportAll() }
        }
    }

    /// Reads the files again. If one of them cannot be read, nothing changes. Stores call this when one
    /// changes.
    ///
    /// - Throws: The errors of ``init(files:name:decryption:)``.
    public func reload() throws(ProviderFailure) { try variables.reload() }

    private static func read(_ paths: [String]) throws(ProviderFailure) -> Variables {
        var all = Variables()
        // The first file takes precedence, so it is read last.
        for path in paths.reversed() {
            let json = try providerFile(path)
            // Growing the dictionary would double the time. Each variable is an object of at least 16 bytes.
            let objects = json.reduce(0) { $0 &+ ($1 == UInt8(ascii: "{") ? 1 : 0) }
            all.values.reserveCapacity(all.values.count + min(objects, json.count / 16))
            do throws(FormatError) { try JustTweakFile.read(json, path: path) { all.add($0) } } catch {
                throw providerFailure(error)
            }
        }
        return all
    }

    /// The names of the variables' tweaks.
    public var keys: Set<TweakKey> {
        let variables = variables.content
        return Set(variables.values.keys).union(variables.encrypted.keys)
    }

    /// Returns the value of a variable.
    ///
    /// - Throws: ``TweakError/encrypted(_:)`` without a ``decryption`` for an encrypted variable, or what
    ///   that throws.
    public func value(for key: TweakKey) throws(ProviderFailure) -> ProvidedValue? {
        let variables = variables.content
        guard let encrypted = variables.encrypted[key] else { return variables.values[key] }
        return .value(try decrypt(variables.declaration(of: key, encrypted)))
    }

    private func decrypt(_ variable: TweakDeclaration) throws(ProviderFailure) -> TweakValue {
        guard let decryption else { throw providerFailure(TweakError.encrypted(variable.key)) }
        return try decryption(variable)
    }

    /// Returns the declaration of a variable: a tweak of the value's type, with title, description and group
    /// from the file.
    public func declaration(of key: TweakKey) -> TweakDeclaration? {
        guard case .value(let value)? = try? value(for: key) else { return nil }
        return variables.content.declaration(of: key, value)
    }

    var tweaks: ReadTweaks {
        let variables = variables.content
        var tweaks = ReadTweaks(values: variables.values)
        tweaks.secrets = Set(variables.encrypted.keys)
        for (key, value) in variables.encrypted {
            do { tweaks.values[key] = .value(try decrypt(variables.declaration(of: key, value))) } catch {
                tweaks.failures[key] = error
            }
        }
        tweaks.declaration = { [values = tweaks.values] key in
            guard case .value(let value)? = values[key] else { return nil }
            return variables.declaration(of: key, value)
        }
        return tweaks
    }

    /// Sets the handler to call after the files have been read again.
    public func onChange(_ report: (@Sendable (TweakProviderChange) -> Void)?) {
        variables.onChange(report)
    }
}
