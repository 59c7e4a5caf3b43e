#if Remote
internal import Glibc
package import TweakFormats
internal import TweakJSON
internal import TweakOverrides
package import TweakRecords
internal import TweakSystem

/// A cluster of etcd, and what of it is ours.
///
///     { "etcd": { "endpoints": [ "https://etcd1:2379", "https://etcd2:2379" ], "environment": "production" } }
package struct EtcdCluster: Hashable, Sendable {
    /// The addresses of its members, without a slash at the end.
    package var endpoints: [String]
    /// What all our keys begin with, without a slash at the end.
    package var prefix = "/tweaks"
    /// Below the prefix: hosts of another environment have other values.
    package var environment = "production"
    /// The certificates, in PEM, of those that are trusted instead of the system's.
    package var certificates: String?
    /// Who we are there; `nil` if nobody is asked.
    package var user: String?
    /// A file with that user's password, which others cannot read.
    package var passwordFile: String?
    /// How often it is checked that a watch has not missed anything.
    package var interval: Duration = .seconds(60)
    /// For a whole request.
    package var timeout: Duration = .seconds(5)

    package init(endpoints: [String]) { self.endpoints = endpoints }

    /// Reads what an agent's configuration has under `etcd`, and nothing else of it.
    ///
    /// - Returns: `nil` if it has nothing there.
    /// - Throws: ``FormatError`` with the place and what is allowed there.
    package init?(ofConfiguration json: [UInt8], path: String) throws(FormatError) {
        let value: JSONValue
        do throws(JSONError) { value = try JSONParser.value(of: json) } catch {
            throw .malformed(path: path, reason: error.reason)
        }
        guard case .object(let root) = value, let value = root["etcd"] else { return nil }
        self = try Self(value, JSONPlace(path: path, names: ["etcd"]))
    }

    init(_ value: JSONValue, _ place: JSONPlace<FormatError>) throws(FormatError) {
        var members = try Members(value, place)
        endpoints = []
        let isPlainAllowed = try members.flag("plainHTTP") ?? false
        for (index, element) in try members.array("endpoints", "an array of addresses").enumerated() {
            let place = place.inside("endpoints").inside("\(index)")
            guard case .scalar(.string(let text)) = element, let endpoint = Self.endpoint(text) else {
                throw place.unexpected(element, "an address, \"https://\" with a host and a port,")
            }
            guard isPlainAllowed || endpoint.hasPrefix("https:") else {
                throw place.invalid(
                    "anybody on the way can change what comes without TLS; use https://, or add "
                        + "\"plainHTTP\": true")
            }
            endpoints.append(endpoint)
        }
        guard !endpoints.isEmpty else { throw members.invalid("endpoints", "there is none") }
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
        if let seconds = try members.seconds("interval", AgentConfiguration.intervals) { interval = seconds }
        if let seconds = try members.seconds("timeout", AgentConfiguration.timeouts) { timeout = seconds }
        try members.end()
        _ = try password()
    }

    /// Whether an environment or an application can have this name.
    package static func isName(_ text: String) -> Bool { ApplicationName.isUsable(text) }

    /// An address as requests begin with it; `nil` if it is something else, or has a path.
    private static func endpoint(_ text: String) -> String? {
        let address = text.hasSuffix("/") ? String(text.dropLast()) : text
        guard RemoteURL(address) != nil, address.utf8.count(where: { $0 == UInt8(ascii: "/") }) == 2 else {
            return nil
        }
        return address
    }

    /// The longest password that is read.
    private static let longestPassword = 4096

    /// The password at this moment, without the newline that editors put at the end; `nil` if there is none.
    ///
    /// - Throws: ``FormatError`` if the file cannot be read, or all users can.
    func password() throws(FormatError) -> String? {
        guard let path = passwordFile else { return nil }
        let descriptor = openFile(path, O_RDONLY)
        defer { if descriptor >= 0 { close(descriptor) } }
        var status = stat()
        guard descriptor >= 0, fstat(descriptor, &status) == 0,
            let bytes = readToEnd(descriptor, limit: Self.longestPassword)
        else { throw .malformed(path: path, reason: systemMessage()) }
        guard status.st_mode & 0o007 == 0 else {
            throw .malformed(path: path, reason: "all users can read it; chmod o= helps")
        }
        let text = String(decoding: bytes, as: UTF8.self)
        let password = text.hasSuffix("\n") ? String(text.dropLast()) : text
        guard !password.isEmpty, bytes.count <= Self.longestPassword else {
            throw .malformed(path: path, reason: "there is no password in it")
        }
        return password
    }
}

/// Where one application's values are in etcd.
package struct EtcdSettings: SourceSettings, Hashable {
    package let name: String
    package var version: String?
    package let cluster: EtcdCluster

    package init(name: String, version: String? = nil, cluster: EtcdCluster) {
        (self.name, self.version, self.cluster) = (name, version, cluster)
    }

    package var provider: TweakSource { .fleet }
    package var kind: String { "etcd" }

    package func source(sharing resources: SharedResources) throws(FetchProblem) -> any ValueSource {
        EtcdSource(self, try resources.etcd(cluster), resources)
    }

    /// What the keys of the application begin with.
    package var root: String { "\(cluster.prefix)/\(cluster.environment)/\(name)/" }
}
#endif
