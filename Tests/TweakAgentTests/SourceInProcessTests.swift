// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import TestSupport
import Testing
import Tweaks
import TweaksRemote

@Suite struct `A source in a process` {
    private let home: TemporaryDirectory
    private let server: WebServer
    private let key = TweakKey("Features", "search", "enabled")

    init() throws {
        home = try TemporaryDirectory()
        try CertificateAuthority(home).make("good")
        server = try WebServer(home, certificate: "good")
        try server.put(features(["search": true]))
    }

    private func source(_ said: @escaping @Sendable (String) -> Void = { _ in }) throws -> RemoteSource {
        try RemoteSource(
            application: "search", url: server.url, interval: .seconds(1), certificates: home("ca.crt"),
            keptIn: home("kept.json"), said: said)
    }

    /// Waits without a thread, of which other tests may have all. So it is not the time that is limited.
    private func becomes(_ condition: () -> Bool) async -> Bool {
        for _ in 0..<20_000 where !condition() { try? await Task.sleep(for: .milliseconds(3)) }
        return condition()
    }

    @Test func `provides what it loads, and reports later changes`() async throws {
        let (source, reports) = (try source(), Locked(0))
        source.onChange { _ in reports.withLock { $0 += 1 } }
        let running = Task { await source.run() }
        #expect(await becomes { source.value(for: key) == .value(.bool(true)) })
        #expect(source.keys == [key])
        try server.put(features(["search": false]))
        #expect(await becomes { source.value(for: key) == .value(.bool(false)) })
        #expect(reports.withLock { $0 } == 2)
        running.cancel()
        await running.value
    }

    @Test func `reports loads and failures through its store`() async throws {
        let store = TweakStore()
        _ = try store.make(key, default: false)
        let source = try source()
        try store.add(source, below: .overrides)
        let told = Locked<[String]>([])
        let observation = store.observeLoads { load in
            told.withLock { $0.append("\(load.source): \(load.problem == nil)") }
        }
        let running = Task { await source.run() }
        #expect(await becomes { told.withLock { $0.count } == 1 })
        #expect(try store.value(of: key) == .bool(true))
        server.stop()
        #expect(await becomes { told.withLock { $0.count } == 2 })
        #expect(try store.value(of: key) == .bool(true))
        #expect(told.withLock { $0 } == ["http: true", "http: false"])
        observation.cancel()
        running.cancel()
        await running.value
    }

    @Test func `can be restarted, or not run at all`() async throws {
        _ = try source()
        let source = try source()
        for isOn in [true, false] {
            try server.put(features(["search": isOn]))
            let running = Task { await source.run() }
            #expect(await becomes { source.value(for: key) == .value(.bool(isOn)) })
            running.cancel()
            await running.value
        }
    }

    @Test func `can be used next to an agent`() throws {
        let source = try source()
        try TweakStore.shared.add(source, below: .overrides)
        #expect(TweakStore.shared.sources.contains(TweakSource("http")))
        try TweakStore.shared.remove(providerOf: TweakSource("http"))
    }

    @Test func `can be created from an agent's configuration`() async throws {
        let etcd = try EtcdMembers()
        let configuration = try home.write(
            "agent.json",
            """
            { "etcd": { "endpoints": ["\(etcd.endpoints[0])"], "plainHTTP": true },
              "applications": [
                { "name": "search", "url": "\(server.url)", "certificates": "ca.crt", "fleet": true },
                { "name": "flags", "ofrep": { "url": "\(server.url)" } } ] }
            """)
        #expect(throws: RemoteSource.Problem.self) {
            try RemoteSource.sources(listedIn: configuration, application: "other")
        }
        #expect(throws: RemoteSource.Problem.self) {
            try RemoteSource.sources(listedIn: home("none.json"), application: "search")
        }
        let flags = try RemoteSource.sources(listedIn: configuration, application: "flags")
        #expect(flags.map(\.source.name) == ["ofrep"])
        let sources = try RemoteSource.sources(
            listedIn: configuration, application: "search", keptIn: home.path)
        #expect(sources.map(\.source.name) == ["http", "etcd"])
        let running = Task {
            await withTaskGroup { group in
                for source in sources { group.addTask { await source.run() } }
            }
        }
        #expect(await becomes { sources[0].value(for: key) == .value(.bool(true)) })
        try etcd.put("\(key)", #"{ "value": false }"#)
        #expect(await becomes { sources[1].value(for: key) == .value(.bool(false)) })
        #expect(await becomes { FileStatus(home("etcd.json")) != nil })
        running.cancel()
        await running.value
    }

    @Test func `starts with the saved values of an earlier one`() async throws {
        do {
            let source = try source()
            let running = Task { await source.run() }
            #expect(await becomes { FileStatus(home("kept.json")) != nil })
            running.cancel()
            await running.value
        }
        server.stop()
        let said = Locked<[String]>([])
        let source = try source { message in said.withLock { $0.append(message) } }
        #expect(source.value(for: key) == .value(.bool(true)))
        let running = Task { await source.run() }
        #expect(await becomes { said.withLock { !$0.isEmpty } })
        #expect(source.value(for: key) == .value(.bool(true)))
        running.cancel()
        await running.value
    }

    @Test(arguments: ["http://example.org/", "example.org", "https://"])
    func `requires TLS`(url: String) {
        #expect(throws: RemoteSource.Problem.self) { try RemoteSource(application: "search", url: url) }
    }

    @Test func `requires a valid key`() {
        #expect(throws: RemoteSource.Problem.self) {
            try RemoteSource(application: "search", url: "https://example.org/", publicKey: "none")
        }
    }
}
#endif
