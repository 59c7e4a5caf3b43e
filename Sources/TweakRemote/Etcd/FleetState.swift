#if Remote
internal import TweakFormats
internal import TweakJSON
internal import TweakOverrides
internal import TweakRecords
internal import TweakSystem
internal import TweakTargeting

/// What is known of one application's values in etcd, and what its programs are told.
///
/// It goes forward only: what is older than what is known is not believed. What was believed once stays until something
/// better is there, each value by itself.
struct FleetState: Sendable {
    private let application: FleetApplication
    private let keys: FleetKeys
    /// What the programs are told.
    private(set) var file: ProvidedFile
    /// All changes up to it are known; 0 if nothing is.
    private(set) var revision = 0
    private var cluster: UInt64?
    private var entries: [[UInt8]: Entry] = [:]
    /// Since when nothing could be read, as RFC 3339 has times; `nil` while it works.
    private var failingSince: String?

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
        failingSince = problem.split(separator: Self.since).last.map(String.init)
    }

    private static let since = " since "

    /// How many keys there are.
    var count: Int { entries.count }

    /// Takes everything that is there.
    ///
    /// - Returns: What to tell a person.
    /// - Throws: ``FetchProblem`` if it is older than what is known.
    mutating func take(
        _ range: EtcdRange, _ header: EtcdHeader, facts: HostFacts, at time: Duration = .since1970
    ) throws(FetchProblem) -> [String] {
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
        guard header.revision >= revision else {
            throw FetchProblem(
                message:
                    "its revision is \(header.revision), and \(revision) is known; what is older is not believed"
            )
        }
        let before = entries
        entries = [:]
        for entry in range.entries {
            if let known = before[entry.key], known.modified == entry.modified, cluster == header.cluster {
                entries[entry.key] = known
            } else {
                messages += set(entry)
            }
        }
        (cluster, revision) = (header.cluster, header.revision)
        file.from = origin
        if let since = failingSince { messages.append("read again, after failures since \(since)") }
        failingSince = nil
        file.problem = nil
        tell(facts, time)
        return messages
    }

    /// Takes what has changed.
    ///
    /// - Returns: What to tell a person.
    /// - Throws: ``FetchProblem`` if it was known already, or is of another cluster.
    mutating func take(
        _ changes: [EtcdWatchMessage.Change], upTo header: EtcdHeader, facts: HostFacts,
        at time: Duration = .since1970
    ) throws(FetchProblem) -> [String] {
        guard header.cluster == cluster else { throw FetchProblem(message: "this is another cluster") }
        guard header.revision >= revision else {
            throw FetchProblem(message: "its revision is \(header.revision), and \(revision) is known")
        }
        // Several may be of one revision.
        var last = revision + 1
        for change in changes {
            guard change.entry.modified >= last, change.entry.modified <= header.revision else {
                throw FetchProblem(
                    message: "it tells of revision \(change.entry.modified), and \(revision) is known")
            }
            last = change.entry.modified
        }
        var messages: [String] = []
        for change in changes {
            if change.isGone { entries[change.entry.key] = nil } else { messages += set(change.entry) }
        }
        // Without changes it says how far it has come. Otherwise more may be on the way.
        revision = changes.isEmpty ? header.revision : last
        tell(facts, time)
        return messages
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
        guard case .unusable(_, let problem, let before) = content else { return [] }
        return [problem + (before == nil ? "" : "; the value before stays")]
    }

    /// Finds out again what of it is for this host: after an upgrade that may be something else.
    mutating func tell(_ facts: HostFacts, _ time: Duration = .since1970) {
        var told = ProvidedFile()
        for entry in entries.values {
            switch entry.content {
            case .value(let tweak, let value, nil): told.set(value.value, for: tweak, because: value.reason)
            case .value(let tweak, let value, let target?):
                let decision = target.decision(for: facts)
                if decision.isOn {
                    told.set(value.value, for: tweak, because: "\(value.reason); \(decision.reason)")
                } else {
                    told.reasons[tweak.description] = .scalar(.string("not for this: \(decision.reason)"))
                }
            case .unusable(let tweak?, let problem, let before?):
                told.values[tweak] = before
                told.reasons[tweak.description] = .scalar(.string("what is there now is wrong: \(problem)"))
            case .unusable: break
            }
        }
        let now = timestamp(time)
        file.checked = now
        guard told.values != file.values || told.reasons != file.reasons || file.loaded == nil else { return }
        (file.values, file.reasons) = (told.values, told.reasons)
        (file.version, file.loaded) = (revision, now)
    }

    /// Notes that nothing could be read.
    ///
    /// - Returns: What to tell a person.
    mutating func fail(_ message: String, at time: Duration = .since1970) -> [String] {
        let now = timestamp(time)
        let isNew = failingSince == nil || file.problem == nil
        let since = failingSince ?? now
        failingSince = since
        file.problem = message + Self.since + since
        file.checked = now
        guard isNew else { return [] }
        return [
            message + (file.loaded.map { "; what was read at \($0) stays" } ?? "; nothing was read before")
        ]
    }
}
#endif
