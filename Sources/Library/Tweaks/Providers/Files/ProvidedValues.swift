// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
internal import Glibc
internal import TweakOverrides
internal import TweakRecords

/// Remote values, in files that an agent on this host writes and that may be missing. `ProvidedFile` defines the
/// format.
final class ProvidedValues: FileProvider {
    /// A file, and its content when it was last read successfully.
    private struct Known {
        let path: String
        var content = Content()
        /// Whether the last attempt to read it failed.
        var isBroken = false
    }

    private struct Content: Equatable {
        var values: [TweakKey: ProvidedValue] = [:]
        var kills: [TweakKey: ProvidedValue] = [:]
        /// When an agent loaded the values, and why there are no newer ones.
        var loaded: String?
        var problem: String?
    }

    private struct State {
        var known: [Known]
        /// The values of all files.
        var values: [TweakKey: ProvidedValue] = [:]
        var kills: [TweakKey: ProvidedValue] = [:]
        var report: (@Sendable (TweakProviderChange) -> Void)?
        var reportKills: (@Sendable () -> Void)?
    }

    let source: TweakSource
    let files: [String]
    private let isGuarded: Bool
    private let state: Guarded<State>

    /// Makes a provider that has read nothing yet.
    ///
    /// - Parameters:
    ///   - source: The provider's name.
    ///   - files: The paths of the files, which may be missing. If several have a value, the first counts.
    ///   - isGuarded: Whether files that other users can write are ignored.
    init(_ source: TweakSource, in files: [String], isGuarded: Bool = false) {
        self.source = source
        self.files = files
        self.isGuarded = isGuarded
        state = Guarded(State(known: files.map { Known(path: $0) }))
    }

    /// Reads the files again. The values of a file that cannot be read stay as they are.
    func reload() throws(ProviderFailure) {
        var failure: OverridesError?
        var isNew = false
        var problem: String?
        // With the lock held, so that the last content read wins.
        let (report, reportKills) = state.withLock { state in
            let formerKills = state.kills
            (state.values, state.kills) = ([:], [:])
            for index in state.known.indices {
                let known = state.known[index]
                do throws(OverridesError) {
                    let content = try read(known.path)
                    if content != known.content || known.isBroken {
                        isNew = true
                        problem = problem ?? content.problem
                    }
                    state.known[index].content = content
                    state.known[index].isBroken = false
                } catch {
                    state.known[index].isBroken = true
                    failure = failure ?? error
                }
                let content = state.known[index].content
                state.values.addMissing(content.values)
                state.kills.addMissing(content.kills)
            }
            return (state.report, state.kills == formerKills ? nil : state.reportKills)
        }
        // First what is above the others.
        reportKills?()
        report?(isNew && problem == nil ? .loaded : .everything)
        if let problem { report?(.failed(problem)) }
        if let failure { throw providerFailure(failure) }
    }

    private func read(_ path: String) throws(OverridesError) -> Content {
        let file = KeptFile(path: path)
        if isGuarded { try file.checkWriters() }
        guard let json = try file.read() else { return Content() }
        let read = try ProvidedFile(json: json, path: path)
        return Content(
            values: read.values.provided, kills: read.kills.provided, loaded: read.loaded,
            problem: read.problem)
    }

    var keys: Set<TweakKey> { Set(tweaks.values.keys) }

    func value(for key: TweakKey) -> ProvidedValue? { state.withLock { $0.values[key] } }

    var tweaks: ReadTweaks { ReadTweaks(values: state.withLock { $0.values }) }

    func onChange(_ report: (@Sendable (TweakProviderChange) -> Void)?) {
        state.withLock { $0.report = report }
    }

    /// The values that stand above all others but those of a session.
    fileprivate var kills: [TweakKey: ProvidedValue] { state.withLock { $0.kills } }

    /// Calls a closure when ``kills`` are others.
    fileprivate func onKills(_ report: @escaping @Sendable () -> Void) {
        state.withLock { $0.reportKills = report }
    }
}

/// The kills in the files of the fleet. A store has this provider once there are any: each process with tweaks starts
/// with the providers of files, and nearly none has kills.
private final class ProvidedKills: FileProvider {
    let source = TweakSource.kill
    /// The fleet's, which are read and followed there.
    let files: [String] = []
    var origins: [String] { fleet.files }
    private let fleet: ProvidedValues

    init(of fleet: ProvidedValues) { self.fleet = fleet }

    func reload() {}
    var keys: Set<TweakKey> { Set(fleet.kills.keys) }
    func value(for key: TweakKey) -> ProvidedValue? { fleet.kills[key] }
    var tweaks: ReadTweaks { ReadTweaks(values: fleet.kills) }
    func onChange(_ report: (@Sendable (TweakProviderChange) -> Void)?) {}
}

extension TweakStore {
    /// Adds the values that agents on this host have for an application, and follows them.
    ///
    /// A process with more rights than its user trusts only the system's agent. It has a thread for this only if that
    /// agent has values for the application.
    func takeProvided(for application: String) {
        let isPrivileged = fbtweak__is_privileged()
        let folders = ProvidedFolders.all(isPrivileged: isPrivileged).map { "\($0)/\(application)/" }
        if isPrivileged, !folders.contains(where: { access($0, F_OK) == 0 }) { return }
        for source in [TweakSource.remote, .fleet] {
            let files = folders.map { "\($0)\(source.name).json" }
            let provider = ProvidedValues(source, in: files, isGuarded: true)
            do {
                do { try provider.reload() } catch { diagnostics.warn("\(source): \(error)") }
                try take(provider)
            } catch {
                diagnostics.warn("\(error)")
            }
        }
    }

    /// Adds remote values as the last provider, and their kills as one once there are any.
    func take(_ provided: ProvidedValues) throws(TweakError) {
        try add(files: provided, above: nil)
        guard provided.source == .fleet else { return }
        provided.onKills { [store = WeakReference(self), provided = WeakReference(provided)] in
            if let provided = provided.object { store.object?.takeKills(of: provided) }
        }
        takeKills(of: provided)
    }

    private func takeKills(of fleet: ProvidedValues) {
        if let feed = state.withLock({ $0.layers.feed(of: .kill) }) { return feed.report(.everything) }
        guard !fleet.kills.isEmpty else { return }
        do { try add(files: ProvidedKills(of: fleet), above: nil) } catch { diagnostics.warn("\(error)") }
    }
}
