// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import TestSupport

/// A host with an agent: a folder for its files, and its configuration.
final class AgentHost: Sendable {
    let home: TemporaryDirectory
    /// From where values are looked at: `remote` or `fleet`.
    let source: String

    init(_ home: TemporaryDirectory? = nil, source: String = "remote") throws {
        self.home = try home ?? TemporaryDirectory()
        self.source = source
    }

    static let program = Locations.product("tweak-agent")

    /// The user and the host, as changes of a fleet record them.
    static var author: String {
        let user =
            getpwuid(geteuid()).flatMap { String(validatingCString: $0.pointee.pw_name) } ?? "\(geteuid())"
        var name = utsname()
        uname(&name)
        let host = withUnsafeBytes(of: &name.nodename) {
            String(decoding: $0.prefix { $0 != 0 }, as: UTF8.self)
        }
        return "\(user)@\(host)"
    }

    /// Says what is loaded.
    ///
    /// - Parameter members: More of the application, as JSON behind a comma.
    func configure(_ url: String, _ members: String = "", name: String = "search") throws {
        let plain = url.hasPrefix("http:") ? ", \"plainHTTP\": true" : ""
        try home.write(
            "agent.json",
            """
            { "applications": [ { "name": "\(name)", "url": "\(url)"\(plain)\(members.isEmpty ? "" : ", " + members) } ] }
            """)
    }

    /// Says which etcd is followed.
    ///
    /// - Parameters:
    ///   - members: More of the cluster, as JSON behind a comma.
    ///   - application: More of the application.
    func follow(
        _ endpoints: [String], _ members: String = "", application: String = "", name: String = "search"
    ) throws {
        let isPlain = endpoints.contains { $0.hasPrefix("http:") }
        let cluster =
            "\"endpoints\": [ \(endpoints.map { "\"\($0)\"" }.joined(separator: ", ")) ]"
            + (isPlain ? ", \"plainHTTP\": true" : "") + (members.isEmpty ? "" : ", " + members)
        try home.write(
            "agent.json",
            """
            { "etcd": { \(cluster) },
              "applications": [ { "name": "\(name)", "fleet": true\(application.isEmpty ? "" : ", " + application) } ] }
            """)
    }

    /// Runs `tweak fleet` of the agent's program.
    func fleet(_ arguments: String..., application: String = "search") throws -> CommandResult {
        try run(
            Self.program,
            ["fleet", arguments[0], "--configuration", home("agent.json"), application]
                + arguments.dropFirst(), home: home)
    }

    /// The value of a tweak; `nil` if there is none.
    func value(_ tweak: String) throws -> Any? {
        let names = tweak.split(separator: "/").map(String.init)
        let values = try file()?["values"] as? [String: [String: [String: Any]]]
        return values?[names[0]]?[names[1]]?[names[2]]
    }

    func flag(_ tweak: String) throws -> Bool? { try value(tweak) as? Bool }
    func number(_ tweak: String) throws -> Double? { try value(tweak) as? Double }

    private func arguments(_ more: [String]) -> [String] {
        ["--configuration", home("agent.json"), "--folder", home("provided")] + more
    }

    /// Loads once.
    func once(_ more: [String] = [], environment: [String: String] = [:]) throws -> CommandResult {
        try run(
            Self.program, arguments(["--once"] + more), home: home,
            environment: Self.noProxies.merging(environment) { $1 })
    }

    /// The proxies of this machine are not for tests.
    private static let noProxies = Dictionary(
        uniqueKeysWithValues: ["http_proxy", "https_proxy", "HTTPS_PROXY", "no_proxy", "NO_PROXY"].map {
            ($0, "")
        })

    /// Runs an agent while `body` does, and ends it.
    @discardableResult
    func following(
        _ more: [String] = [], environment: [String: String] = [:], _ body: (RunningCommand) throws -> Void
    ) throws -> CommandResult {
        let agent = try start(
            Self.program, arguments(more), home: home, environment: Self.noProxies.merging(environment) { $1 }
        )
        do { try body(agent) } catch {
            agent.kill()
            _ = agent.wait()
            throw error
        }
        Glibc.kill(agent.processID, SIGTERM)
        return agent.wait()
    }

    var path: String { home("provided/search/\(source).json") }

    /// What processes read; `nil` if there is no file.
    func file() throws -> [String: Any]? {
        guard let data = FileManager.default.contents(atPath: path) else { return nil }
        return try JSONSerialization.jsonObject(with: data) as? [String: Any]
    }

    func problem() throws -> String? { try file()?["problem"] as? String }

    /// Whether a feature is on; `nil` if nothing is known.
    func isOn(_ feature: String) throws -> Bool? {
        let values = try file()?["values"] as? [String: [String: [String: Any]]]
        return values?["Features"]?[feature]?["enabled"] as? Bool
    }
}

/// A file of features, which all hosts have.
func features(_ features: [String: Bool], version: Int? = nil) -> String {
    let entries = features.sorted { $0.key < $1.key }.map { "{ \"key\": \"\($0)\", \"enabled\": \($1) }" }
    return "{ " + (version.map { "\"version\": \($0), " } ?? "")
        + "\"features\": [ \(entries.joined(separator: ", ")) ] }"
}
#endif
