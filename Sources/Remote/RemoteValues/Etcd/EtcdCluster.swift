// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import Glibc
package import TweakFormats
internal import TweakJSON
internal import TweakOverrides
package import TweakRecords
internal import TweakSystem

/// An etcd cluster, and the location of our keys in it.
///
///     { "etcd": { "endpoints": [ "https://etcd1:2379", "https://etcd2:2379" ], "environment": "production" } }
package struct EtcdCluster: Hashable, Sendable {
    /// The addresses of its members, without a trailing slash.
    package var endpoints: [String]
    /// The prefix of all our keys, without a trailing slash.
    package var prefix = "/tweaks"
    /// The level below the prefix, because hosts in other environments have other values.
    package var environment = "production"
    /// A PEM file of certificates to trust instead of the system's.
    package var certificates: String?
    /// The user to authenticate as; `nil` for none.
    package var user: String?
    /// A file with the user's password, not readable by others.
    package var passwordFile: String?
    /// The name of this host in its agent's reports; `nil` for the host name.
    package var host: String?
    /// Whether the agent reports what it has.
    package var isReporting = true
    /// The interval of checks whether a watch has missed anything.
    package var interval: Duration = .seconds(60)
    /// The timeout of a whole request.
    package var timeout: Duration = .seconds(5)

    package init(endpoints: [String]) { self.endpoints = endpoints }

    /// Reads `etcd` in an agent's configuration, and nothing else.
    ///
    /// - Returns: `nil` if it is missing.
    /// - Throws: ``FormatError`` with the place and what is allowed there.
    package init?(ofConfiguration json: [UInt8], path: String) throws(FormatError) {
        let value = try JSONParser.value(of: json, at: path)
        guard case .object(let root) = value, let value = root["etcd"] else { return nil }
        self = try Self(value, JSONPlace(path: path, names: ["etcd"]))
    }

    init(_ value: JSONValue, _ place: JSONPlace<FormatError>) throws(FormatError) {
        var members = try Members(value, place)
        let isPlainAllowed = try members.flag("plainHTTP") ?? false
        endpoints = try members.array("endpoints", "an array of addresses") {
            (place, value) throws(FormatError) in
            guard case .scalar(.string(let text)) = value, let endpoint = Self.endpoint(text) else {
                throw place.unexpected(value, "an address, \"https://\" with a host and a port")
            }
            guard isPlainAllowed || endpoint.hasPrefix("https:") else {
                throw place.invalid(
                    "without TLS anybody on the network can change the values; use https://, or add "
                        + "\"plainHTTP\": true")
            }
            return endpoint
        }
        guard !endpoints.isEmpty else { throw members.invalid("endpoints", "it is empty") }
        if let prefix = try members.text("prefix") {
            let end = prefix.utf8.reversed().prefix { $0 == UInt8(ascii: "/") }.count
            self.prefix = String(prefix.dropLast(end))
        }
        if let environment = try members.text("environment") {
            guard Self.isName(environment) else {
                throw members.invalid("environment", "it has 1 to 200 bytes and no slash")
            }
            self.environment = environment
        }
        certificates = try members.file("certificates")
        user = try members.text("user")
        passwordFile = try members.file("passwordFile")
        guard (user == nil) == (passwordFile == nil) else {
            throw members.invalid(
                user == nil ? "user" : "passwordFile", "user and passwordFile belong together")
        }
        if let host = try members.text("host") {
            guard Self.isName(host) else {
                throw members.invalid("host", "it has 1 to 200 bytes and no slash")
            }
            self.host = host
        }
        isReporting = try members.flag("reports") ?? true
        if let seconds = try members.seconds("interval", AgentConfiguration.intervals) { interval = seconds }
        if let seconds = try members.seconds("timeout", AgentConfiguration.timeouts) { timeout = seconds }
        try members.end()
        _ = try password()
    }

    /// Returns whether this is a valid name for an environment or an application.
    package static func isName(_ text: String) -> Bool { ApplicationName.isUsable(text) }

    /// An address as the start of request URLs; `nil` if it is malformed, or has a path.
    private static func endpoint(_ text: String) -> String? {
        let address = text.hasSuffix("/") ? String(text.dropLast()) : text
        let isBare =
            address.utf8.count { $0 == UInt8(ascii: "/") } == 2 && !address.utf8.contains(UInt8(ascii: "?"))
        guard RemoteURL(address) != nil, isBare else { return nil }
        return address
    }

    /// The maximum length of a password.
    private static let longestPassword = 4096

    /// The current password, without a trailing newline; `nil` if there is none.
    ///
    /// - Throws: ``FormatError`` if the file cannot be read, or is world-readable.
    func password() throws(FormatError) -> String? {
        guard let path = passwordFile else { return nil }
        let bytes = try readSecret(path, limit: Self.longestPassword)
        let text = String(decoding: bytes, as: UTF8.self)
        let password = text.hasSuffix("\n") ? String(text.dropLast()) : text
        guard !password.isEmpty, bytes.count <= Self.longestPassword else {
            throw .malformed(path: path, reason: "the file contains no password")
        }
        return password
    }
}

/// The permission of an agent to carry out the rollouts of an application.
///
/// Plans in etcd only name checks, so that writing there does not suffice to execute something on a host.
package struct RolloutSettings: Hashable, Sendable {
    /// The executables of checks, by name.
    package let checks: [String: String]

    init(_ members: Members) throws(FormatError) {
        var members = members
        var checks: [String: String] = [:]
        if var entries = try members.object("checks") {
            for name in entries.names {
                guard RolloutPlan.isCheck(name) else {
                    throw entries.invalid(
                        name, "a name has 1 to 100 letters, digits, periods, hyphens and underscores")
                }
                checks[name] = try entries.path(name)
            }
        }
        try members.end()
        self.checks = checks
    }
}

/// The settings of one application in etcd.
package struct EtcdSettings: OriginSettings, Hashable {
    package let name: String
    package var version: String?
    package let cluster: EtcdCluster
    /// The paths of executables whose declarations the agent publishes.
    package var programs: [String] = []
    /// The rollouts that the agent carries out; `nil` for none.
    package var rollouts: RolloutSettings?

    package init(name: String, version: String? = nil, cluster: EtcdCluster) {
        (self.name, self.version, self.cluster) = (name, version, cluster)
    }

    package var provider: TweakSource { .fleet }
    package var kind: String { "etcd" }
    package var server: String { cluster.endpoints.joined(separator: " ") }

    package func origin(sharing resources: SharedResources) throws(FetchProblem) -> any RemoteOrigin {
        EtcdOrigin(self, try resources.etcd(cluster), resources)
    }

    /// The prefix of the application's keys.
    package var root: String { "\(cluster.prefix)/\(cluster.environment)/\(name)/" }
}
#endif
