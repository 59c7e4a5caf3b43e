#if Remote
internal import TweakFormats
internal import TweakJSON
internal import TweakOverrides
internal import TweakRecords
internal import TweakSystem
internal import TweakTargeting

/// What is known of one application's values in etcd, and what its programs are told.
///
/// It goes forward: what is older than what is known is not believed until most members have said so for a while. What was
/// believed once stays until something better is there, each value by itself. A change costs what it changes.
struct FleetState: Sendable {
    private let application: FleetApplication
    private let keys: FleetKeys
    /// What the programs are told.
    private(set) var file: ProvidedFile
    /// All changes up to it are known; 0 if nothing is.
    private(set) var revision = 0
    private var cluster: UInt64?
    private var entries: [[UInt8]: Entry] = [:]
    /// Why and since when nothing could be read; `nil` while it works.
    private var failure: LastingFailure?
    /// Whether it could not be read because most members know only what is older.
    private var isOlder = false

    /// What etcd has under one key.
    private struct Entry {
        let modified: Int
        let content: Content
    }

    private enum Content {
        case value(TweakKey, FleetValue, FeatureTarget?)
        /// Something else, and what the tweak, if it is one, had before.
        case unusable(TweakKey?, problem: String, before: JSONValue?)
    }

    /// Begins with what an earlier agent has left.
    init(_ application: FleetApplication, last: ProvidedFile?) {
        self.application = application
        keys = FleetKeys(application)
        file = last ?? ProvidedFile()
        guard let problem = file.problem else { return }
        // A cluster that was away is still away if the agent begins anew.
        failure = LastingFailure(text: problem)
        isOlder = problem.contains(Self.older)
    }

    private static let older = "what is older is not believed"

    /// How many keys there are.
    var count: Int { entries.count }

    /// Takes everything that is there.
    ///
    /// - Returns: What to tell a person.
    /// - Throws: ``FetchProblem`` if it is older than what is known, or cannot be.
    mutating func take(
        _ range: EtcdRange, _ header: EtcdHeader, facts: HostFacts, at time: Duration = .since1970
    ) throws(FetchProblem) -> [String] {
        if let early = range.entries.first(where: { $0.modified > header.revision }) {
            throw FetchProblem(
                message: "it has a key of revision \(early.modified), and its own is \(header.revision)")
        }
        var messages: [String] = []
        let origin = "etcd \(String(header.cluster, radix: 16)) \(keys.root)"
        if cluster == nil {
            if let from = file.from, !from.hasSameBytes(as: origin) {
                messages.append("its values are from \(origin) now, and were from \(from)")
            } else {
                revision = min(max(0, file.version ?? 0), EtcdHeader.revisions.upperBound)
            }
        } else if cluster != header.cluster {
            messages.append("this is another cluster; its values are from \(origin) now")
            revision = 0
        }
        var isSame = cluster == header.cluster
        if header.revision < revision {
            guard isOlderBelieved(at: time) else {
                throw FetchProblem(
                    message:
                        "its revision is \(header.revision), and \(revision) is known; \(Self.older) before most "
                        + "members have said so for \(application.cluster.interval)",
                    isOlder: true)
            }
            messages.append(
                "etcd has gone back from revision \(revision) to \(header.revision), as after the restoration of a "
                    + "backup; its values are taken")
            isSame = false
        }
        let before = entries
        entries = [:]
        for entry in range.entries {
            if isSame, let known = before[entry.key], known.modified == entry.modified {
                entries[entry.key] = known
            } else {
                messages += set(entry)
            }
        }
        (cluster, revision) = (header.cluster, header.revision)
        file.from = origin
        // Otherwise the next agent would begin with what is not so any more.
        if let version = file.version, version > revision { file.version = revision }
        if let failure { messages.append("read again, after failures since \(failure.since)") }
        (failure, isOlder) = (nil, false)
        file.problem = nil
        tell(facts, time)
        return messages
    }

    /// Whether most members have known nothing newer for as long as there is between two checks. One that was put back alone
    /// is not most of them; after the restoration of a backup all of them are.
    private func isOlderBelieved(at time: Duration) -> Bool {
        guard isOlder, let since = failure.flatMap({ instant($0.since) }) else { return false }
        return time - since >= application.cluster.interval
    }

    /// Takes what has changed.
    ///
    /// - Returns: What to tell a person.
    /// - Throws: ``FetchProblem`` if it was known already, or is of another cluster.
    mutating func take(
        _ changes: [EtcdWatchMessage.Change], upTo header: EtcdHeader, facts: HostFacts,
        at time: Duration = .since1970
    ) throws(FetchProblem) -> [String] {
        try expect(header, notBefore: revision)
        // Several may be of one revision.
        var last = revision + 1
        for change in changes {
            guard change.entry.modified >= last, change.entry.modified <= header.revision else {
                throw FetchProblem(
                    message: "it tells of revision \(change.entry.modified), and \(revision) is known")
            }
            last = change.entry.modified
        }
        // Without changes it says how far it has come. Otherwise more may be on the way.
        revision = changes.isEmpty ? header.revision : last
        var (messages, isNew): ([String], Bool) = ([], false)
        for change in changes {
            if change.isGone { entries[change.entry.key] = nil } else { messages += set(change.entry) }
            guard let tweak = keys.tweak(of: change.entry.key) else { continue }
            let told = entries[change.entry.key].map { Told($0.content, facts) } ?? Told()
            isNew = tell(told, of: tweak) || isNew
        }
        noteTelling(isNew, time)
        return messages
    }

