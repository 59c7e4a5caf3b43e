// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import TestSupport

/// A cluster of etcd on this machine, of one member or three. It is gone with its last reference.
final class EtcdMembers: Sendable {
    let home: TemporaryDirectory
    private let certificate: String?
    private let more: [String]
    private let token: Locked<String>
    private let ports: [(client: UInt16, peer: UInt16)]
    private let processes: Locked<[RunningCommand]>

    /// - Parameters:
    ///   - certificate: The certificate and key `<name>.crt` and `<name>.key` in the folder; `nil` for plain HTTP.
    ///   - more: Options of each member.
    ///   - isWaitedFor: Whether it must be able to answer.
    init(
        _ count: Int = 1, home: TemporaryDirectory? = nil, certificate: String? = nil, more: [String] = [],
        isWaitedFor: Bool = true
    ) throws {
        let home = try home ?? TemporaryDirectory()
        (self.home, self.certificate, self.more, token) = (home, certificate, more, Locked(UUID().uuidString))
        ports = try (0..<count).map { _ in (try freePort(), try freePort()) }
        processes = Locked([])
        for member in 0..<count {
            let process = try launch(member)
            processes.withLock { $0.append(process) }
        }
        if isWaitedFor {
            try wait()
        } else {
            // Its own clients would not believe it either.
            _ = waitUntil { canConnect(to: ports[0].client) }
        }
    }

    deinit { stop() }

    private func launch(_ member: Int) throws -> RunningCommand {
        let scheme = certificate == nil ? "http" : "https"
        let peers = ports.enumerated().map { "m\($0)=http://127.0.0.1:\($1.peer)" }.joined(separator: ",")
        let address = "\(scheme)://127.0.0.1:\(ports[member].client)"
        let peer = "http://127.0.0.1:\(ports[member].peer)"
        let tls =
            certificate.map { ["--cert-file", home($0 + ".crt"), "--key-file", home($0 + ".key")] } ?? []
        return try TestSupport.start(
            Locations.program("etcd"),
            [
                "--name", "m\(member)", "--data-dir", data(member), "--listen-client-urls", address,
                "--advertise-client-urls", address, "--listen-peer-urls", peer,
                "--initial-advertise-peer-urls", peer, "--initial-cluster", peers,
                "--initial-cluster-token", token.withLock { $0 }, "--heartbeat-interval", "20",
                "--election-timeout", "200",
                "--logger", "zap", "--log-level", "error",
            ] + tls + more, home: home)
    }

    /// Waits until there is a leader.
    func wait(for member: Int = 0, user: String? = nil) throws {
        let isThere = try waitUntil {
            try ctl(["endpoint", "health"], member, user: user).succeeded
                || !processes.withLock { $0[member].isRunning }
        }
        guard isThere, processes.withLock({ $0[member].isRunning }) else {
            throw CompilationError(description: processes.withLock { $0[member].written.error })
        }
    }

    /// The folder of a member's data.
    func data(_ member: Int = 0) -> String { home("member\(member)") }

    func kill(_ member: Int = 0) {
        let process = processes.withLock { $0[member] }
        process.kill()
        _ = process.wait()
    }

    /// Starts a member again that was killed.
    func restart(_ member: Int = 0, user: String? = nil) throws {
        let process = try launch(member)
        processes.withLock { $0[member] = process }
        try wait(for: member, user: user)
    }

    /// Writes a backup.
    func save(to path: String) throws {
        let result = try ctl(["snapshot", "save", path])
        guard result.succeeded else { throw CompilationError(description: result.error) }
    }

    /// Goes back to a backup, with the only member.
    ///
    /// - Parameter isSameCluster: Whether it has the token that it had, and so the same id.
    func restore(from path: String, isSameCluster: Bool) throws {
        kill()
        if !isSameCluster { token.withLock { $0 = UUID().uuidString } }
        try FileManager.default.removeItem(atPath: data())
        let peer = "http://127.0.0.1:\(ports[0].peer)"
        let result = try run(
            Locations.program("etcdctl"),
            [
                "snapshot", "restore", path, "--data-dir", data(), "--name", "m0", "--initial-cluster",
                "m0=\(peer)", "--initial-cluster-token", token.withLock { $0 },
                "--initial-advertise-peer-urls", peer,
            ], home: home, environment: ["ETCDCTL_API": "3"])
        guard result.succeeded else { throw CompilationError(description: result.error) }
        try restart()
    }

