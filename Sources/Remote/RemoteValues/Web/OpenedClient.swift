// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import Synchronization

/// A client for web servers, reached directly or through the proxies of the environment.
///
/// Its connections are made for the first request. In debug builds a client of the library that is not shut down traps,
/// so an origin that never runs must not have one.
final class OpenedClient: Sendable {
    private let configuration: HTTPClient.Configuration
    private let proxies: Proxies
    private let clients = Mutex<[Proxies.Route: HTTPClient]>([:])

    init(_ configuration: HTTPClient.Configuration, _ proxies: Proxies) {
        (self.configuration, self.proxies) = (configuration, proxies)
    }

    /// A late task may have created another client after the end.
    deinit { for client in clients.withLock({ $0.values }) { client.shutdown { _ in } } }

    /// Sends a request, and returns the response, whose body is still to be read.
    ///
    /// - Throws: ``FetchProblem`` if a proxy fails, or the error of the library.
    func execute(_ request: HTTPClientRequest) async throws -> HTTPClientResponse {
        let route = try proxies.route(to: request.url)
        var sent = request
        if case .forwarded(let proxy) = route {
            let server = RemoteURL.server(of: request.url)
            let authority = RemoteURL.authority(of: request.url)
            sent.url = "http://\(proxy.authority)\(request.url.dropFirst(server.count))"
            sent.headers.replaceOrAdd(name: "host", value: authority)
            if let credentials = proxy.credentials {
                sent.headers.replaceOrAdd(name: "proxy-authorization", value: "Basic \(credentials)")
            }
        }
        do {
            let response = try await client(route).execute(sent, deadline: .distantFuture)
            if response.status == .proxyAuthenticationRequired, route.proxy != nil {
                throw HTTPClientError.proxyAuthenticationRequired
            }
            return response
        } catch {
            throw route.proxy.flatMap { FetchProblem(error, of: $0) } ?? error
        }
    }

    /// The client for a route, until ``end()``.
    private func client(_ route: Proxies.Route) -> HTTPClient {
        clients.withLock { clients in
            let client =
                clients[route]
                ?? HTTPClient(eventLoopGroupProvider: .singleton, configuration: configuration(route))
            clients[route] = client
            return client
        }
    }

    private func configuration(_ route: Proxies.Route) -> HTTPClient.Configuration {
        var configuration = configuration
        switch route {
        case .direct: break
        case .tunnelled(let proxy):
            configuration.proxy = .server(
                host: proxy.host, port: proxy.port,
                authorization: proxy.credentials.map { .basic(credentials: $0) })
        case .forwarded:
            configuration.http1_1ConnectionDebugInitializer = { channel in
                channel.eventLoop.makeCompletedFuture {
                    let pipeline = channel.pipeline.syncOperations
                    let encoder = try pipeline.handler(type: HTTPRequestEncoder.self)
                    try pipeline.addHandler(AbsoluteTargets(), position: .after(encoder))
                }
            }
        }
        return configuration
    }

    /// Closes all connections.
    func end() async {
        let last = clients.withLock { clients in
            defer { clients = [:] }
            return Array(clients.values)
        }
        for client in last { try? await client.shutdown() }
    }
}

/// Sends absolute URLs as the targets of requests, as a forwarding proxy expects them: RFC 9112, section 3.2.2. The
/// library itself only knows tunnels, which proxies often limit to port 443.
private final class AbsoluteTargets: ChannelOutboundHandler {
    typealias OutboundIn = HTTPClientRequestPart
    typealias OutboundOut = HTTPClientRequestPart

    func write(context: ChannelHandlerContext, data: NIOAny, promise: EventLoopPromise<Void>?) {
        var part = unwrapOutboundIn(data)
        if case .head(var head) = part, let host = head.headers.first(name: "host") {
            head.uri = "http://\(host)\(head.uri)"
            part = .head(head)
        }
        context.write(wrapOutboundOut(part), promise: promise)
    }
}

extension FetchProblem {
    /// The failure of a proxy; `nil` if the error may be one of the server.
    fileprivate init?(_ error: any Error, of proxy: Proxies.Proxy) {
        let reason: String
        switch error as? HTTPClientError {
        case .proxyAuthenticationRequired:
            reason = "it requires a user and a password, or refuses those given"
        case .invalidProxyResponse: reason = "it does not connect to the server"
        case .connectTimeout, .httpProxyHandshakeTimeout: reason = "no connection in time"
        default:
            // Only the proxy's name is looked up, and only its address connected to.
            guard error is NIOConnectionError || error is IOError else { return nil }
            reason = FetchProblem(error).message
        }
        self.init(message: "the proxy \(proxy.authority): \(reason)")
    }
}
#endif
