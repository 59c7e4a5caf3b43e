#if Remote
internal import AsyncHTTPClient
internal import Synchronization

/// A client that is made when something is asked. One that was made and not shut down brings the process down in a build for
/// debugging, so who asks nothing, like a source that is never run, must not have one.
final class OpenedClient: Sendable {
    private let configuration: HTTPClient.Configuration
    private let client = Mutex<HTTPClient?>(nil)

    init(_ configuration: HTTPClient.Configuration) { self.configuration = configuration }

    /// A task that is late may have opened it once more after the end.
    deinit { client.withLock { $0 }?.shutdown { _ in } }

    /// The client, until ``end()``.
    var current: HTTPClient {
        client.withLock { client in
            let current =
                client ?? HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration)
            client = current
            return current
        }
    }

    /// Closes what is open.
    func end() async {
        let last = client.withLock { client in
            defer { client = nil }
            return client
        }
        try? await last?.shutdown()
    }
}
#endif
