// SPDX-License-Identifier: BSD-3-Clause
internal import CommandSupport
internal import Glibc
internal import TweakFormats
internal import TweakJSON
internal import TweakOverrides
internal import TweakRecords
internal import TweakSystem

/// The providers of a program that is not running: agents on this host, and the files listed in a file beside the
/// program. Providers that the program adds in code are not known.
struct OfflineProviders {
    /// The contents of one file.
    struct Provided {
        let source: TweakSource
        let path: String
        var values = OverridesDocument()
        /// Tweaks that the file defines without a declaration in a binary, sorted by name.
        var declarations: [TweakDeclaration] = []
    }

    /// The providers above the overrides and below them, highest first.
    private(set) var above: [Provided] = []
    private(set) var below: [Provided] = []

    private var all: [Provided] { above + below }
    /// The values that agents have for the program.
    var fromAfar: [Provided] { all.filter { [.fleet, .remote].contains($0.source) } }

    /// - Parameters:
    ///   - path: The executable; `nil` if it is not known.
    ///   - application: The name under which agents have values for the program.
    ///   - warn: Called for each file that the program would not use.
    init(path: String?, application: String, _ warn: (Warning) -> Void) {
        let agents = Dictionary(grouping: Self.fromAfar(for: application, warn), by: \.source)
        var list: [(source: TweakSource, files: [Provided])] = []
        if let path {
            do { list = try Self.listed(besides: path) } catch { warn("\(error)") }
        }
        // The program completes its order in the same way.
        if !list.contains(where: { $0.source == .overrides }) { list.insert((.overrides, []), at: 0) }
        let start = list.firstIndex { $0.source == .overrides }.map { $0 + 1 } ?? 0
        for source in [TweakSource.fleet, .remote] where !list.contains(where: { $0.source == source }) {
            list.insert((source, []), at: start)
        }
        above = agents[.kill] ?? []
        for (place, entry) in list.enumerated() {
            let files = entry.files + (agents[entry.source] ?? [])
            if place < start { above += files } else { below += files }
        }
    }

    /// The declarations of the program and of its providers.
    func declarations(besides own: [TweakDeclaration]) -> [TweakDeclaration] {
        var provided: [TweakKey: TweakDeclaration] = [:]
        for declaration in all.flatMap(\.declarations) where provided[declaration.key] == nil {
            provided[declaration.key] = declaration
        }
        for file in all {
            file.values.forEach { key, value in
                guard provided[key] == nil, let value = value.tweakValue else { return }
                provided[key] = TweakDeclaration(feature: key, having: value)
            }
        }
        let own = own.map { $0.withTexts(of: provided.removeValue(forKey: $0.key)) }
        return own + provided.values.sorted { $0.key < $1.key }
    }

    /// The providers that introduce tweaks, if no binary declares these. One of the program's own comes before an agent's,
    /// which knows only names and values.
    var introducers: [TweakKey: TweakSource] {
        var introducers: [TweakKey: TweakSource] = [:]
        func add(_ key: TweakKey, _ source: TweakSource) {
            if introducers[key] == nil { introducers[key] = source }
        }
        for file in all { for declaration in file.declarations { add(declaration.key, file.source) } }
        for isOfAgents in [false, true] {
            for file in all where file.source.isOfAgents == isOfAgents {
                file.values.forEach { key, _ in add(key, file.source) }
            }
        }
        return introducers
    }

    // MARK: Files

    /// The values of agents, checked as the program checks them. Files that it would not trust are left out.
    private static func fromAfar(for application: String, _ warn: (Warning) -> Void) -> [Provided] {
        let folders = ProvidedFolders.all(isPrivileged: false)
        return [TweakSource.kill, .remote, .fleet].flatMap { source in
            folders.compactMap { folder in
                let path = "\(folder)/\(application)/\(ProvidedFile.name(for: source))"
                do throws(OverridesError) {
                    guard let json = try KeptFile(path: path).read() else { return nil }
                    try KeptFile(path: path).checkWriters()
                    return Provided(
                        source: source, path: path,
                        values: try ProvidedFile(json: json, path: path).values(of: source))
                } catch {
                    if source != .kill { warn("\(source): \(error)") }
                    return nil
                }
            }
        }
    }

    /// The providers listed in the file beside the program, with their contents, in order.
    private static func listed(
        besides program: String
    ) throws -> [(source: TweakSource, files: [Provided])] {
        let path = program + ".tweaks.json"
        guard access(path, F_OK) == 0 else { return [] }
        return try ProviderList(json: content(of: path), path: path).providers.map { provider in
            switch provider {
            case .builtIn(let name): return (TweakSource(name), [])
            case .variables(let name, let files):
                let source = TweakSource(name ?? files.first.map(lastComponent) ?? "variables")
                return (source, try files.map { try variables(in: $0, source) })
            case .features(let name, let file, let environment):
                var provided = Provided(source: TweakSource(name ?? lastComponent(of: file)), path: file)
                let features = try FeatureSet(file: content(of: file), path: file, environment: environment)
                for feature in features.all {
                    provided.values.set(.bool(feature.isEnabled), for: feature.key)
                }
                provided.declarations = features.all.map { TweakDeclaration($0) }
                return (provided.source, [provided])
            case .values(let name, let file):
                var provided = Provided(source: TweakSource(name ?? lastComponent(of: file)), path: file)
                if let json = try OverridesFile(path: file).read() {
                    provided.values = try ProvidedFile(json: json, path: file).values
                }
                return (provided.source, [provided])
            }
        }
    }

    private static func variables(in file: String, _ source: TweakSource) throws -> Provided {
        var provided = Provided(source: source, path: file)
        // Only the program can decrypt encrypted values.
        for variable in try JustTweakFile(json: content(of: file), path: file).variables
        where !variable.isEncrypted {
            provided.values.set(variable.value, for: variable.key)
            provided.declarations.append(
                TweakDeclaration(variable: variable.key, having: variable.value, describedBy: variable))
        }
        return provided
    }

    private static func content(of path: String) throws(OverridesError) -> [UInt8] {
        if let bytes = try OverridesFile(path: path).read() { return bytes }
        throw .system(action: "read", path: path, reason: "no such file")
    }
}
