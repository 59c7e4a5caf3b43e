// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import Glibc
package import TweakFormats
internal import TweakJSON
internal import TweakOverrides
internal import TweakRecords
internal import TweakSystem
internal import TweakTargeting

/// The configuration of `tweak-agent`: the applications and origins to follow.
///
///     { "applications": [ { "name": "search", "version": "2.4", "url": "https://features.example.org/search/" } ] }
package struct AgentConfiguration: Hashable, Sendable {
    /// The applications with values from a web server or a flag service.
    package let applications: [WebSettings]
    /// The applications with values from etcd. An application may be in both lists.
    package let fleet: [EtcdSettings]
    /// All origins, highest precedence first.
    package var origins: [any OriginSettings] { applications + fleet }

    /// The allowed interval between checks: shorter ones are pointless, and servers have many agents.
    static let intervals: ClosedRange<Double> = 1...86_400
    static let timeouts: ClosedRange<Double> = 0.1...600
    /// The maximum number of programs of an application.
    static let mostPrograms = 16

    /// Reads a file.
    ///
    /// - Parameters:
    ///   - json: The bytes.
    ///   - path: The path for error messages; relative paths in the file start in its directory.
    /// - Throws: ``FormatError`` with the place and what is allowed there.
    package init(json: [UInt8], path: String) throws(FormatError) {
        let value = try JSONParser.value(of: json, at: path)
        let place = JSONPlace<FormatError>(path: path)
        var root = try Members(value, place)
        let cluster = try root.take("etcd") { (place, value) throws(FormatError) in
            try EtcdCluster(value, place)
        }
        let entries = try root.array("applications", "an array of applications") {
            (place, value) throws(FormatError) in try Members(value, place)
        }
        try root.end()
        guard !entries.isEmpty else {
            throw root.invalid("applications", "it is empty")
        }
        var applications: [WebSettings] = []
        var fleet: [EtcdSettings] = []
        var (names, fleetNames) = (Set<ByteText>(), Set<ByteText>())
        for var members in entries {
            if let application = try Self.etcdSettings(members, cluster) {
                guard fleetNames.insert(ByteText(application.name)).inserted else {
                    throw members.invalid("name", "duplicate application \"\(application.name)\"")
                }
                fleet.append(application)
                // etcd may be its only origin.
                guard members.has("url", "ofrep") else { continue }
            }
            let application = try Self.webSettings(&members)
            guard names.insert(ByteText(application.name)).inserted else {
                throw members.invalid("name", "duplicate application \"\(application.name)\"")
            }
            applications.append(application)
        }
        (self.applications, self.fleet) = (applications, fleet)
    }

    private static func name(_ members: inout Members) throws(FormatError) -> String {
        let name = try members.required("name", members.text("name"), "the name of an application")
        guard ApplicationName.isUsable(name), !name.hasPrefix(".") else {
            throw members.invalid(
                "name", "it has 1 to 200 bytes, no slash, and does not begin with a dot; this is \"\(name)\"")
        }
        return name
    }

    /// - Returns: `nil` if it has no values from etcd.
    private static func etcdSettings(
        _ members: Members, _ cluster: EtcdCluster?
    ) throws(FormatError) -> EtcdSettings? {
        var members = members
        guard try members.flag("fleet") ?? false else { return nil }
        guard let cluster else {
            throw members.invalid("fleet", "\"etcd\" is missing, beside \"applications\"")
        }
        let name = try name(&members)
        var settings = EtcdSettings(name: name, version: try members.text("version"), cluster: cluster)
        settings.programs = try members.paths("programs", atMost: mostPrograms) ?? []
        settings.rollouts = try members.object("rollouts").map { (members) throws(FormatError) in
            try RolloutSettings(members)
        }
        if !members.has("url", "ofrep") { try members.end() }
        return settings
    }

    private static func webSettings(_ members: inout Members) throws(FormatError) -> WebSettings {
        let name = try name(&members)
        let (url, evaluation) = try origin(&members)
        var application = WebSettings(name: name, url: url)
        application.evaluation = evaluation
        application.version = try members.text("version")
        if let seconds = try members.seconds("interval", intervals) { application.interval = seconds }
        if let seconds = try members.seconds("timeout", timeouts) { application.timeout = seconds }
        if let seconds = try members.seconds("connectTimeout", timeouts) {
            application.connectTimeout = seconds
        }
        if let bytes = try members.integer("sizeLimit", 1...KeptFile.largestSize) {
            application.sizeLimit = bytes
        }
        if let count = try members.integer("redirects", 0...10) { application.redirects = count }
        if let isPlain = try members.flag("plainHTTP") { application.plainHTTP = isPlain }
        guard application.plainHTTP || !url.isPlain else {
            throw members.invalid(
                evaluation == nil ? "url" : "ofrep",
                "without TLS anybody on the network can change the values; use https://, or add \"plainHTTP\": true"
            )
        }
        application.certificates = try members.file("certificates")
        application.headersFile = try members.file("headersFile")
        if let path = application.headersFile { _ = try RequestHeaders(path: path) }
        if let key = try members.text("publicKey") {
            guard let key = PublicKey(text: key) else {
                throw members.invalid(
                    "publicKey", "32 bytes in Base64 are expected, as tweak sign prints them")
            }
            guard evaluation == nil else {
                throw members.invalid("publicKey", "a service cannot sign its values")
            }
            application.publicKey = key
        }
        application.lowestVersion = try members.integer("lowestVersion", 0...Int.max)
        // It may have etcd as another origin.
        let isInFleet = try members.flag("fleet") ?? false
        guard try members.paths("programs", atMost: mostPrograms) == nil || isInFleet else {
            throw members.invalid("programs", "their declarations go to etcd; add \"fleet\": true")
        }
        guard try members.object("rollouts") == nil || isInFleet else {
            throw members.invalid("rollouts", "they are in etcd; add \"fleet\": true")
        }
        try members.end()
        return application
    }

    /// The origin of an application's values: a file, or an OFREP service.
    private static func origin(_ members: inout Members) throws(FormatError) -> (RemoteURL, FlagEvaluation?) {
        let file = try members.text("url")
        guard var service = try members.object("ofrep") else {
            return (try members.url("url", members.required("url", file, "the address of its file")), nil)
        }
        guard file == nil else {
            throw members.invalid("ofrep", "give either the address of a file or a service, not both")
        }
        let address = try service.required("url", service.text("url"), "the address of the service")
        let url = try service.url("url", address, service: FlagEvaluation.path)
        var evaluation = FlagEvaluation()
        evaluation.context = try service.json("context") ?? [:]
        guard [nil, .null].contains(evaluation.context["targetingKey"]) || evaluation.targetingKey != nil
        else {
            throw service.invalid("context", "\"targetingKey\" is a text")
        }
        evaluation.tokenFile = try service.file("tokenFile")
        let names = try service.json("names") ?? [:]
        do throws(FlagNames.WrongName) {
            evaluation.names = try FlagNames(
                names.map { (key: $0.key.text, name: $0.value.text ?? "") })
        } catch {
            throw service.invalid(
                "names", "\(error.key): \"Category/Collection/Name\" is expected; this is \"\(error.name)\"")
        }
        try service.end()
        return (url, evaluation)
    }
}

