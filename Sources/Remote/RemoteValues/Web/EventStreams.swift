// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import AsyncHTTPClient
internal import FoundationEssentials
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization
internal import TweakJSON
internal import TweakRecords

/// Listens to the event streams of an OFREP service, which announce that flags need evaluation. Nothing else in the
/// events is used.
///
/// A URL may contain a secret, so it never appears in messages.
package final class EventStreams: Sendable {
    private let application: WebSettings
    private let fetcher: HTTPFetcher
    private let state = Mutex(State())

    private struct State {
        var listeners: [String: Task<Void, Never>] = [:]
        /// Whether an event has arrived, and its query.
        var isRung = false
        var query = ""
        var isFailureSaid = false
    }

    /// A stream that is silent for this long, even without comments, is considered dead.
    static let patience: Duration = .seconds(120)
    /// The maximum bytes per minute.
    private static let most = 1 << 20
    /// The minimum duration of a working stream.
    private static let shortestStream: Duration = .seconds(20)
    /// The minimum interval of evaluations during a burst of events.
    private static let shortestPause: Duration = .seconds(1)

    init(_ application: WebSettings, _ fetcher: HTTPFetcher) {
        (self.application, self.fetcher) = (application, fetcher)
    }

    /// Listens to exactly these URLs.
    ///
    /// - Parameter updates: Receives messages about failures.
    func follow(_ addresses: [String], _ updates: RemoteUpdates) {
        state.withLock { state in
            for (address, listener) in state.listeners where !addresses.contains(address) {
                listener.cancel()
                state.listeners[address] = nil
            }
            for address in addresses where state.listeners[address] == nil {
                state.listeners[address] = Task { await listen(address, updates) }
            }
        }
    }

    /// Stops listening.
    func end() async {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.cancel() }
        for listener in listeners { await listener.value }
    }

    /// The query string for the service that the last event requires.
    func query() -> String {
        state.withLock { state in
            defer { (state.query, state.isRung) = ("", false) }
            return state.query
        }
    }

    // MARK: - Events

    /// The time of the next evaluation if an event has arrived: after the minimum interval.
    func due(after start: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        state.withLock { $0.isRung } ? start + Self.shortestPause : nil
    }

    private func ring(_ updates: RemoteUpdates, _ query: String = "") {
        state.withLock { ($0.isRung, $0.query) = (true, query) }
        updates.wake()
    }

    // MARK: - Listening

    private func listen(_ address: String, _ updates: RemoteUpdates) async {
        var schedule = CheckSchedule(interval: Self.shortestPause)
        while !Task.isCancelled {
            let pause: Duration
            let start = ContinuousClock.now
            var problem: FetchProblem?
            do { try await read(address, updates) } catch { problem = FetchProblem(error) }
            if Task.isCancelled { return }
            // Servers and proxies end streams after a while, or when they are silent; reconnecting is quick.
            if .now - start >= Self.shortestStream {
                pause = schedule.succeeded()
            } else {
                pause = schedule.failed(retryAfter: problem?.retryAfter)
                let reason = problem?.message ?? "it ended at once"
                say("the event stream: \(reason); changes take effect at the next check", updates)
            }
            try? await Task.sleep(for: pause)
        }
    }

    /// Reports once that the streams fail, or work again.
    private func say(_ message: String, isFailure: Bool = true, _ updates: RemoteUpdates) {
        let wasSaid = state.withLock { state in
            defer { state.isFailureSaid = isFailure }
            return state.isFailureSaid
        }
        if wasSaid != isFailure { updates.say(message) }
    }

    /// Reads a stream until it ends.
    private func read(_ address: String, _ updates: RemoteUpdates) async throws {
        let (url, isOwn) = try target(address)
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "user-agent", value: "tweak-agent")
        request.headers.add(name: "accept", value: "text/event-stream")
        request.headers.add(name: "accept-encoding", value: "identity")
        if isOwn { try fetcher.authorize(&request) }
        let response = try await fetcher.client.execute(request)
        guard response.status == .ok else {
            throw FetchProblem(
                message: "HTTP status \(response.status.code)",
                retryAfter: response.headers.first(name: "retry-after").flatMap(HTTPFetcher.pause))
        }
        let type = response.headers.first(name: "content-type") ?? ""
        guard type.lowercased().hasPrefix("text/event-stream") else {
            throw FetchProblem(message: "it is \(type.prefix(80)); text/event-stream is expected")
        }
        // Earlier events were missed.
        ring(updates)
        var parser = EventStreamParser()
        let begin = ContinuousClock.now
        var (count, start) = (0, begin)
        for try await part in response.body {
            if .now - begin >= Self.shortestStream {
                say("the event stream works again", isFailure: false, updates)
            }
            if .now - start > .seconds(60) { (count, start) = (0, .now) }
            count += part.readableBytes
            guard count <= Self.most else {
                throw FetchProblem(message: "more than \(Self.most) bytes came in a minute")
            }
            let messages: [[UInt8]]
            do throws(EventStreamParser.TooLong) { messages = try parser.take(part.readableBytesView) } catch
            {
                throw FetchProblem(message: "an event has more than \(EventStreamParser.longest) bytes")
            }
            for message in messages {
                if let query = Self.query(of: message) { ring(updates, query) }
            }
        }
    }

    /// The absolute URL, and whether its server may get the token.
    private func target(_ address: String) throws -> (String, isOwn: Bool) {
        guard let base = URL(string: application.url.text),
            let url = URL(string: address, relativeTo: base)?.absoluteString,
            let scheme = url.split(separator: ":").first?.lowercased(), ["https", "http"].contains(scheme)
        else { throw FetchProblem(message: "its URL is not that of a web server") }
        guard scheme == "https" || application.plainHTTP else {
            throw FetchProblem(message: "its address does not use TLS")
        }
        return (url, fetcher.isOwn(url))
    }

    /// The query string for the state that an event announces.
    ///
    /// - Returns: `nil` unless the event requests an evaluation.
    static func query(of message: [UInt8]) -> String? {
        guard case .object(let event)? = try? JSONParser.value(of: message),
            event["type"] == .scalar(.string("refetchEvaluation"))
        else { return nil }
        var items: [String] = []
        for (member, name) in [("etag", "flagConfigEtag"), ("lastModified", "flagConfigLastModified")] {
            let text: String
            switch event[member] {
            case .scalar(.string(let string))?: text = string
            case .scalar(.integer(let number))?: text = "\(number)"
            default: continue
            }
            guard text.utf8.count <= 256 else { continue }
            items.append(name + "=" + text.percentEncoded)
        }
        return items.isEmpty ? "" : "?" + items.joined(separator: "&")
    }
}
#endif
