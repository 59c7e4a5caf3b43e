// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import Synchronization
internal import TweakOverrides
internal import TweakRecords
internal import TweakSystem
internal import TweakTargeting

/// A file on a web server, or the flags that an OFREP service evaluates for this host.
final class WebOrigin: RemoteOrigin {
    private struct Known {
        /// The last accepted file.
        var fetched: FetchedFile?
        var document: RemoteDocument?
        /// The start of the last read.
        var start = ContinuousClock.now
        /// The time of the next one, unless an event arrives.
        var next = ContinuousClock.now
    }

    private let settings: WebSettings
    private let resources: SharedResources
    private let fetcher: HTTPFetcher
    private let streams: EventStreams
    private let known = Mutex(Known())

    init(_ settings: WebSettings, _ resources: SharedResources) throws(FetchProblem) {
        (self.settings, self.resources) = (settings, resources)
        fetcher = try HTTPFetcher(settings, resources)
        streams = EventStreams(settings, fetcher)
    }

    var schedule: CheckSchedule { CheckSchedule(interval: settings.interval) }

    func read(_ updates: RemoteUpdates) async throws(FetchProblem) {
        let fetched = known.withLock { known in
            known.start = .now
            return known.fetched
        }
        let facts = resources.facts(settings.name, settings.version)
        let new = try await fetcher.load(known: fetched, facts: facts, query: streams.query())
        try updates.update { (state) throws(FetchProblem) in try take(new, facts, &state) }
    }

    /// Waits for the next read, or an event of the service.
    func wait(
        _ schedule: inout CheckSchedule, _ updates: RemoteUpdates
    ) async -> ContinuousClock.Instant {
        let pause = schedule.succeeded()
        let addresses = known.withLock { known in
            known.next = .now + pause
            return known.document?.flags?.streams ?? []
        }
        streams.follow(addresses, updates)
        return next
    }

    func check(
        _ schedule: inout CheckSchedule, _ updates: RemoteUpdates
    ) async -> ContinuousClock.Instant? { next > .now ? next : nil }

    /// The time of the next read.
    private var next: ContinuousClock.Instant {
        known.withLock { streams.due(after: $0.start) ?? $0.next }
    }

    func end() async { await streams.end() }

    /// Applies the result of a check.
    ///
    /// - Parameters:
    ///   - new: The loaded file; `nil` if it has not changed.
    ///   - facts: The current facts about this host: after an upgrade other features may be on.
    private func take(
        _ new: FetchedFile?, _ facts: HostFacts, _ state: inout RemoteState
    ) throws(FetchProblem) {
        let before = known.withLock { $0.document }
        let document = try new.map { (new) throws(FetchProblem) in try believe(new.bytes, state) } ?? before
        guard let document else { throw FetchProblem(message: "the server says that nothing has changed") }
        if let new {
            known.withLock { ($0.fetched, $0.document) = (new, document) }
            if document.problems != before?.problems ?? [] { state.messages += document.problems }
        }
        var file = document.provided(for: facts)
        (file.from, file.loaded) = (settings.url.shown, state.file.loaded)
        state.file = file
        state.succeed(isNew: document != before)
    }

    private func believe(_ bytes: [UInt8], _ state: RemoteState) throws(FetchProblem) -> RemoteDocument {
        let path = lastComponent(of: settings.url.shown)
        let document: RemoteDocument
        do {
            if let names = settings.evaluation?.names {
                document = RemoteDocument(try EvaluatedFlags(json: bytes, path: path, names: names))
            } else {
                document = try RemoteDocument(json: bytes, path: path)
            }
        } catch {
            throw FetchProblem(message: "\(error)")
        }
        // Another server has versions of its own.
        let isSameServer = state.file.from?.hasSameBytes(as: settings.url.shown) ?? true
        let known = isSameServer ? state.file.version : nil
        guard let lowest = [known, settings.lowestVersion].compactMap(\.self).max() else { return document }
        guard let version = document.version else {
            throw FetchProblem(message: "it has no version, and \(lowest) or more is expected")
        }
        guard version >= lowest else {
            throw FetchProblem(message: "its version is \(version), and \(lowest) or more is expected")
        }
        return document
    }
}
#endif
