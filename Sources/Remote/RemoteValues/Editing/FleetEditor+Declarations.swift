// SPDX-License-Identifier: BSD-3-Clause
#if Remote

extension FleetEditor {
    /// The number of builds kept for an application, few enough for one answer of etcd.
    package static let keptBuilds = 16
    private static let mostAttempts = 5
    /// The maximum number of applications or environments that are listed, with a request each.
    package static let mostNames = 100

    /// Reads the declarations of the published builds.
    package func declarations() async throws(FleetProblem) -> FleetDeclarations {
        let range = try await builds { query in query.limit = Self.keptBuilds }
        return FleetDeclarations(range, keys)
    }

    /// A query for the builds, newest first.
    var newestBuilds: EtcdClient.RangeQuery {
        var query = EtcdClient.RangeQuery(keys.builds)
        query.newestFirst = .modified
        return query
    }

    /// Reads the newest builds first.
    private func builds(
        _ adjust: (inout EtcdClient.RangeQuery) -> Void
    ) async throws(FleetProblem) -> EtcdRange {
        var query = newestBuilds
        adjust(&query)
        return try await onSomeMember { [query] (endpoint) throws(FetchProblem) in
            try await client.range(query, at: endpoint).0
        }
    }

    /// Publishes a build unless it is there already, and removes the oldest ones beyond ``keptBuilds``.
    ///
    /// - Returns: Whether it was new.
    package func publish(_ build: DeclaredBuild) async throws(FleetProblem) -> Bool {
        let key = keys.key(ofBuild: build.id)
        for _ in 0..<Self.mostAttempts {
            let range = try await builds { query in
                (query.isWithoutValues, query.limit) = (true, 10 * Self.keptBuilds)
            }
            let known = range.entries.filter { keys.build(of: $0.key) != nil }
            if known.contains(where: { $0.key == key }) { return false }
            var transaction = EtcdClient.Transaction()
            transaction.conditions = [(key, 0)]
            transaction.put(key, build.json())
            // One transaction has room for 128 operations.
            for old in known.dropFirst(Self.keptBuilds - 1).prefix(100) {
                transaction.conditions.append((old.key, old.modified))
                transaction.remove(old.key)
            }
            let isDone = try await onSomeMember { [transaction] (endpoint) throws(FetchProblem) in
                try await client.commit(transaction, at: endpoint).isDone
            }
            if isDone { return true }
        }
        throw .conflict("too many concurrent changes; build \(build.id) was not published")
    }

    /// Removes the build whose name has this prefix, which must be the only one.
    package func remove(build beginning: String) async throws(FleetProblem) {
        let found = try await builds { $0.isWithoutValues = true }.entries.filter {
            keys.build(of: $0.key)?.hasPrefix(beginning) == true
        }
        guard let build = found.first, found.count == 1 else {
            let problem = found.isEmpty ? "no such build" : "\(found.count) builds match; give more of the id"
            throw .impossible("\(beginning): \(problem)")
        }
        var transaction = EtcdClient.Transaction()
        transaction.remove(build.key)
        _ = try await onSomeMember { [transaction] (endpoint) throws(FetchProblem) in
            try await client.commit(transaction, at: endpoint)
        }
    }

    /// An application in etcd.
    package struct Application: Hashable, Sendable {
        package let name: String
        /// Whether a build of it is published.
        package let isDeclared: Bool
    }

    /// The applications with keys in the environment, or some of them if there are many. This editor's application comes
    /// first.
    package func applications() async throws(FleetProblem) -> [Application] {
        try await onSomeMember { (endpoint) throws(FetchProblem) in
            var names: [String] = []
            if EtcdCluster.isName(settings.name), try await hasKeys(keys.root, at: endpoint) {
                names.append(settings.name)
            }
            let root = "\(settings.cluster.prefix)/\(settings.cluster.environment)/"
            names += try await self.names(below: root, at: endpoint).filter { $0 != settings.name }
            var applications: [Application] = []
            for name in names {
                let builds = FleetKeys(EtcdSettings(name: name, cluster: settings.cluster)).builds
                applications.append(
                    Application(name: name, isDeclared: try await hasKeys(builds, at: endpoint)))
            }
            return applications
        }
    }

    /// The environment of this editor.
    package var environment: String { settings.cluster.environment }

    /// Whether the environment has keys, of any application.
    package func hasEnvironment() async throws(FleetProblem) -> Bool {
        try await onSomeMember { (endpoint) throws(FetchProblem) in
            try await hasKeys("\(settings.cluster.prefix)/\(settings.cluster.environment)/", at: endpoint)
        }
    }

    /// The environments with keys, or some of them if there are many.
    package func environments() async throws(FleetProblem) -> [String] {
        try await onSomeMember { (endpoint) throws(FetchProblem) in
            try await names(below: settings.cluster.prefix + "/", at: endpoint)
        }
    }

    /// The names of the next level below a prefix, in the order of the keys.
    private func names(below prefix: String, at endpoint: String) async throws(FetchProblem) -> [String] {
        let root = Array(prefix.utf8)
        var names: [String] = []
        var start = root
        while names.count < Self.mostNames {
            var query = EtcdClient.RangeQuery(key: start)
            (query.isWholeKey, query.end) = (false, EtcdClient.end(of: root))
            (query.limit, query.isWithoutValues) = (1, true)
            guard let key = try await client.range(query, at: endpoint).0.entries.first?.key,
                key.starts(with: root)
            else { break }
            let name = key.dropFirst(root.count).prefix { $0 != UInt8(ascii: "/") }
            let text = String(decoding: name, as: UTF8.self)
            if EtcdCluster.isName(text) { names.append(text) }
            // The keys of one name end before this.
            start = root + name + [UInt8(ascii: "/") + 1]
        }
        return names
    }

    private func hasKeys(_ prefix: String, at endpoint: String) async throws(FetchProblem) -> Bool {
        var query = EtcdClient.RangeQuery(prefix)
        (query.limit, query.isWithoutValues) = (1, true)
        return try await client.range(query, at: endpoint).0.count > 0
    }
}
#endif
