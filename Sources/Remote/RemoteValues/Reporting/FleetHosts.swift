// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import TweakFormats
package import TweakJSON
internal import TweakRecords
internal import TweakSystem

/// The report of one host about an application.
///
///     { "version": 17, "revision": 977, "loaded": "2026-11-25T17:00:00Z", "processes": 3,
///       "sources": [ { "source": "fleet", "kind": "etcd", "loaded": "…" } ],
///       "refused": [ { "tweak": "Search/Index/Limit", "reason": "…", "build": "3f2a91c4.5be0" } ], "more": 0,
///       "builds": [ { "program": "/usr/bin/search", "build": "3f2a91c4.5be0" } ],
///       "targeted": { "Search/Index/Cache": 5, "Search/Index/New": null }, "unpublished": 0, "agent": "1.0.0" }
package struct HostReport: Hashable, Sendable {
    /// The name of the host.
    package let host: String
    /// The number of the newest change on the host; 0 if there is none.
    package var version: Int
    /// The revision of that change; `nil` if there is none, or if it is no longer in the history.
    package var newestRevision: Int?
    /// The revision of its newest values, as the agent counts it.
    package var revision: Int
    /// The time at which the host loaded them, by its own clock, in the format of RFC 3339.
    package var loaded: String?
    /// The number of processes that follow the agent's files; `nil` if the agent cannot see them.
    package var processes: Int?
    /// The values that a build on the host refuses or clamps, ``mostRefusals`` at most.
    package var refused: [Refusal] = []
    /// The number of refusals that are not listed.
    package var unlistedRefusals = 0
    /// The number of configured programs whose declarations are not published yet; `nil` if none are configured.
    package var unpublished: Int?
    /// The builds of the configured programs, ``mostBuilds`` at most, by path.
    package var builds: [Build] = []
    /// This host's values of tweaks that have targets, `null` for none; ``mostTargeted`` at most.
    package var targeted: JSONObject = [:]
    /// Highest precedence first.
    package var sources: [Source] = []
    /// The version of the agent.
    package var agent: String?
    /// Whether the agent has lost touch with etcd.
    package var isSilent = false
    /// The start of the silence in the format of RFC 3339, as etcd measures it; `nil` if it is unknown.
    package var silentSince: String?

    /// A value that a build refuses or clamps.
    package struct Refusal: Hashable, Sendable {
        package let tweak: String
        package let reason: String
        /// The build, as published.
        package var build: String?

        package init(tweak: String, reason: String, build: String? = nil) {
            (self.tweak, self.reason, self.build) = (tweak, reason, build)
        }
    }

    /// A program on the host.
    package struct Build: Hashable, Sendable {
        /// The path of the executable.
        package let program: String
        /// The build, as it is published.
        package let id: String

        package init(program: String, id: String) { (self.program, self.id) = (program, id) }
    }

    /// The state of one source of values.
    package struct Source: Hashable, Sendable {
        /// The provider of its values: `remote` or `fleet`.
        package let name: String
        /// For example `etcd` or `web`.
        package let kind: String
        /// The time of its newest values.
        package var loaded: String?
        /// The reason and start of a failure.
        package var problem: String?

        package init(name: String, kind: String, loaded: String? = nil, problem: String? = nil) {
            (self.name, self.kind, self.loaded, self.problem) = (name, kind, loaded, problem)
        }
    }

    /// The maximum numbers of refusals, builds and targeted tweaks in a report, and the maximum bytes of a text, which
    /// keep it small.
    package static let mostRefusals = 16
    package static let mostBuilds = 16
    package static let mostTargeted = 32
    package static let longestText = 300
    private static let largestSize = 1 << 16

    package init(host: String, version: Int, revision: Int) {
        (self.host, self.version, self.revision) = (host, version, revision)
    }

    /// Parses an entry of etcd. Unknown members are ignored.
    init(_ json: [UInt8], host: String) throws(FormatError) {
        let path = "hosts/\(host)"
        var members = try Members(
            try JSONParser.value(of: json, at: path, largestSize: Self.largestSize), JSONPlace(path: path))
        self.host = host
        let version = try members.integer("version", 0...Int.max)
        self.version = try members.required("version", version, "the number of a change")
        let revision = try members.integer("revision", EtcdHeader.revisions)
        self.revision = try members.required("revision", revision, "a revision")
        loaded = try members.anyText("loaded")
        processes = try members.integer("processes", 0...Int.max)
        unlistedRefusals = try members.integer("more", 0...Int.max) ?? 0
        unpublished = try members.integer("unpublished", 0...Int.max)
        agent = try members.anyText("agent")
        func each<Element>(
            _ name: String, _ read: (inout Members) throws(FormatError) -> Element
        ) throws(FormatError) -> [Element] {
            let elements = try members.arrayIfPresent(name, "an array") {
                (place, value) throws(FormatError) in
                var members = try Members(value, place)
                return try read(&members)
            }
            return elements ?? []
        }
        refused = try each("refused") { (refusal) throws(FormatError) in
            Refusal(
                tweak: try refusal.required("tweak", refusal.anyText("tweak"), "the name of a tweak"),
                reason: try refusal.anyText("reason") ?? "", build: try refusal.anyText("build"))
        }
        builds = try each("builds") { (build) throws(FormatError) in
            Build(
                program: try build.required("program", build.anyText("program"), "the path of a program"),
                id: try build.required("build", build.anyText("build"), "the name of a build"))
        }
        targeted =
            try members.take("targeted") { (place, value) throws(FormatError) in
                try place.object(value, "an object with values")
            } ?? [:]
        sources = try each("sources") { (source) throws(FormatError) in
            Source(
                name: try source.required("source", source.anyText("source"), "the name of a provider"),
                kind: try source.anyText("kind") ?? "", loaded: try source.anyText("loaded"),
                problem: try source.anyText("problem"))
        }
    }

    /// The content of its key, without the silence, which etcd knows itself.
    func json() -> [UInt8] {
        func text(_ text: String) -> JSONValue {
            let bytes = text.utf8.prefix(Self.longestText)
            return .scalar(
                .string(bytes.count < text.utf8.count ? String(decoding: bytes, as: UTF8.self) + "…" : text))
        }
        func number(_ number: Int) -> JSONValue { .scalar(.integer(Int128(number))) }
        var members: JSONObject = ["version": number(version), "revision": number(revision)]
        members["loaded"] = loaded.map(text)
        members["processes"] = processes.map(number)
        members["unpublished"] = unpublished.map(number)
        members["agent"] = agent.map(text)
        members["sources"] = .array(
            sources.map { source in
                var members: JSONObject = ["source": text(source.name), "kind": text(source.kind)]
                members["loaded"] = source.loaded.map(text)
                members["problem"] = source.problem.map(text)
                return .object(members)
            })
        let listed = refused.prefix(Self.mostRefusals)
        if !listed.isEmpty {
            members["refused"] = .array(
                listed.map { refusal in
                    var members: JSONObject = ["tweak": text(refusal.tweak), "reason": text(refusal.reason)]
                    members["build"] = refusal.build.map(text)
                    return .object(members)
                })
        }
        if !builds.isEmpty {
            members["builds"] = .array(
                builds.prefix(Self.mostBuilds).map {
                    .object(["program": text($0.program), "build": text($0.id)])
                })
        }
        if !targeted.isEmpty { members["targeted"] = .object(targeted) }
        let more = unlistedRefusals + refused.count - listed.count
        if more > 0 { members["more"] = number(more) }
        return JSONValue.object(members).json()
    }
}

