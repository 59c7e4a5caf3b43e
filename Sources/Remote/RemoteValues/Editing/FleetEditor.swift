// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import Synchronization
package import TweakFormats
internal import TweakJSON
package import TweakRecords
internal import TweakSystem

/// An error in reading or changing the values of a fleet.
package enum FleetProblem: Error {
    /// No member of the cluster answered.
    case unreachable(String)
    /// The cluster refused: permission denied, or no space left.
    case refused(String)
    /// Repeated conflicts with other writers, or the current value is not the expected one.
    case conflict(String)
    /// The request is invalid.
    case impossible(String, details: [String] = [])

    package var message: String {
        switch self {
        case .unreachable(let message), .refused(let message), .conflict(let message),
            .impossible(let message, details: _):
            message
        }
    }

    /// Further lines below the message.
    package var details: [String] {
        if case .impossible(_, details: let details) = self { details } else { [] }
    }
}

/// A recorded change.
package struct FleetChange: Hashable, Sendable {
    /// The first change of an application is 1.
    package let number: Int
    package let revision: Int
    /// The author, followed by the name in parentheses that somebody typed, if any.
    package let by: String
    package let why: String?
    /// The time, in the format of RFC 3339.
    package let at: String
    package private(set) var parts: [Part]
    /// Distinguishes it from a failed attempt with the same number.
    let id: String

    /// The change of one tweak.
    package struct Part: Hashable, Sendable {
        package let tweak: TweakKey
        /// Whether the value is above all others.
        package var isKill = false
        /// `nil` if there was no value, or an invalid one.
        package fileprivate(set) var old: FleetValue?
        package let new: FleetValue?
        /// The revision of the old value; `nil` if there was none, or if an earlier version of `tweak` recorded the
        /// change.
        package var oldRevision: Int?
        /// The reason why the old value was invalid.
        package var oldProblem: String?
    }

    init(
        number: Int, revision: Int, by: String, why: String?, at: String, parts: [Part], id: String
    ) {
        (self.number, self.revision, self.by, self.why, self.at) = (number, revision, by, why, at)
        (self.parts, self.id) = (parts, id)
    }

    /// The change with the revision that made it.
    func made(at revision: Int) -> FleetChange {
        FleetChange(number: number, revision: revision, by: by, why: why, at: at, parts: parts, id: id)
    }

    /// Parses an entry of etcd.
    init(_ entry: EtcdEntry, number: Int) throws(FormatError) {
        let path = "change \(number)"
        guard entry.created == entry.modified else {
            throw .malformed(
                path: path, reason: "somebody has changed its record at revision \(entry.modified)")
        }
        let value = try JSONParser.value(of: entry.value, at: path)
        var members = try Members(value, JSONPlace(path: path))
        id = try members.anyText("id") ?? ""
        by = try members.anyText("by") ?? ""
        why = try members.anyText("why")
        at = try members.anyText("at") ?? ""
        let values = try members.array("changes", "an array") { (place, value) throws(FormatError) in
            try Self.part(value, place, isKill: false)
        }
        let kills = try members.arrayIfPresent("kills", "an array") { (place, value) throws(FormatError) in
            try Self.part(value, place, isKill: true)
        }
        parts = values + (kills ?? [])
        (self.number, revision) = (number, entry.modified)
    }

    private static func part(
        _ value: JSONValue, _ place: JSONPlace<FormatError>, isKill: Bool
    ) throws(FormatError) -> Part {
        var change = try Members(value, place)
        let tweak = try change.tweak("tweak")
        return Part(
            tweak: tweak, isKill: isKill, old: try content("old", of: tweak, &change),
            new: try content("new", of: tweak, &change),
            oldRevision: try change.integer("oldRevision", EtcdHeader.revisions),
            oldProblem: try change.anyText("oldProblem"))
    }

    private static func content(
        _ name: String, of tweak: TweakKey, _ members: inout Members
    ) throws(FormatError) -> FleetValue? {
        guard let value = try members.take(name, { $1 }), value != .null else { return nil }
        return try FleetValue(json: value.json(), of: tweak)
    }

    func json() -> [UInt8] {
        var members: JSONObject = [
            "id": .scalar(.string(id)), "by": .scalar(.string(by)), "at": .scalar(.string(at)),
            "changes": .array(Self.json(of: parts.filter { !$0.isKill })),
        ]
        // Versions that do not know kills read the others, and so never roll back to one.
        let kills = parts.filter(\.isKill)
        if !kills.isEmpty { members["kills"] = .array(Self.json(of: kills)) }
        if let why { members["why"] = .scalar(.string(why)) }
        return JSONValue.object(members).json()
    }

    private static func json(of parts: [Part]) -> [JSONValue] {
        parts.map { part in
            var members: JSONObject = [
                "tweak": .scalar(.string(part.tweak.description)),
                "old": part.old.map { .object($0.content) } ?? .null,
                "new": part.new.map { .object($0.content) } ?? .null,
            ]
            if let revision = part.oldRevision {
                members["oldRevision"] = .scalar(.integer(Int128(revision)))
            }
            if let problem = part.oldProblem { members["oldProblem"] = .scalar(.string(problem)) }
            return JSONValue.object(members)
        }
    }
}