    /// Expects an answer from the known cluster, in a state that is not older than a known one.
    func expect(_ header: EtcdHeader, notBefore known: Int) throws(FetchProblem) {
        guard header.cluster == cluster else { throw FetchProblem(message: "this is another cluster") }
        guard header.revision >= known else {
            throw FetchProblem(message: "its revision is \(header.revision), and \(known) is known")
        }
    }

    private mutating func set(_ entry: EtcdEntry) -> [String] {
        let tweak = keys.tweak(of: entry.key)
        let content: Content
        do throws(FormatError) {
            guard let tweak else {
                let name = String(decoding: entry.key, as: UTF8.self)
                throw .malformed(path: name, reason: "this is not the name of a tweak")
            }
            let value = try FleetValue(json: entry.value, of: tweak)
            content = .value(tweak, value, try value.target(for: tweak))
        } catch {
            content = .unusable(tweak, problem: "\(error)", before: tweak.flatMap { file.values[$0] })
        }
        entries[entry.key] = Entry(modified: entry.modified, content: content)
        switch content {
        case .value(_, _, let target):
            return target?.unknownFilters.prefix(1).map { "a value is for no host: \($0)" } ?? []
        case .unusable(_, let problem, let before):
            return [problem + (before == nil ? "" : "; the value before stays")]
        }
    }

    // MARK: - Telling

    /// What programs are told of one tweak.
    private struct Told {
        var value: JSONValue?
        var reason: JSONValue?

        init() {}

        init(_ content: Content, _ facts: HostFacts) {
            switch content {
            case .value(_, let value, nil):
                (self.value, reason) = (.scalar(value.value), .scalar(.string(value.reason)))
            case .value(_, let value, let target?):
                let decision = target.decision(for: facts)
                if decision.isOn { self.value = .scalar(value.value) }
                let reason =
                    decision.isOn ? "\(value.reason); \(decision.reason)" : "not for this: \(decision.reason)"
                self.reason = .scalar(.string(reason))
            case .unusable(_, let problem, let before?):
                value = before
                reason = .scalar(.string("what is there now is wrong: \(problem)"))
            case .unusable: break
            }
        }
    }

    /// - Returns: Whether it is something new.
    private mutating func tell(_ told: Told, of tweak: TweakKey) -> Bool {
        let name = ByteText(tweak.description)
        guard file.values[tweak] != told.value || file.reasons[name] != told.reason else { return false }
        file.values[tweak] = told.value
        file.reasons[name] = told.reason
        return true
    }

    private mutating func noteTelling(_ isNew: Bool, _ time: Duration) {
        let now = timestamp(time)
        file.checked = now
        if isNew || file.loaded == nil { (file.version, file.loaded) = (revision, now) }
    }

    /// Finds out again what of it is for this host: after an upgrade that may be something else.
    mutating func tell(_ facts: HostFacts, _ time: Duration = .since1970) {
        var (values, reasons): (OverridesDocument, JSONObject) = (OverridesDocument(), [:])
        for (key, entry) in entries {
            guard let tweak = keys.tweak(of: key) else { continue }
            let told = Told(entry.content, facts)
            values[tweak] = told.value
            reasons[tweak.description] = told.reason
        }
        let isNew = values != file.values || reasons != file.reasons
        if isNew { (file.values, file.reasons) = (values, reasons) }
        noteTelling(isNew, time)
    }

    /// Notes that nothing could be read.
    ///
    /// - Parameter isOlder: Whether most members know only what is older.
    /// - Returns: What to tell a person.
    mutating func fail(
        _ message: String, isOlder: Bool = false, at time: Duration = .since1970
    ) -> [String] {
        let now = timestamp(time)
        var earlier = self.isOlder == isOlder ? failure : nil
        // What is older goes on, so that its revision changes, and it is the same reason.
        if isOlder { earlier?.reason = message }
        let isNew = earlier?.reason != message
        // A time that is to come is that of a clock that was wrong.
        if let since = earlier.flatMap({ instant($0.since) }), since > time { earlier?.since = now }
        (failure, self.isOlder) = (LastingFailure(reason: message, after: earlier, at: now), isOlder)
        file.problem = failure?.text
        file.checked = now
        guard isNew else { return [] }
        return [
            message + (file.loaded.map { "; what was read at \($0) stays" } ?? "; nothing was read before")
        ]
    }
}
#endif