extension FlagEvaluation {
    fileprivate var targetingKey: String? { context["targetingKey"]?.text }
}

extension JSONValue {
    fileprivate var text: String? { if case .scalar(.string(let text)) = self { text } else { nil } }
}

/// The members of an object, which are consumed one by one: the remaining ones are unknown.
struct Members {
    private let place: JSONPlace<FormatError>
    private var members: JSONObject
    private var known: [String] = []

    init(_ value: JSONValue, _ place: JSONPlace<FormatError>) throws(FormatError) {
        (members, self.place) = (try place.object(value), place)
    }

    func invalid(_ name: String, _ reason: String) -> FormatError { place.inside(name).invalid(reason) }

    func required<Value>(_ name: String, _ value: Value?, _ meaning: String) throws(FormatError) -> Value {
        guard let value else { throw invalid(name, "it is missing: \(meaning)") }
        return value
    }

    /// Consumes a member with `read`; `nil` if it is missing.
    mutating func take<Value>(
        _ name: String, _ read: (JSONPlace<FormatError>, JSONValue) throws(FormatError) -> Value
    ) throws(FormatError) -> Value? {
        known.append(name)
        guard let value = members.removeValue(forKey: ByteText(name)) else { return nil }
        return try read(place.inside(name), value)
    }

    /// Returns whether any of these members is present.
    func has(_ names: String...) -> Bool { names.contains { members[$0] != nil } }

