// SPDX-License-Identifier: BSD-3-Clause
#if Remote

/// The state of a fleet at one revision, against which a change of an application's values is checked.
package struct FleetSituation: Sendable {
    package let contents: FleetContents
    package let kills: FleetContents
    package let declarations: FleetDeclarations
    /// The plans of rollouts, without unreadable ones.
    package let plans: [RolloutPlan]
    package let hosts: [HostReport]
    /// Whether the application has any keys.
    package let isKnown: Bool
}

extension FleetEditor {
    /// Reads everything that a change is checked against, in one request unless there are more than a thousand hosts.
    ///
    /// - Returns: `nil` if that needs several requests: the user may only read some of it, it is too much for one answer,
    ///   or only the whole history tells the number of the next change.
    package func situation() async throws(FleetProblem) -> FleetSituation? {
        try await onSomeMember { (endpoint) throws(FetchProblem) in
            let kills = FleetKeys(settings, .kills)
            var (builds, hosts) = (newestBuilds, EtcdClient.RangeQuery(keys.hosts))
            (builds.limit, hosts.limit) = (Self.keptBuilds, Self.pageSize)
            let queries = [
                EtcdClient.RangeQuery(keys.values), keys.newestChanges, EtcdClient.RangeQuery(kills.values),
                builds, EtcdClient.RangeQuery(keys.rollouts), hosts,
            ]
            let (ranges, header): ([EtcdRange], EtcdHeader)
            do throws(FetchProblem) {
                (ranges, header) = try await client.ranges(queries, at: endpoint)
            } catch {
                guard error.isForbidden || error.isTooLarge else { throw error }
                return nil
            }
            let contents = FleetContents(ranges[0], ranges[1], header, keys)
            guard contents.isNumbered else { return nil }
            let reports =
                ranges[5].count > ranges[5].entries.count
                ? try await entries(keys.hosts, at: header.revision, endpoint) : ranges[5].entries
            return FleetSituation(
                contents: contents, kills: FleetContents(ranges[2], EtcdRange(), header, kills),
                declarations: FleetDeclarations(ranges[3], keys),
                plans: rollouts(ranges[4]).rollouts.map(\.plan), hosts: self.reports(reports),
                isKnown: ranges.contains { $0.count > 0 })
        }
    }
}
#endif