/// The hosts with a report of an application.
package struct FleetHosts: Sendable {
    /// The number of the newest change; 0 if there is none.
    package let newest: Int
    /// The revision of that change; `nil` if there is none.
    package let newestRevision: Int?
    /// The revision at which they were read.
    package let revision: Int
    /// Sorted by name.
    package let hosts: [HostReport]
    /// Messages about foreign and unreadable keys.
    package let strangers: [String]
}

extension FleetEditor {
    /// The maximum number of reports in one answer of etcd.
    static let pageSize = 1000
    /// The maximum number of silent hosts whose lease is read, with a request each.
    private static let mostTimes = 1000

    /// Reads the reports of all hosts, sorted by host.
    ///
    /// A host is silent if its agent has not been in touch with etcd for three of its intervals, which depend on the
    /// number of hosts: 4 seconds for up to 260 of them. It is forgotten after a day of silence.
    package func hosts() async throws(FleetProblem) -> [HostReport] { try await fleetHosts().hosts }

    /// Reads the reports of all hosts and the newest change, at one revision.
    package func fleetHosts() async throws(FleetProblem) -> FleetHosts {
        try await onSomeMember { (endpoint) throws(FetchProblem) in
            let (newest, lastChange, revision) = try await newestChange(at: endpoint)
            let alive = try await entries(keys.aliveHosts, isWithoutValues: true, at: revision, endpoint)
            let reports = try await entries(keys.hosts, at: revision, endpoint)
            let names = Set(alive.map(\.key).compactMap { keys.host(of: $0) })
            var (hosts, strangers): ([HostReport], [String]) = ([], [])
            var silent: [(host: Int, lease: Int)] = []
            for entry in reports {
                guard let host = keys.host(of: entry.key) else {
                    strangers.append(
                        "\(String(decoding: entry.key, as: UTF8.self)): this is not the name of a host")
                    continue
                }
                do throws(FormatError) {
                    var report = try HostReport(entry.value, host: host)
                    report.isSilent = !names.contains(host)
                    if report.isSilent, entry.lease != 0 { silent.append((hosts.count, entry.lease)) }
                    hosts.append(report)
                } catch {
                    strangers.append("\(error)")
                }
            }
            for (host, since) in await silences(silent, at: endpoint) { hosts[host].silentSince = since }
            var changes = [newest: lastChange]
            if hosts.contains(where: { $0.version != newest && $0.version > 0 }) {
                for entry in try await entries(keys.history, isWithoutValues: true, at: revision, endpoint) {
                    if let number = keys.number(ofChange: entry) { changes[number] = entry.modified }
                }
            }
            for index in hosts.indices {
                hosts[index].newestRevision = changes[hosts[index].version] ?? nil
            }
            return FleetHosts(
                newest: newest, newestRevision: lastChange, revision: revision, hosts: hosts,
                strangers: strangers)
        }
    }

