internal import TweakFormats
public import TweakRecords

/// Variables of features in files, in the format of JustTweak:
///
///     { "search": { "limit": { "Title": "Limit", "Value": 20 } } }
///
///     try store.add(VariablesProvider(files: ["tweaks-local.json", "tweaks.json"]), above: nil)
///
/// Every variable is a tweak, `Features/feature/variable`, whether a binary declares it or not. A store
/// that has the provider follows the files.
public final class VariablesProvider: FileProvider {
    /// Makes the value of a variable that is encrypted one for the program.
    public typealias Decryption = @Sendable (TweakValue) throws -> TweakValue

    /// `file`, or another name.
    public let source: TweakSource
    let files: [String]
    private let decryption: Decryption?
    private let variables: ReadFiles<[TweakKey: JustTweakFile.Variable]>

    /// Reads the files.
    ///
    /// - Parameters:
    ///   - files: Their paths. A variable that several have is that of the first.
    ///   - name: What the values are labelled with.
    ///   - decryption: Called with the values of variables that are `Encrypted`; those have none without it.
    /// - Throws: ``ProviderFileError`` if a file cannot be read, `FormatError` if it is none of the format.
    public init(files: [String], name: String = "file", decryption: Decryption? = nil) throws {
        source = TweakSource(name)
        self.files = files
        self.decryption = decryption
        variables = try ReadFiles { try Self.read(files) }
    }

    /// Reads the files again. If one of them cannot be read, everything stays as it is. Stores do it when one changes.
    ///
    /// - Throws: As ``init(files:name:decryption:)``.
    public func reload() throws { try variables.reload() }

    private static func read(_ files: [String]) throws -> [TweakKey: JustTweakFile.Variable] {
        var all: [TweakKey: JustTweakFile.Variable] = [:]
        for file in files {
            let variables = try JustTweakFile(json: providerFile(file), path: file).variables
            all.reserveCapacity(variables.count)
            all.merge(variables.lazy.map { ($0.key, $0) }) { first, _ in first }
        }
        return all
    }

    /// The variables.
    public var keys: Set<TweakKey> { Set(variables.content.keys) }

    /// The value of a variable.
    ///
    /// - Throws: ``FeatureError/decryptionClosureNotProvided(_:)``, or what the closure throws.
    public func value(for key: TweakKey) throws -> ProvidedValue? {
        try variables.content[key].map { .value(try value(of: $0)) }
    }

    private func value(of variable: JustTweakFile.Variable) throws -> TweakValue {
        guard variable.isEncrypted else { return variable.value }
        guard let decryption else { throw FeatureError.decryptionClosureNotProvided(variable.key) }
        return try decryption(variable.value)
    }

    /// A tweak of the type that the value has, with the file's description.
    public func declaration(of key: TweakKey) -> TweakDeclaration? {
        guard let variable = variables.content[key], let value = try? value(of: variable) else { return nil }
        return TweakDeclaration(variable, value)
    }

    var tweaks: ReadTweaks {
        let variables = variables.content
        var values = variables.mapValues { ProvidedValue.value($0.value) }
        var failures: [TweakKey: any Error] = [:]
        for (key, variable) in variables where variable.isEncrypted {
            do {
                values[key] = .value(try value(of: variable))
            } catch {
                values[key] = nil
                failures[key] = error
            }
        }
        return ReadTweaks(values: values, failures: failures) { [values] key in
            guard let variable = variables[key], case .value(let value)? = values[key] else { return nil }
            return TweakDeclaration(variable, value)
        }
    }

    /// Takes what is called when the files have been read again.
    public func onChange(_ report: (@Sendable (TweakProviderChange) -> Void)?) {
        variables.onChange(report)
    }
}

extension TweakDeclaration {
    fileprivate init(_ variable: JustTweakFile.Variable, _ value: TweakValue) {
        let text = [variable.title, variable.details].compactMap(\.self).joined(separator: ": ")
        self.init(
            key: variable.key, type: value.naturalType, defaultValue: value,
            attributes: text.isEmpty ? [] : [.init(key: "doc", value: text)])
    }
}
