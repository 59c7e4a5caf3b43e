// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
internal import TweakFormats
internal import TweakRecords
internal import TweakSystem

extension TweakStore {
    /// Uses the providers listed in a file, in that order.
    ///
    ///     { "providers": [ "environment", "override", { "name": "local", "variables": ["local.json"] },
    ///                      { "name": "features", "features": "features.json", "environment": "beta" } ] }
    ///
    /// `session`, `environment` and `override` belong to every store; those that are left out come first, in
    /// their current order. The shared store also has `remote` and `fleet`, which come after `override` if
    /// they are left out. A provider `{ "name": "fetched", "values": "values.json" }` reads values in the
    /// format of these two. Paths are relative to the directory of the file. At the start of the process, the
    /// shared store does this with the file beside the executable that has the executable's name and the
    /// ending `.tweaks.json`.
    ///
    /// - Parameter path: The file.
    /// - Throws: ``ProviderFileError`` if a file cannot be read, ``FormatError`` if one is malformed,
    ///   ``TweakError/order(_:)`` if the list is not a valid order. Nothing has changed then.
    public func useProviders(listedIn path: String) throws(ProviderFailure) {
        let file: ProviderList
        let json = try providerFile(path)
        do throws(FormatError) { file = try ProviderList(json: json, path: path) } catch {
            throw providerFailure(error)
        }
        var order: [TweakSource] = []
        var providers: [any FileProvider] = []
        for provider in file.providers {
            switch provider {
            case .builtIn(let name):
                order.append(TweakSource(name))
                continue
            case .variables(let name, let files):
                providers.append(try VariablesProvider(files: files, name: name))
            case .features(let name, let file, let environment):
                providers.append(try FeaturesProvider(file: file, environment: environment, name: name))
            case .values(let name, let file):
                let provider = ProvidedValues(TweakSource(name ?? lastComponent(of: file)), in: [file])
                try provider.reload()
                providers.append(provider)
            }
            if let provider = providers.last { order.append(provider.source) }
        }
        let known = sources
        let added = providers.map { $0.source }
        let names = known + added
        let listsEachOnce = [order, names].allSatisfy { sources in
            sources.indices.allSatisfy { !sources[..<$0].contains(sources[$0]) }
        }
        guard listsEachOnce, order.allSatisfy(names.contains) else {
            let list = names.map { $0.name }.joined(separator: ", ")
            throw providerFailure(
                TweakError.order("\(path): each provider can be listed once; there are \(list)"))
        }
        let own = [TweakSource.remote, .fleet]
        let first = known.filter { !order.contains($0) && !own.contains($0) }
        do throws(TweakError) {
            try setOrder(first + order.filter(known.contains))
            for provider in providers {
                let below = order.drop { $0 != provider.source }
                try add(files: provider, above: below.first(where: known.contains))
            }
        } catch {
            throw providerFailure(error)
        }
    }

    /// Uses the providers listed in the file beside the executable, if there is one.
    func useProvidersBesideProgram(_ executable: String) {
        let path = executable + ".tweaks.json"
        guard access(path, F_OK) == 0 else { return }
        do { try useProviders(listedIn: path) } catch { diagnostics.warn("\(error)") }
    }
}