    /// Counts the known hosts, and those that have published what all their programs declare.
    ///
    /// - Returns: `nil` if no host publishes anything.
    package func publishedHosts() async throws(FleetProblem) -> (published: Int, known: Int)? {
        Self.published(
            reports(
                try await onSomeMember { (endpoint) throws(FetchProblem) in
                    try await entries(keys.hosts, at: 0, endpoint)
                }))
    }

    /// The number of hosts that have published the builds of their programs, and of all hosts; `nil` if none has programs.
    package static func published(_ hosts: [HostReport]) -> (published: Int, known: Int)? {
        guard hosts.contains(where: { $0.unpublished != nil }) else { return nil }
        return (hosts.count { $0.unpublished == 0 }, hosts.count)
    }

    /// The reports in some entries, without unreadable ones.
    func reports(_ entries: [EtcdEntry]) -> [HostReport] {
        entries.compactMap { entry in
            keys.host(of: entry.key).flatMap { try? HostReport(entry.value, host: $0) }
        }
    }

    /// Reads the number of the newest change and its revision, and the current revision.
    private func newestChange(
        at endpoint: String
    ) async throws(FetchProblem) -> (number: Int, lastChange: Int?, revision: Int) {
        var (range, header) = try await client.range(keys.newestChanges, at: endpoint)
        if !range.entries.contains(where: { keys.number(ofChange: $0) != nil }), !range.entries.isEmpty {
            var all = EtcdClient.RangeQuery(keys.history)
            all.isWithoutValues = true
            (range, header) = try await client.range(all, at: endpoint)
        }
        let newest = range.entries.compactMap { entry in
            keys.number(ofChange: entry).map { (number: $0, revision: entry.modified) }
        }.max { $0.number < $1.number }
        return (newest?.number ?? 0, newest?.revision, header.revision)
    }

    /// Reads all entries with a prefix, page by page.
    ///
    /// - Parameter revision: The revision to read; 0 for the current one of each page.
    func entries(
        _ prefix: String, isWithoutValues: Bool = false, at revision: Int, _ endpoint: String
    ) async throws(FetchProblem) -> [EtcdEntry] {
        var query = EtcdClient.RangeQuery(prefix)
        (query.end, query.limit) = (EtcdClient.end(of: query.prefix), Self.pageSize)
        (query.isWithoutValues, query.revision) = (isWithoutValues, revision)
        var entries: [EtcdEntry] = []
        while true {
            let (range, _) = try await client.range(query, at: endpoint)
            entries += range.entries
            guard let last = range.entries.last, range.count > range.entries.count else {
                return entries
            }
            query.prefix = last.key + [0]
        }
    }

    /// Reads the start of each silence: agents renew the lease of the reports together with that of `hosts.alive`.
    private func silences(
        _ silent: [(host: Int, lease: Int)], at endpoint: String
    ) async -> [(host: Int, since: String)] {
        await withTaskGroup(of: (Int, String)?.self) { group in
            for (host, lease) in silent.prefix(Self.mostTimes) {
                group.addTask { [client] in
                    // The user may not be allowed to, and the lease may end meanwhile.
                    guard let lease = try? await client.timeToLive(of: lease, at: endpoint) else {
                        return nil
                    }
                    return (host, timestamp(.since1970 - lease.age))
                }
            }
            return await group.reduce(into: []) {
                if let time = $1 { $0.append((host: time.0, since: time.1)) }
            }
        }
    }
}
#endif
