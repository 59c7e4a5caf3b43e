#if Remote
internal import AsyncHTTPClient
internal import FoundationEssentials
internal import NIOCore
internal import NIOHTTP1
internal import Synchronization
internal import TweakJSON
internal import TweakRecords

/// Listens where an OFREP service tells that flags are to be evaluated again. Events carry nothing else that is believed.
///
/// An address can have a secret in it, so nobody is told of it.
package final class EventStreams: Sendable {
    private let application: WebSettings
    private let fetcher: HTTPFetcher
    private let state = Mutex(State())

    private struct State {
        var listeners: [String: Task<Void, Never>] = [:]
        /// Whether something has happened, what it said of itself, and who sleeps until then.
        var isRung = false
        var query = ""
        var sleeper: Task<Void, any Error>?
        var isFailureSaid = false
    }

    /// A stream that says nothing for so long, not even a comment, may be a dead one.
    static let patience: Duration = .seconds(120)
    /// The most bytes in a minute.
    private static let most = 1 << 20
    /// One that ends earlier has not worked.
    private static let shortestStream: Duration = .seconds(20)
    /// Events that come one after the other have flags evaluated so often.
    private static let shortestPause: Duration = .seconds(1)

    init(_ application: WebSettings, _ fetcher: HTTPFetcher) {
        (self.application, self.fetcher) = (application, fetcher)
    }

    /// Listens at these addresses and no others.
    ///
    /// - Parameter updates: Where a failure is said.
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

    /// Ends listening.
    func end() async {
        let listeners = state.withLock { state in
            defer { state.listeners = [:] }
            return Array(state.listeners.values)
        }
        for listener in listeners { listener.cancel() }
        for listener in listeners { await listener.value }
    }

    /// What the service is told of the last event, as it asks in it.
    func query() -> String {
        state.withLock { state in
            defer { (state.query, state.isRung) = ("", false) }
            return state.query
        }
    }

    // MARK: - Waiting

    /// Waits until something happens, but not for longer than a time, nor for a shorter one than there is between two checks.
    func wait(for pause: Duration, after start: ContinuousClock.Instant) async {
        let sleeper = Task { try await Task.sleep(for: pause) }
        state.withLock { state in
            if state.isRung { sleeper.cancel() } else { state.sleeper = sleeper }
        }
        await withTaskCancellationHandler {
            _ = await sleeper.result
        } onCancel: {
            sleeper.cancel()
        }
        let isRung = state.withLock { state in
            state.sleeper = nil
            return state.isRung
        }
        if isRung { try? await Task.sleep(until: start + Self.shortestPause, clock: .continuous) }
    }

    private func ring(_ query: String = "") {
        state.withLock { state in
            (state.isRung, state.query) = (true, query)
            state.sleeper?.cancel()
        }
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
            // Servers and what is before them end a stream after a while, or one that says nothing, which is soon begun again.
            if .now - start >= Self.shortestStream {
                pause = schedule.succeeded()
            } else {
                pause = schedule.failed(retryAfter: problem?.retryAfter)
                let reason = problem?.message ?? "it ended at once"
                say("the stream of events: \(reason); what changes is seen at the next check", updates)
            }
            try? await Task.sleep(for: pause)
        }
    }

    /// Says once that the streams fail, or work again.
    private func say(_ message: String, isFailure: Bool = true, _ updates: RemoteUpdates) {
        let wasSaid = state.withLock { state in
            defer { state.isFailureSaid = isFailure }
            return state.isFailureSaid
        }
        if wasSaid != isFailure { updates.say(message) }
    }

    /// Reads a stream to its end.
    private func read(_ address: String, _ updates: RemoteUpdates) async throws {
        let (url, isOwn) = try target(address)
        var request = HTTPClientRequest(url: url)
        request.headers.add(name: "user-agent", value: "tweak-agent")
        request.headers.add(name: "accept", value: "text/event-stream")
        if isOwn, let token = try fetcher.token() {
            request.headers.add(name: "authorization", value: "Bearer \(token)")
        }
        let response = try await fetcher.client.execute(request, deadline: .distantFuture)
        guard response.status == .ok else {
            throw FetchProblem(
                message: "HTTP status \(response.status.code)",
                retryAfter: response.headers.first(name: "retry-after").flatMap(HTTPFetcher.pause))
        }
        let type = response.headers.first(name: "content-type") ?? ""
        guard type.lowercased().hasPrefix("text/event-stream") else {
            throw FetchProblem(message: "it is \(type.prefix(80)); text/event-stream is expected")
        }
        // What has happened before was not told here.
        ring()
        var parser = EventStreamParser()
        let begin = ContinuousClock.now
        var (count, start) = (0, begin)
        for try await part in response.body {
            if .now - begin >= Self.shortestStream {
                say("the stream of events is there again", isFailure: false, updates)
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
                if let query = Self.query(of: message) { ring(query) }
            }
        }
    }

    /// The address in full, and whether the token is for whoever is there.
    private func target(_ address: String) throws -> (String, isOwn: Bool) {
        guard let base = URL(string: application.url.text),
            let url = URL(string: address, relativeTo: base)?.absoluteString,
            let scheme = url.split(separator: ":").first?.lowercased(), ["https", "http"].contains(scheme)
        else { throw FetchProblem(message: "its address is not one of a web server") }
        guard scheme == "https" || application.plainHTTP else {
            throw FetchProblem(message: "its address is without TLS")
        }
        return (url, fetcher.isOwn(url))
    }

    /// What an event says of the state that it tells of.
    ///
    /// - Returns: `nil` if it does not say that flags are to be evaluated again.
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
