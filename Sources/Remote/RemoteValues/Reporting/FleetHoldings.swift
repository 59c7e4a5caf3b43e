// SPDX-License-Identifier: BSD-3-Clause
#if Remote
package import TweakJSON
package import TweakRecords

/// The value that the fleet gives a host for a tweak.
package enum FleetHolding: Hashable, Sendable, Encodable {
    case value(JSONValue)
    case killed
    /// The fleet has no value for this host.
    case none
    /// The host's change is no longer in etcd, or its agent does not report it.
    case unknown

    private enum Key: CodingKey { case kind, value }

    /// Scripts rely on its keys.
    package func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Key.self)
        let kind =
            switch self {
            case .value: "value"
            case .killed: "killed"
            case .none: "none"
            case .unknown: "unknown"
            }
        try container.encode(kind, forKey: .kind)
        if case .value(let value) = self { try container.encode(value, forKey: .value) }
    }
}

extension HostReport {
    /// A revision whose values it has; 0 if it has reported none.
    fileprivate var knownRevision: Int { max(revision, newestRevision ?? 0) }
}

extension FleetEditor {
    /// The maximum number of revisions at which etcd is asked.
    private static let mostRevisions = 100

    /// A tweak in etcd at a revision.
    private enum Given {
        case value(FleetValue)
        case killed, none, unknown
    }

    /// Reads the value of a tweak on each host, in the order of the hosts: the one at the revision that the host reports.
    /// Values that were put into etcd by other means than a change count, too.
    package func holdings(
        of tweak: TweakKey, on found: FleetHosts
    ) async throws(FleetProblem) -> [FleetHolding] {
        var given: [Int: Given] = [:]
        let revisions = Set(found.hosts.map(\.knownRevision)).subtracting([0])
        for revision in revisions.sorted(by: >).prefix(Self.mostRevisions) {
            given[revision] = try await self.given(tweak, at: revision)
        }
        return found.hosts.map { host in
            if host.knownRevision == 0 { return host.version == 0 ? .none : .unknown }
            switch given[host.knownRevision] ?? .unknown {
            case .value(let value):
                if value.filters == nil { return .value(.scalar(value.value)) }
                return switch host.targeted[ByteText(tweak.description)] {
                case .null?: .none
                case let value?: .value(value)
                case nil: .unknown
                }
            case .killed: return .killed
            case .none: return .none
            case .unknown: return .unknown
            }
        }
    }

    private func given(_ tweak: TweakKey, at revision: Int) async throws(FleetProblem) -> Given {
        try await onSomeMember { (endpoint) throws(FetchProblem) in
            func entry(_ place: FleetPlace) async throws(FetchProblem) -> EtcdEntry? {
                var query = EtcdClient.RangeQuery(key: keys.key(of: tweak, in: place))
                query.revision = revision
                return try await client.range(query, at: endpoint).0.entries.first
            }
            do throws(FetchProblem) {
                if try await entry(.kills) != nil { return .killed }
                guard let entry = try await entry(.values) else { return .none }
                return (try? FleetValue(json: entry.value, of: tweak)).map { .value($0) } ?? .unknown
            } catch {
                guard error.isRevisionMissing else { throw error }
                return .unknown
            }
        }
    }
}
#endif
