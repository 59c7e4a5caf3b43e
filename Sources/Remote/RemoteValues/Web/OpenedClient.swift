// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import AsyncHTTPClient
internal import Synchronization

/// A client that is created for the first request. In debug builds a client that is not shut down traps, so an origin
/// that never runs must not have one.
final class OpenedClient: Sendable {
    private let configuration: HTTPClient.Configuration
    private let client = Mutex<HTTPClient?>(nil)

    init(_ configuration: HTTPClient.Configuration) { self.configuration = configuration }

    /// A late task may have created another client after the end.
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

    /// Closes all connections.
    func end() async {
        let last = client.withLock { client in
            defer { client = nil }
            return client
        }
        try? await last?.shutdown()
    }
}
#endif