/// The content of an application in etcd.
package struct FleetContents: Sendable {
    /// The revision of etcd, which other applications and the reports of hosts advance, too.
    package let revision: Int
    /// The revision of the newest change; 0 if there is none. Values that were removed without `tweak fleet` left no trace.
    package let newestRevision: Int
    /// Sorted by name.
    package let values: [(tweak: TweakKey, value: Result<FleetValue, FormatError>, revision: Int)]
    /// Messages about foreign or unreadable keys among those read.
    package let strangers: [String]
    /// The number of the newest change; 0 if there is none.
    let lastChange: Int
    /// The number of the next change. Foreign keys are left alone.
    package let nextChange: Int
    /// Oldest first; only those that were requested.
    package let changes: [FleetChange]
    private let places: [TweakKey: Int]
    /// Whether the newest keys of the history suffice for ``nextChange``: they are not all foreign.
    var isNumbered: Bool { lastChange > 0 || strangers.isEmpty }

    /// The value of a tweak and its revision.
    package subscript(tweak: TweakKey) -> (value: Result<FleetValue, FormatError>, revision: Int)? {
        places[tweak].map { (values[$0].value, values[$0].revision) }
    }

    /// - Parameter isWithChanges: Whether the history includes its values.
    init(
        _ values: EtcdRange, _ history: EtcdRange, _ header: EtcdHeader, _ keys: FleetKeys,
        isWithChanges: Bool = false
    ) {
        var found: [(tweak: TweakKey, value: Result<FleetValue, FormatError>, revision: Int)] = []
        var strangers: [String] = []
        func pass(over entry: EtcdEntry, _ reason: String) {
            strangers.append("\(String(decoding: entry.key, as: UTF8.self)): \(reason)")
        }
        for entry in values.entries {
            guard let tweak = keys.tweak(of: entry.key) else {
                pass(over: entry, "this is not the name of a tweak")
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
        places = Dictionary(self.values.enumerated().map { ($1.tweak, $0) }) { first, _ in first }
        revision = header.revision
        var newest = found.map(\.revision).max() ?? 0
        var (last, changes): (Int, [FleetChange]) = (0, [])
        for entry in history.entries {
            guard let number = keys.number(ofChange: entry) else {
                pass(over: entry, "this is not the number of a change, and is left out")
                continue
            }
            (last, newest) = (max(last, number), max(newest, entry.modified))
            guard isWithChanges else { continue }
            // A corrupt record is only a problem for a rollback.
            do throws(FormatError) { changes.append(try FleetChange(entry, number: number)) } catch {
                pass(over: entry, "\(error)")
            }
        }
        let taken = Set(history.entries.compactMap { keys.place(ofChange: $0.key) })
        (lastChange, newestRevision) = (last, newest)
        var next = last + 1
        while taken.contains(next) { next += 1 }
        nextChange = next
        self.changes = changes.sorted { $0.number < $1.number }
        self.strangers = strangers
    }
}

/// Reads and changes the values of an application in etcd.
///
/// Each change is one transaction, which also records the author, time and reason under a number one higher than that
/// of the change before. So of two concurrent changes one fails, reads again and retries.
package struct FleetEditor: Sendable {
    private let resources: SharedResources
    let client: EtcdClient
    var members: EtcdEndpoints { client.members }
    let keys: FleetKeys
    let settings: EtcdSettings
    private let whenWaiting: @Sendable (String) -> Void
    /// Distinguishes changes from failed attempts with the same number.
    static var newID: String { String(UInt64.random(in: 0...UInt64.max), radix: 36) }

    /// The number of changes kept for an application.
    package static let keptChanges = 1000
    /// The default limit of operations in a transaction; two are for the history.
    private static let mostParts = 126
    private static let mostAttempts = 30
    /// The pauses between two requests to the same members, doubled each time.
    private static let (firstPause, longestPause): (Duration, Duration) = (
        .milliseconds(50), .milliseconds(500)
    )
    /// The time without an answer after which people are told; an election is usually shorter.
    private static let quietTime: Duration = .seconds(2)

    /// - Parameters:
    ///   - place: The kind of values to read and change. All kinds share the history.
    ///   - resources: Shared with others, or of its own.
    ///   - whenWaiting: Called with the problem while no member has answered for two seconds, at every further attempt.
    /// - Throws: ``FetchProblem`` if the certificates cannot be used.
    package init(
        _ settings: EtcdSettings, _ place: FleetPlace = .values,
        sharing resources: SharedResources = SharedResources(),
        whenWaiting: @escaping @Sendable (String) -> Void = { _ in }
    ) throws(FetchProblem) {
        (self.settings, self.resources, self.whenWaiting) = (settings, resources, whenWaiting)
        client = try resources.etcd(settings.cluster)
        keys = FleetKeys(settings, place)
    }

    /// The user that etcd knows us as; `nil` if it asks for none.
    package var user: String? { settings.cluster.user }

    /// Closes all connections.
    package func end() async { await resources.end() }

    /// Reads the content at one revision.
    ///
    /// - Parameter isWithHistory: Whether to include all kept changes.
    package func contents(isWithHistory: Bool = false) async throws(FleetProblem) -> FleetContents {
        try await onSomeMember { (endpoint) throws(FetchProblem) in
            var history = EtcdClient.RangeQuery(keys.history)
            if isWithHistory { return try await contents(history, isWithChanges: true, at: endpoint) }
            history.isWithoutValues = true
            let contents = try await contents(keys.newestChanges, at: endpoint)
            if contents.isNumbered { return contents }
            return try await self.contents(history, at: endpoint)
        }
    }

    private func contents(
        _ history: EtcdClient.RangeQuery, isWithChanges: Bool = false, at endpoint: String
    ) async throws(FetchProblem) -> FleetContents {
        let (ranges, header) = try await client.ranges(
            [EtcdClient.RangeQuery(keys.values), history], at: endpoint)
        return FleetContents(ranges[0], ranges[1], header, keys, isWithChanges: isWithChanges)
    }

    /// Reads the content at a past revision, without history; `nil` if etcd no longer has it.
    package func contents(at revision: Int) async throws(FleetProblem) -> FleetContents? {
        guard revision > 0 else { return nil }
        return try await onSomeMember { (endpoint) throws(FetchProblem) in
            var query = EtcdClient.RangeQuery(keys.values)
            query.revision = revision
            do throws(FetchProblem) {
                let (range, header) = try await client.range(query, at: endpoint)
                return FleetContents(range, EtcdRange(), header, keys)
            } catch {
                guard error.isRevisionMissing else { throw error }
                return nil
            }
        }
    }

    /// Tries one member after the other, and all again until the timeout of a request has passed: while a leader is
    /// elected, no member answers.
    ///
    /// - Parameters:
    ///   - time: The time for further attempts; `nil` for the timeout of a request.
    ///   - body: Called with the address of a member, perhaps several times, also after an answer was lost.
    /// - Throws: ``FleetProblem`` with the last error of each member, at once if a member refuses, or if no error can
    ///   pass by itself.
    func onSomeMember<Result>(
        within time: Duration? = nil, _ body: (String) async throws(FetchProblem) -> Result
    ) async throws(FleetProblem) -> Result {
        let start = ContinuousClock.now
        let timeout = time ?? settings.cluster.timeout
        var pause = Self.firstPause
        while true {
            var problems: [(member: String, problem: FetchProblem)] = []
            for _ in 0..<members.count {
                let endpoint = members.current
                do throws(FetchProblem) { return try await body(endpoint) } catch {
                    if error.isRefusal { throw .refused("\(endpoint): \(error.message)") }
                    problems.append((endpoint, error))
                    members.moveOn()
                }
            }
            let canPass = problems.contains { !$0.problem.isLasting }
            let message = Self.message(of: problems)
            let spent = start.duration(to: .now)
            guard canPass, !Task.isCancelled, spent + pause < timeout else {
                throw .unreachable(canPass ? "\(message); tried for \(timeout)" : message)
            }
            if spent >= Self.quietTime { whenWaiting("\(message); trying for \(timeout)") }
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, Self.longestPause)
        }
    }

    /// The problems of all members.
    private static func message(of problems: [(member: String, problem: FetchProblem)]) -> String {
        let each = problems.map { "\($0.member): \($0.problem.message)" }
        let several = each.count > 1 ? "none of \(each.count) members answers; " : ""
        return several + each.joined(separator: "; ")
    }

    /// Changes values.
    ///
    /// - Parameters:
    ///   - by: The author.
    ///   - isWithHistory: Whether `make` needs the recorded changes.
    ///   - isDryRun: Whether to change nothing.
    ///   - known: The content as it was a moment ago, without the recorded changes; read if `nil`.
    ///   - make: Returns the new value of each tweak; `nil` removes it. Called again after a conflict.
    /// - Returns: The recorded change; `nil` if there was nothing to change. In a dry run, the change that would be
    ///   recorded, with the revision of the one before it, or of etcd if there is none.
    package func change(
        by: String, why: String?, isWithHistory: Bool = false, isDryRun: Bool = false,
        known: FleetContents? = nil, _ make: (FleetContents) throws(FleetProblem) -> [TweakKey: FleetValue?]
    ) async throws(FleetProblem) -> FleetChange? {
        let id = Self.newID
        // An attempt whose response was lost may have succeeded, and may still do so after the next read.
        var isUncertain = false
        var problem = FleetProblem.conflict("too many concurrent changes; nothing was changed")
        for attempt in 0..<Self.mostAttempts {
            if attempt > 0 { try? await Task.sleep(for: .milliseconds(Int.random(in: 0...(10 * attempt)))) }
            let contents: FleetContents
            do throws(FleetProblem) {
                contents =
                    if attempt == 0, !isWithHistory, let known { known } else {
                        try await self.contents(isWithHistory: isWithHistory || isUncertain)
                    }
            } catch {
                guard isUncertain, case .unreachable(let message) = error else { throw error }
                throw .unreachable(Self.uncertain(message))
            }
            if isUncertain, let done = contents.changes.first(where: { $0.id == id }) { return done }
            let wanted = try make(contents)
            guard !wanted.isEmpty else { return nil }
            guard wanted.count <= Self.mostParts else {
                throw .impossible(
                    "\(wanted.count) tweaks would change, and one transaction has room for \(Self.mostParts)")
            }
            let change = change(wanted, contents, by, why, id)
            if isDryRun {
                return change.made(
                    at: contents.newestRevision > 0 ? contents.newestRevision : contents.revision)
            }
            let transaction = transaction(change, wanted, contents)
            do throws(FetchProblem) {
                let (isDone, header) = try await client.commit(transaction, at: members.current)
                if isDone { return change.made(at: header.revision) }
            } catch {
                let message = "\(members.current): \(error.message)"
                if error.isRefusal { throw .refused(message) }
                members.moveOn()
                isUncertain = true
                problem = .unreachable(Self.uncertain(message))
            }
        }
        throw problem
    }

    /// The message about a change whose response was lost.
    static func uncertain(_ message: String) -> String {
        "\(message); the change may or may not have been made"
    }

    /// The record of a change that has no revision yet.
    func change(
        _ wanted: [TweakKey: FleetValue?], _ contents: FleetContents, _ by: String, _ why: String?,
        _ id: String
    ) -> FleetChange {
        let parts = wanted.map { tweak, value in
            var part = FleetChange.Part(tweak: tweak, isKill: keys.place == .kills, old: nil, new: value)
            guard let old = contents[tweak] else { return part }
            part.oldRevision = old.revision
            switch old.value {
            case .success(let value): part.old = value
            case .failure(let error): part.oldProblem = "\(error)"
            }
            return part
        }
        return FleetChange(
            number: contents.nextChange, revision: 0, by: by, why: why, at: timestamp(.since1970),
            parts: parts.sorted { $0.tweak.description < $1.tweak.description }, id: id)
    }

    /// The transaction that makes a change, unless somebody else has made one.
    func transaction(
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
            transaction.remove(keys.key(ofChange: change.number - Self.keptChanges))
        }
        return transaction
    }

    // MARK: - Rollback

    /// Computes the changes that restore a revision.
    ///
    /// - Parameters:
    ///   - tweak: The tweak to restore; `nil` for the whole application.
    ///   - then: The content of etcd at the revision; `nil` if it is not available, so that the history is used. That
    ///     lacks values written without `tweak fleet`.
    package static func rollback(
        to revision: Int, of tweak: TweakKey?, _ contents: FleetContents, _ then: FleetContents?
    ) throws(FleetProblem) -> [TweakKey: FleetValue?] {
        guard revision > 0, revision <= contents.revision else {
            throw .impossible("no revision \(revision) yet; the newest is \(contents.revision)")
        }
        let past: Past
        if let then {
            past = .contents(then)
        } else {
            past = .history(try History(of: contents, since: revision))
        }
        var unknown: [String] = []
        var wanted: [TweakKey: FleetValue?] = [:]
        for key in Set(contents.values.map(\.tweak)).union(past.tweaks) where tweak == nil || tweak == key {
            let now = contents[key]
            switch past.state(of: key, now: now?.revision) {
            case .same: break
            case .unknown(let reason): unknown.append("\(key): \(reason)")
            case .had(let value):
                let content = now.flatMap { try? $0.value.get() }?.content
                if content != value?.content || (content == nil && now != nil) { wanted[key] = .some(value) }
            }
        }
        guard unknown.isEmpty else {
            throw .impossible(
                "the values at revision \(revision) are not completely known; nothing was changed; "
                    + unknown.sorted().joined(separator: "; "))
        }
        return wanted
    }

    /// The source for the content at a revision.
    private enum Past {
        case contents(FleetContents)
        case history(History)

        /// The former state of a tweak.
        enum State {
            case same
            case had(FleetValue?)
            case unknown(String)
        }

        /// The tweaks whose values may have been different.
        var tweaks: [TweakKey] {
            switch self {
            case .contents(let contents): contents.values.map(\.tweak)
            case .history(let history): Array(history.next.keys) + history.last.keys
            }
        }

        /// - Parameter revision: The revision of the current value; `nil` if there is none.
        func state(of tweak: TweakKey, now revision: Int?) -> State {
            switch self {
            case .history(let history): return history.state(of: tweak, now: revision)
            case .contents(let contents):
                guard let found = contents[tweak] else { return .had(nil) }
                guard found.revision != revision else { return .same }
                switch found.value {
                case .success(let value): return .had(value)
                case .failure(let error): return .unknown("it had no value: \(error)")
                }
            }
        }
    }

    /// The recorded changes before and after a revision.
    private struct History {
        let revision: Int
        /// The last change of each tweak up to the revision, and the first one after it.
        private(set) var last: [TweakKey: (change: Int, part: FleetChange.Part)] = [:]
        private(set) var next: [TweakKey: FleetChange.Part] = [:]

        /// - Throws: ``FleetProblem`` if a change after the revision is no longer recorded.
        init(of contents: FleetContents, since revision: Int) throws(FleetProblem) {
            self.revision = revision
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
            for change in contents.changes {
                for part in change.parts where !part.isKill {
                    if change.revision <= revision {
                        last[part.tweak] = (change.revision, part)
                    } else if next[part.tweak] == nil {
                        next[part.tweak] = part
                    }
                }
            }
        }

        /// A tweak's value before its next change, or the current one, unless it was written without `tweak fleet`.
        func state(of tweak: TweakKey, now: Int?) -> Past.State {
            let next = next[tweak]
            let written = next == nil ? now : next?.oldRevision
            if let written, written > revision {
                return .unknown("it was changed without tweak fleet at revision \(written)")
            }
            let isThere = next.map { $0.old != nil || $0.oldProblem != nil } ?? (now != nil)
            if !isThere, let last = last[tweak], last.part.new != nil {
                return .unknown("it was removed without tweak fleet after revision \(last.change)")
            }
            guard let next else { return .same }
            if let problem = next.oldProblem { return .unknown("it had no value: \(problem)") }
            return .had(next.old)
        }
    }

    // MARK: - Watching

    /// Reports changes as they are made, until the task is cancelled.
    ///
    /// - Parameters:
    ///   - revision: The revision after which to start.
    ///   - change: Called with each change.
    ///   - problem: Called with errors; watching continues.
    package func watch(
        after revision: Int, _ change: (FleetChange) -> Void, problem: (String) -> Void
    ) async {
        func tell(_ entry: EtcdEntry) {
            guard let number = keys.number(ofChange: entry) else { return }
            do throws(FormatError) { change(try FleetChange(entry, number: number)) } catch {
                problem("\(error)")
            }
        }
        var (revision, isSaid) = (revision, false)
        var schedule = CheckSchedule(interval: .seconds(1))
        while !Task.isCancelled {
            let endpoint = members.current
            let start = ContinuousClock.now
            do throws(FetchProblem) {
                // Reads the compacted changes, which a watch no longer reports.
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
                members.moveOn()
            }
            if start.duration(to: .now) > .seconds(10) { _ = schedule.succeeded() }
            try? await Task.sleep(for: min(schedule.failed(), .seconds(5)))
        }
    }
}
#endif
