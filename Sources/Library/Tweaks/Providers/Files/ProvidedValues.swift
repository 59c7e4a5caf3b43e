internal import CTweaks
internal import Glibc
internal import TweakOverrides
internal import TweakRecords

/// Values from afar, in files that an agent on this host writes and that need not be there. `ProvidedFile` has the format.
final class ProvidedValues: FileProvider {
    /// One of the files, with what was in it when it could last be read.
    private struct Known {
        let path: String
        var content = Content()
        /// Whether it could not be read the last time.
        var isBroken = false
    }

    private struct Content: Equatable {
        var values: [TweakKey: ProvidedValue] = [:]
        /// When an agent got them, and why there is nothing newer.
        var loaded: String?
        var problem: String?
    }

    private struct State {
        var known: [Known]
        /// Those of all files.
        var values: [TweakKey: ProvidedValue] = [:]
        var report: (@Sendable (TweakProviderChange) -> Void)?
    }

    let source: TweakSource
    let files: [String]
    private let isGuarded: Bool
    private let state: Guarded<State>

    /// Makes a provider that has read nothing.
    ///
    /// - Parameters:
    ///   - source: What the values are labelled with.
    ///   - files: Where they may be. A value that several have is that of the first.
    ///   - isGuarded: Whether a file that others could write is not believed.
    init(_ source: TweakSource, in files: [String], isGuarded: Bool = false) {
        self.source = source
        self.files = files
        self.isGuarded = isGuarded
        state = Guarded(State(known: files.map { Known(path: $0) }))
    }

    /// Reads the files again. What was in one that cannot be read stays as it is.
    func reload() throws {
        var failure: OverridesError?
        var isNew = false
        var problem: String?
        // With the lock held, so that what is read last is there in the end.
        let report = state.withLock { state in
            state.values = [:]
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
                let values = state.known[index].content.values
                if state.values.isEmpty {
                    state.values = values
                } else {
                    state.values.merge(values) { first, _ in first }
                }
            }
            return state.report
        }
        report?(isNew && problem == nil ? .loaded : .everything)
        if let problem { report?(.failed(problem)) }
        if let failure { throw failure }
    }

    private func read(_ path: String) throws(OverridesError) -> Content {
        let file = KeptFile(path: path)
        if isGuarded { try file.checkWriters() }
        guard let json = try file.read() else { return Content() }
        let read = try ProvidedFile(json: json, path: path)
        return Content(values: read.values.provided, loaded: read.loaded, problem: read.problem)
    }

    var keys: Set<TweakKey> { Set(tweaks.values.keys) }

    func value(for key: TweakKey) -> ProvidedValue? { state.withLock { $0.values[key] } }

    var tweaks: ReadTweaks { ReadTweaks(values: state.withLock { $0.values }) }

    func onChange(_ report: (@Sendable (TweakProviderChange) -> Void)?) {
        state.withLock { $0.report = report }
    }
}

extension TweakStore {
    /// Takes the values that agents on this host have for an application, and follows them.
    ///
    /// A process with more rights than its user believes only those of the system's agent. It only gets a thread for them if
    /// that has something for the application.
    func takeProvided(for application: String) {
        let isPrivileged = fbtweak__is_privileged()
        let folders = ProvidedFolders.all(isPrivileged: isPrivileged).map { "\($0)/\(application)/" }
        if isPrivileged, !folders.contains(where: { access($0, F_OK) == 0 }) { return }
        for source in [TweakSource.remote, .fleet] {
            let provider = ProvidedValues(
                source, in: folders.map { "\($0)\(source.name).json" }, isGuarded: true)
            do {
                do { try provider.reload() } catch { diagnostics.warn("\(source): \(error)") }
                try add(provider, above: nil)
            } catch {
                diagnostics.warn("\(error)")
            }
        }
    }
}
