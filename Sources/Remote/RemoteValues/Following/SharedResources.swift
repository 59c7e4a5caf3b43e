// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTPCompression
internal import NIOSSL
internal import Synchronization
internal import TweakOverrides
internal import TweakTargeting

/// The resources shared by the followers of all applications: HTTP clients with their trusted certificates, request
/// queues, and the facts about this host.
package final class SharedResources: Sendable {
    /// The settings that distinguish clients.
    private struct Settings: Hashable {
        let certificates: String?
        let connect: Duration
        let read: Duration?
        let idle: Duration
        let decompressed: Int?
    }

    /// The number of applications with values in etcd.
    let etcdApplications: Int
    let timetable: Timetable
    let turns: RequestTurns
    private let proxies: Proxies
    private let clients = Mutex<[Settings: Result<OpenedClient, FetchProblem>]>([:])
    private let clusters = Mutex<[EtcdCluster: EtcdClient]>([:])
    private let host = Mutex<(facts: HostFacts, read: ContinuousClock.Instant)?>(nil)

    /// The time for which the facts about a host are cached, so that thousands of applications do not read the same
    /// files.
    private static let freshness: Duration = .seconds(1)

    /// - Parameters:
    ///   - etcdApplications: The number of applications with values in etcd that share this.
    ///   - proxies: The proxies for all requests; `nil` for those of the environment.
    package init(etcdApplications: Int = 1, proxies: Proxies? = nil) {
        self.etcdApplications = etcdApplications
        self.proxies = proxies ?? .ofEnvironment
        timetable = Timetable()
        turns = RequestTurns(timetable)
    }

    /// Closes all connections. Later requests open new ones.
    package func end() async {
        for client in clients.withLock({ Array($0.values) }) { await (try? client.get())?.end() }
    }

    // MARK: - Facts

    /// The facts about this host, without an application.
    func facts() -> HostFacts {
        host.withLock { host in
            if let host, host.read + Self.freshness > .now { return host.facts }
            let facts = HostFacts(root: "/")
            host = (facts, .now)
            return facts
        }
    }

    /// The facts about this host, for one application.
    func facts(_ application: String, _ version: String?) -> HostFacts { facts().of(application, version) }

    // MARK: - Clients

    /// The client of a cluster, with one session for all applications.
    ///
    /// - Throws: ``FetchProblem`` if the certificates cannot be used.
    func etcd(_ cluster: EtcdCluster) throws(FetchProblem) -> EtcdClient {
        try clusters.withLock { (clusters) throws(FetchProblem) in
            if let client = clusters[cluster] { return client }
            let client = try EtcdClient(cluster, self)
            clusters[cluster] = client
            return client
        }
    }

    /// The client for all applications with these settings.
    ///
    /// - Parameters:
    ///   - certificates: A PEM file of certificates to trust instead of the system's.
    ///   - connect: The timeout of connecting, including TLS.
    ///   - read: The maximum time without data.
    ///   - idle: The time for which connections without a request stay open. A server has many agents.
    ///   - decompressed: The maximum size of a decompressed body in bytes; `nil` to decompress none.
    /// - Throws: ``FetchProblem`` if the certificates cannot be used.
    func client(
        certificates: String?, connect: Duration, read: Duration? = nil, idle: Duration = .seconds(1),
        decompressed: Int? = nil
    ) throws(FetchProblem) -> OpenedClient {
        let settings = Settings(
            certificates: certificates, connect: connect, read: read, idle: idle, decompressed: decompressed)
        return try clients.withLock { clients in
            if let client = clients[settings] { return client }
            let client = Self.made(settings, proxies)
            clients[settings] = client
            return client
        }.get()
    }

    private static func made(_ settings: Settings, _ proxies: Proxies) -> Result<OpenedClient, FetchProblem> {
        do throws(FetchProblem) {
            var configuration = HTTPClient.Configuration(
                tlsConfiguration: try tls(certificates: settings.certificates),
                redirectConfiguration: .disallow,
                timeout: .init(
                    connect: TimeAmount(settings.connect), read: settings.read.map { TimeAmount($0) }),
                connectionPool: .init(idleTimeout: TimeAmount(settings.idle)))
            configuration.connectionPool.retryConnectionEstablishment = false
            // Streams and watches keep their connections; `RequestTurns` limits the others.
            configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = .max
            configuration.httpVersion = .http1Only
            if let limit = settings.decompressed {
                configuration.decompression = .enabled(limit: .size(limit))
            }
            return .success(OpenedClient(configuration, proxies))
        } catch {
            return .failure(error)
        }
    }

    /// The TLS configuration.
    private static func tls(certificates: String?) throws(FetchProblem) -> TLSConfiguration {
        var tls = TLSConfiguration.makeClientConfiguration()
        tls.minimumTLSVersion = .tlsv12
        guard let path = certificates else { return tls }
        let bytes: [UInt8]
        do throws(OverridesError) { bytes = try KeptFile(path: path).read() ?? [] } catch {
            throw FetchProblem(message: "\(error)")
        }
        do { tls.trustRoots = .certificates(try NIOSSLCertificate.fromPEMBytes(bytes)) } catch {
            throw FetchProblem(message: "\(path): there are no certificates in PEM")
        }
        return tls
    }
}

extension HostFacts {
    /// The facts for one application.
    func of(_ application: String, _ version: String?) -> HostFacts {
        var facts = self
        facts[.application] = application
        facts[.applicationVersion] = version
        return facts
    }
}

extension TimeAmount {
    init(_ duration: Duration) { self = .nanoseconds(Int64(duration / .nanoseconds(1))) }
}
#endif
