#if Remote
internal import Synchronization
package import TweakFormats
internal import TweakJSON
package import TweakRecords
internal import TweakSystem

/// Why the values of a fleet could not be read or changed.
package enum FleetProblem: Error {
    /// No member of the cluster has answered.
    case unreachable(String)
    /// The cluster does not want to: we may not, or it is full.
    case refused(String)
    /// Somebody else was faster, again and again, or there is not what was expected.
    case conflict(String)
    /// It makes no sense.
    case impossible(String)

    package var message: String {
        switch self {
        case .unreachable(let message), .refused(let message), .conflict(let message),
            .impossible(let message):
            message
        }
    }
}

/// A change that was made.
package struct FleetChange: Hashable, Sendable {
    /// The first change of an application is 1.
    package let number: Int
    package let revision: Int
    package let by: String
    package let why: String?
    /// As RFC 3339 has times.
    package let at: String
    package let parts: [Part]
    /// What makes it different from another one with the same number that was not made.
    let id: String

    /// What has become of one tweak.
    package struct Part: Hashable, Sendable {
        package let tweak: TweakKey
        /// `nil` if it had none, or something that is none.
        package let old: FleetValue?
        package let new: FleetValue?
    }

    init(
        number: Int, revision: Int, by: String, why: String?, at: String, parts: [Part], id: String
    ) {
        (self.number, self.revision, self.by, self.why, self.at) = (number, revision, by, why, at)
        (self.parts, self.id) = (parts, id)
    }

    /// Reads what is in etcd.
    init(_ entry: EtcdEntry, number: Int) throws(FormatError) {
        let path = "change \(number)"
        let value: JSONValue
        do throws(JSONError) { value = try JSONParser.value(of: entry.value) } catch {
            throw .malformed(path: path, reason: error.reason)
        }
        var members = try Members(value, path: path, place: [])
        id = try members.anyText("id") ?? ""
        by = try members.anyText("by") ?? ""
        why = try members.anyText("why")
        at = try members.anyText("at") ?? ""
        var parts: [Part] = []
        for (index, element) in try members.array("changes", "an array").enumerated() {
            var change = try Members(element, path: path, place: ["changes", "\(index)"])
            let tweak = try change.take("tweak", "the name of a tweak") {
                if case .scalar(.string(let text)) = $0 { TweakKey(text) } else { nil }
            }
            let key = try change.required("tweak", tweak, "the name of a tweak")
            parts.append(
                Part(
                    tweak: key, old: try Self.content("old", of: key, &change),
                    new: try Self.content("new", of: key, &change)))
        }
        self.parts = parts
        (self.number, revision) = (number, entry.modified)
    }

    private static func content(
        _ name: String, of tweak: TweakKey, _ members: inout Members
    ) throws(FormatError) -> FleetValue? {
        guard let value = try members.take(name, "an object", { $0 }), value != .null else { return nil }
        return try FleetValue(json: value.json(), of: tweak)
    }

    func json() -> [UInt8] {
        let changes = parts.map { part in
            JSONValue.object([
                "tweak": .scalar(.string(part.tweak.description)),
                "old": part.old.map { .object($0.content) } ?? .null,
                "new": part.new.map { .object($0.content) } ?? .null,
            ])
        }
        var members: JSONObject = [
            "id": .scalar(.string(id)), "by": .scalar(.string(by)), "at": .scalar(.string(at)),
            "changes": .array(changes),
        ]
        if let why { members["why"] = .scalar(.string(why)) }
        return JSONValue.object(members).json()
    }
}

/// What an application has in etcd.
package struct FleetContents: Sendable {
    package let revision: Int
    /// In the order of their names.
    package let values: [(tweak: TweakKey, value: Result<FleetValue, FormatError>, revision: Int)]
    /// Keys that are not names of tweaks.
    package let strangers: [String]
    /// The newest one, 0 if there was none.
    let lastChange: Int
    /// From the first to the last; only what was asked for.
    package let changes: [FleetChange]

    /// What a tweak has.
    package subscript(tweak: TweakKey) -> (value: Result<FleetValue, FormatError>, revision: Int)? {
        values.first { $0.tweak == tweak }.map { ($0.value, $0.revision) }
    }

    init(
        _ values: EtcdRange, _ history: EtcdRange, _ header: EtcdHeader, _ keys: FleetKeys
    ) {
        var found: [(tweak: TweakKey, value: Result<FleetValue, FormatError>, revision: Int)] = []
        var strangers: [String] = []
        for entry in values.entries {
            guard let tweak = keys.tweak(of: entry.key) else {
                strangers.append(String(decoding: entry.key, as: UTF8.self))
                continue
            }
            do throws(FormatError) {
                found.append((tweak, .success(try FleetValue(json: entry.value, of: tweak)), entry.modified))
            } catch {
                found.append((tweak, .failure(error), entry.modified))
            }
        }
        self.values = found.sorted {
            $0.tweak.description.utf8.lexicographicallyPrecedes($1.tweak.description.utf8)
        }
        self.strangers = strangers
        revision = header.revision
        // One that is damaged is not missed, unless something has to be undone.
        let numbered = history.entries.compactMap { entry in
            keys.number(ofChange: entry.key).map { (number: $0, entry: entry) }
        }
        lastChange = numbered.map(\.number).max() ?? 0
        changes = numbered.compactMap { try? FleetChange($0.entry, number: $0.number) }
            .sorted { $0.number < $1.number }
    }
}