    /// Asks the JSON gateway of the first member.
    ///
    /// - Returns: Whether it was done.
    @discardableResult
    func post(_ path: String, _ json: String) -> Bool {
        let head = "POST \(path) HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        let length = "Content-Type: application/json\r\nContent-Length: \(json.utf8.count)\r\n\r\n"
        let bytes = answer(to: Array((head + length + json).utf8), at: ports[0].client)
        return bytes?.starts(with: "HTTP/1.1 200".utf8) == true
    }

    /// Puts several keys there at one revision.
    func put(_ entries: [(key: [UInt8], value: [UInt8])]) -> Bool {
        let operations = entries.map { key, value in
            let (key, value) = (Data(key).base64EncodedString(), Data(value).base64EncodedString())
            return #"{"request_put":{"key":"\#(key)","value":"\#(value)"}}"#
        }
        return post("/v3/kv/txn", #"{"success":[\#(operations.joined(separator: ","))]}"#)
    }

    func pause(_ member: Int = 0) { processes.withLock { $0[member] }.pause() }
    func resume(_ member: Int = 0) { processes.withLock { $0[member] }.resume() }

    func stop() {
        for process in processes.withLock({ $0 }) where process.isRunning {
            process.kill()
            _ = process.wait()
        }
    }

    /// The host in addresses is the one of the certificates that ``CertificateAuthority`` makes.
    var endpoints: [String] {
        ports.map { certificate == nil ? "http://127.0.0.1:\($0.client)" : "https://localhost:\($0.client)" }
    }

    /// Runs etcd's own command.
    @discardableResult
    func ctl(_ arguments: [String], _ member: Int = 0, user: String? = nil) throws -> CommandResult {
        let tls = certificate == nil ? [] : ["--cacert", home("ca.crt")]
        return try run(
            Locations.program("etcdctl"),
            ["--endpoints", endpoints[member], "--dial-timeout", "2s", "--command-timeout", "5s"] + tls
                + (user.map { ["--user", $0] } ?? []) + arguments,
            home: home, environment: ["ETCDCTL_API": "3"])
    }

    /// Puts a value there as somebody does who knows the layout of the keys.
    func put(_ tweak: String, _ json: String, application: String = "search") throws {
        let result = try ctl(["put", "/tweaks/production/\(application)/values/\(tweak)", json])
        guard result.succeeded else { throw CompilationError(description: result.error) }
    }

    func remove(_ tweak: String, application: String = "search") {
        _ = try? ctl(["del", "/tweaks/production/\(application)/values/\(tweak)"])
    }

    /// The member that leads.
    func leader() throws -> Int {
        for member in ports.indices {
            let status = try ctl(["endpoint", "status", "--write-out", "json"], member).output
            guard let data = status.data(using: .utf8),
                let all = try JSONSerialization.jsonObject(with: data) as? [[String: Any]],
                let state = all.first?["Status"] as? [String: Any],
                let header = state["header"] as? [String: Any],
                let id = header["member_id"] as? UInt64, let leader = state["leader"] as? UInt64
            else { continue }
            if id == leader { return member }
        }
        throw CompilationError(description: "there is no leader")
    }
}

/// Asks a server on this machine, which ends the connection.
func answer(to question: [UInt8], at port: UInt16) -> [UInt8]? {
    let descriptor = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(descriptor) }
    var address = loopback(port)
    let isConnected = withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
            connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
    }
    guard isConnected,
        send(descriptor, question, question.count, CInt(MSG_NOSIGNAL)) == question.count
    else { return nil }
    var answer: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: 4096)
    while case let count = recv(descriptor, &buffer, buffer.count, 0), count > 0 {
        answer += buffer.prefix(count)
    }
    return answer
}
#endif