    /// An array, each element of which `read` reads.
    mutating func array<Element>(
        _ name: String, _ expectation: String,
        _ read: (JSONPlace<FormatError>, JSONValue) throws(FormatError) -> Element
    ) throws(FormatError) -> [Element] {
        try required(name, arrayIfPresent(name, expectation, read), expectation)
    }

    mutating func arrayIfPresent<Element>(
        _ name: String, _ expectation: String,
        _ read: (JSONPlace<FormatError>, JSONValue) throws(FormatError) -> Element
    ) throws(FormatError) -> [Element]? {
        try take(name) { (place, value) throws(FormatError) in try place.array(value, expectation, read) }
    }

    mutating func tweak(_ name: String) throws(FormatError) -> TweakKey {
        let expectation = "the name of a tweak"
        let tweak = try take(name) { (place, value) throws(FormatError) in
            guard let tweak = TweakKey(try place.text(value)) else {
                throw place.unexpected(value, expectation)
            }
            return tweak
        }
        return try required(name, tweak, expectation)
    }

    /// An object with arbitrary members.
    mutating func json(_ name: String) throws(FormatError) -> JSONObject? {
        try take(name) { (place, value) throws(FormatError) in try place.object(value) }
    }

    mutating func object(_ name: String) throws(FormatError) -> Members? {
        try take(name) { (place, value) throws(FormatError) in try Members(value, place) }
    }

    func url(_ name: String, _ address: String, service: String? = nil) throws(FormatError) -> RemoteURL {
        guard let url = RemoteURL(address, service: service) else {
            throw invalid(
                name,
                "\"https://\", a host and a path are expected, without a user's name and a fragment; this is "
                    + "\"\(RemoteURL.shown(address))\"")
        }
        return url
    }

    mutating func text(_ name: String) throws(FormatError) -> String? {
        try take(name) { (place, value) throws(FormatError) in try Self.text(value, place) }
    }

    private static func text(
        _ value: JSONValue, _ place: JSONPlace<FormatError>
    ) throws(FormatError) -> String {
        let text = try place.textWithoutNUL(value)
        guard !text.isEmpty else { throw place.invalid("the text is empty") }
        return text
    }

    /// The path of a readable file.
    mutating func file(_ name: String) throws(FormatError) -> String? {
        guard let text = try text(name) else { return nil }
        let file = resolvedPath(text, relativeTo: place.path)
        guard access(file, R_OK) == 0 else {
            throw invalid(name, "\(file): \(String(cString: strerror(errno)))")
        }
        return file
    }

    /// Paths of files, which need not exist.
    mutating func paths(_ name: String, atMost most: Int) throws(FormatError) -> [String]? {
        let paths = try arrayIfPresent(name, "an array of paths") { (place, value) throws(FormatError) in
            resolvedPath(try Self.text(value, place), relativeTo: place.path)
        }
        guard paths?.count ?? 0 <= most else { throw invalid(name, "at most \(most) are allowed") }
        return paths
    }

    /// The names of the members that are left.
    var names: [String] { members.keys.map(\.text).sorted() }

    /// The path of a file, which need not exist.
    mutating func path(_ name: String) throws(FormatError) -> String? {
        try text(name).map { resolvedPath($0, relativeTo: place.path) }
    }

    /// A text, which may be empty.
    mutating func anyText(_ name: String) throws(FormatError) -> String? {
        try take(name) { (place, value) throws(FormatError) in try place.text(value) }
    }

    mutating func flag(_ name: String) throws(FormatError) -> Bool? {
        try take(name) { (place, value) throws(FormatError) in try place.flag(value) }
    }

    mutating func integer(_ name: String, _ range: ClosedRange<Int>) throws(FormatError) -> Int? {
        try take(name) { (place, value) throws(FormatError) in try place.integer(value, range) }
    }

    mutating func seconds(_ name: String, _ range: ClosedRange<Double>) throws(FormatError) -> Duration? {
        try take(name) { (place, value) throws(FormatError) in
            let expectation = "a number of seconds from \(range.lowerBound) to \(range.upperBound)"
            return .milliseconds(Int(try place.number(value, range, expectation) * 1000))
        }
    }

    /// Throws if unknown members remain.
    func end() throws(FormatError) {
        guard let unknown = members.keys.min() else { return }
        throw place.invalid("unknown member \"\(unknown.text)\"; allowed: \(known.joined(separator: ", "))")
    }
}
#endif