/// Reads and changes the values of an application in etcd.
///
/// Each change is one transaction, which also writes who has made it, when and why, under a number that is one more than that
/// of the change before. So of two changes at the same time one fails, looks again and tries again.
package struct FleetEditor: Sendable {
    private let client: EtcdClient
    private let endpoints: [String]
    private let preferred = Preferred()
    private let keys: FleetKeys

    /// The member that has answered last, which is asked first.
    private final class Preferred: Sendable {
        let index = Atomic(0)
    }

    /// How many changes of an application are kept.
    package static let keptChanges = 1000
    /// As many operations a transaction has if etcd was not told otherwise; two of them are for the history.
    private static let mostParts = 126
    private static let mostAttempts = 30

    /// - Throws: ``FetchProblem`` if what it needs cannot be used.
    package init(_ application: FleetApplication) throws(FetchProblem) {
        client = try EtcdClient(application.cluster)
        endpoints = application.cluster.endpoints.shuffled()
        keys = FleetKeys(application)
    }

    /// Closes what is open.
    package func end() async { await client.end() }

    /// What there is, at one moment.
    ///
    /// - Parameter isWithHistory: Whether all changes that are kept are wanted.
    package func contents(isWithHistory: Bool = false) async throws(FleetProblem) -> FleetContents {
        try await onSomeMember { (endpoint) throws(FetchProblem) in
            let (ranges, header) = try await client.ranges(
                [EtcdClient.RangeQuery(keys.values), history(isWhole: isWithHistory)], at: endpoint)
            return FleetContents(ranges[0], ranges[1], header, keys)
        }
    }

    private func history(isWhole: Bool) -> EtcdClient.RangeQuery {
        var query = EtcdClient.RangeQuery(keys.history)
        query.newestFirst = .key
        if !isWhole { query.limit = 1 }
        return query
    }

    /// Asks one member after the other.
    private func onSomeMember<Result>(
        _ body: (String) async throws(FetchProblem) -> Result
    ) async throws(FleetProblem) -> Result {
        var problem = "there is no member"
        for _ in endpoints {
            let endpoint = endpoint
            do throws(FetchProblem) { return try await body(endpoint) } catch {
                problem = "\(endpoint): \(error.message)"
                if error.isRefusal { throw .refused(problem) }
                preferNext()
            }
        }
        throw .unreachable(problem)
    }

    private var endpoint: String { endpoints[preferred.index.load(ordering: .relaxed) % endpoints.count] }

    private func preferNext() {
        let index = preferred.index.load(ordering: .relaxed)
        preferred.index.store((index + 1) % endpoints.count, ordering: .relaxed)
    }

    /// Changes values.
    ///
    /// - Parameters:
    ///   - by: Who does it.
    ///   - isWithHistory: Whether `make` looks at the changes that were made.
    ///   - make: Says what each tweak is to have; `nil` for nothing. It is called again if somebody else was faster.
    /// - Returns: What was done; `nil` if nothing had to be done.
    package func change(
        by: String, why: String?, isWithHistory: Bool = false,
        _ make: (FleetContents) throws(FleetProblem) -> [TweakKey: FleetValue?]
    ) async throws(FleetProblem) -> FleetChange? {
        let id = String(UInt64.random(in: 0...UInt64.max), radix: 36)
        var attempted: Int?
        var problem = FleetProblem.conflict("others change it all the time; nothing was changed")
        for attempt in 0..<Self.mostAttempts {
            if attempt > 0 { try? await Task.sleep(for: .milliseconds(Int.random(in: 0...(10 * attempt)))) }
            let contents = try await contents(isWithHistory: isWithHistory || attempted != nil)
            // An attempt whose answer was lost may have been made.
            if let attempted,
                let done = contents.changes.first(where: { $0.number == attempted && $0.id == id })
            {
                return done
            }
            let wanted = try make(contents)
            guard !wanted.isEmpty else { return nil }
            guard wanted.count <= Self.mostParts else {
                throw .impossible(
                    "\(wanted.count) tweaks would change, and one transaction has room for \(Self.mostParts)")
            }
            let change = change(wanted, contents, by, why, id)
            let transaction = transaction(change, wanted, contents)
            do throws(FetchProblem) {
                let (isDone, header) = try await client.commit(transaction, at: endpoint)
                if isDone {
                    return FleetChange(
                        number: change.number, revision: header.revision, by: by, why: why, at: change.at,
                        parts: change.parts, id: id)
                }
                attempted = nil
            } catch {
                let message = "\(endpoint): \(error.message)"
                if error.isRefusal { throw .refused(message) }
                preferNext()
                attempted = change.number
                problem = .unreachable("\(message); it is not known whether it was changed")
            }
        }
        throw problem
    }

    private func change(
        _ wanted: [TweakKey: FleetValue?], _ contents: FleetContents, _ by: String, _ why: String?,
        _ id: String
    ) -> FleetChange {
        let parts = wanted.map { tweak, value in
            FleetChange.Part(tweak: tweak, old: contents[tweak].flatMap { try? $0.value.get() }, new: value)
        }
        return FleetChange(
            number: contents.lastChange + 1, revision: 0, by: by, why: why, at: timestamp(.since1970),
            parts: parts.sorted { $0.tweak.description < $1.tweak.description }, id: id)
    }

    private func transaction(
        _ change: FleetChange, _ wanted: [TweakKey: FleetValue?], _ contents: FleetContents
    ) -> EtcdClient.Transaction {
        let record = keys.key(ofChange: change.number)
        var transaction = EtcdClient.Transaction()
        transaction.conditions = [(record, 0)]
        transaction.put(record, change.json())
        for (tweak, value) in wanted {
            let key = keys.key(of: tweak)
            transaction.conditions.append((key, contents[tweak]?.revision ?? 0))
            if var value {
                (value.by, value.why, value.at) = (change.by, change.why, change.at)
                transaction.put(key, value.json())
            } else {
                transaction.remove(key)
            }
        }
        if change.number > Self.keptChanges {
            transaction.remove(
                keys.key(ofChange: 0), to: keys.key(ofChange: change.number - Self.keptChanges + 1))
        }
        return transaction
    }

    /// What has to be changed so that everything is as it was at a revision.
    ///
    /// - Parameter tweak: Only this one; `nil` for all of the application.
    package static func rollback(
        to revision: Int, of tweak: TweakKey?, _ contents: FleetContents
    ) throws(FleetProblem) -> [TweakKey: FleetValue?] {
        guard revision > 0, revision <= contents.revision else {
            throw .impossible("there is no revision \(revision) yet; this is \(contents.revision)")
        }
        let newer = contents.changes.filter { $0.revision > revision }
        let first = newer.first?.number ?? contents.lastChange + 1
        guard newer.count == contents.lastChange - first + 1,
            first == 1 || contents.changes.contains(where: { $0.number == first - 1 })
        else {
            let oldest = contents.changes.first.map { "\($0.revision)" } ?? "none"
            throw .impossible(
                "not all changes since revision \(revision) are known; the oldest one that is kept is of \(oldest)"
            )
        }
        var wanted: [TweakKey: FleetValue?] = [:]
        for change in newer.reversed() {
            for part in change.parts where tweak == nil || tweak == part.tweak {
                wanted[part.tweak] = .some(part.old)
            }
        }
        return wanted.filter { tweak, value in
            let now = contents[tweak].flatMap { try? $0.value.get() }
            return now?.content != value?.content || (now == nil && contents[tweak] != nil)
        }
    }

    // MARK: - Watching

    /// Has changes told as they are made, until the task is cancelled.
    ///
    /// - Parameters:
    ///   - revision: Those behind it.
    ///   - change: Is called with each.
    ///   - problem: Is told of what goes wrong; it goes on.
    package func watch(
        after revision: Int, _ change: (FleetChange) -> Void, problem: (String) -> Void
    ) async {
        func tell(_ entry: EtcdEntry) {
            guard let number = keys.number(ofChange: entry.key) else { return }
            do throws(FormatError) { change(try FleetChange(entry, number: number)) } catch {
                problem("\(error)")
            }
        }
        var (revision, isSaid) = (revision, false)
        var schedule = CheckSchedule(interval: .seconds(1))
        while !Task.isCancelled {
            let endpoint = endpoint
            let start = ContinuousClock.now
            do throws(FetchProblem) {
                // What a watch does not tell any more, since it was compacted away.
                var query = EtcdClient.RangeQuery(keys.history)
                query.modifiedFrom = revision + 1
                let (missed, header) = try await client.range(query, at: endpoint)
                for entry in missed.entries.sorted(by: { $0.modified < $1.modified }) { tell(entry) }
                revision = max(revision, header.revision)
                isSaid = false
                try await client.watch(keys.history, from: revision + 1, at: endpoint) {
                    (messages) throws(FetchProblem) in
                    for case .changes(let changes, let header) in messages {
                        for next in changes where !next.isGone && next.entry.modified > revision {
                            tell(next.entry)
                        }
                        revision = max(revision, changes.last?.entry.modified ?? header.revision)
                    }
                }
            } catch {
                if Task.isCancelled { return }
                if !isSaid { problem("\(endpoint): \(error.message)") }
                isSaid = true
                preferNext()
            }
            if start.duration(to: .now) > .seconds(10) { _ = schedule.succeeded() }
            try? await Task.sleep(for: min(schedule.failed(), .seconds(5)))
        }
    }
}
#endif
