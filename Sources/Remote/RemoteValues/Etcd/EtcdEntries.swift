// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import TweakFormats
internal import TweakJSON
internal import TweakOverrides
internal import TweakRecords
internal import TweakSystem
internal import TweakTargeting

/// The known entries of one application in etcd.
///
/// Revisions only increase: an older one is rejected until a majority of the members has had it for a while. A valid
/// value stays until a newer valid one replaces it, key by key. The cost of a change is proportional to its size.
struct EtcdEntries: Sendable {
    private let interval: Duration
    private let keys: FleetRange
    /// All changes up to this revision are known; 0 if nothing is.
    private(set) var revision = 0
    private var cluster: UInt64?
    private var entries: [[UInt8]: Entry] = [:]

    /// The entry of one key.
    private struct Entry {
        let modified: Int
        let content: Content

        /// Whether it is not for all hosts.
        var isTargeted: Bool { if case .value(_, .some, _) = content { true } else { false } }
    }

    private enum Content {
        case value(FleetValue, FeatureTarget?, otherwise: FeatureTarget? = nil)
        /// An invalid value, and the tweak's former value.
        case unusable(problem: String, before: JSONValue?)
    }

    init(_ settings: EtcdSettings) {
        interval = settings.cluster.interval
        keys = FleetRange(root: settings.root, places: FleetPlace.all)
    }

    /// The number of keys.
    var count: Int { entries.count }

    /// Replaces everything by the current entries.
    ///
    /// - Throws: ``FetchProblem`` if they are older than the known ones, or invalid.
    mutating func take(
        _ range: EtcdRange, _ header: EtcdHeader, _ facts: HostFacts, _ state: inout RemoteState
    ) throws(FetchProblem) {
        if let early = range.entries.first(where: { $0.modified > header.revision }) {
            throw FetchProblem(
                message:
                    "it returned a key of revision \(early.modified), but is itself at \(header.revision)")
        }
        let origin = "etcd \(String(header.cluster, radix: 16)) \(keys.root)"
        if cluster == nil {
            if let from = state.file.from, !from.hasSameBytes(as: origin) {
                state.messages.append("its values are from \(origin) now, and were from \(from)")
            } else {
                revision = min(max(0, state.file.version ?? 0), EtcdHeader.revisions.upperBound)
            }
        } else if cluster != header.cluster {
            state.messages.append("this is another cluster; its values are from \(origin) now")
            revision = 0
        }
        var isSame = cluster == header.cluster
        if header.revision < revision {
            guard isOlderBelieved(state) else {
                throw FetchProblem(
                    message:
                        "its revision is \(header.revision), and \(revision) is known; \(FetchProblem.older) before most "
                        + "members have said so for \(interval)",
                    isOlder: true)
            }
            state.messages.append(
                "etcd went back from revision \(revision) to \(header.revision), as after restoring a "
                    + "backup; its values are used")
            isSame = false
        }
        let before = entries
        entries = [:]
        for entry in range.entries {
            if isSame, let known = before[entry.key], known.modified == entry.modified {
                entries[entry.key] = known
            } else {
                set(entry, &state)
            }
        }
        (cluster, revision, state.knownRevision) = (header.cluster, header.revision, header.revision)
        state.file.from = origin
        // Otherwise the next agent would start with an obsolete version.
        if let version = state.file.version, version > revision { state.file.version = revision }
        tell(facts, &state)
    }

    /// Returns whether a majority has had nothing newer for the interval of checks. A single restored member is no
    /// majority; after the restoration of a backup, all members are.
    private func isOlderBelieved(_ state: RemoteState) -> Bool {
        guard let failure = state.failure, failure.isOlder, let since = instant(failure.since) else {
            return false
        }
        return .since1970 - since >= interval
    }

    /// Applies changes.
    ///
    /// - Throws: ``FetchProblem`` if they are known already, or come from another cluster.
    mutating func take(
        _ changes: [EtcdWatchMessage.Change], upTo header: EtcdHeader, _ facts: HostFacts,
        _ state: inout RemoteState
    ) throws(FetchProblem) {
        try expect(header, notBefore: revision)
        // Several changes may have the same revision.
        var last = revision + 1
        for change in changes {
            guard change.entry.modified >= last, change.entry.modified <= header.revision else {
                throw FetchProblem(
                    message: "it reports revision \(change.entry.modified), but \(revision) is already known")
            }
            last = change.entry.modified
        }
        // A message without changes reports progress. Otherwise more changes of the revision may follow.
        revision = changes.isEmpty ? header.revision : last
        if !changes.isEmpty { state.knownRevision = revision }
        var isNew = false
        for change in changes {
            if change.isGone { entries[change.entry.key] = nil } else { set(change.entry, &state) }
            guard let (tweak, place) = keys.tweak(of: change.entry.key) else { continue }
            let entry = entries[change.entry.key]
            note(entry, of: tweak, place, &state)
            let told = entry.map { Told($0, place, facts) } ?? Told()
            isNew = tell(told, of: tweak, place, &state.file) || isNew
        }
        succeed(isNew, &state)
    }

    /// Throws unless a response is from the known cluster, and not older than a known revision.
    func expect(_ header: EtcdHeader, notBefore known: Int) throws(FetchProblem) {
        guard header.cluster == cluster else { throw FetchProblem(message: "this is another cluster") }
        guard header.revision >= known else {
            throw FetchProblem(message: "its revision is \(header.revision), and \(known) is known")
        }
    }

    private mutating func set(_ entry: EtcdEntry, _ state: inout RemoteState) {
        let known = keys.tweak(of: entry.key)
        let content: Content
        do throws(FormatError) {
            guard let (tweak, _) = known else {
                let name = String(decoding: entry.key, as: UTF8.self)
                throw .malformed(path: name, reason: "this is not the name of a tweak")
            }
            let value = try FleetValue(json: entry.value, of: tweak)
            let target = try value.target(for: tweak)
            content = .value(value, target, otherwise: try value.otherwise?.target(for: tweak))
            if let filter = target?.unknownFilters.first {
                state.messages.append("a value applies to no host: \(filter)")
            }
        } catch {
            let before = known.flatMap { tweak, place in
                place == .kills ? state.file.kills[tweak] : state.file.values[tweak]
            }
            content = .unusable(problem: "\(error)", before: before)
            state.messages.append("\(error)" + (before == nil ? "" : "; the previous value stays"))
        }
        entries[entry.key] = Entry(modified: entry.modified, content: content)
    }

    // MARK: - The file for programs

    /// The value of one tweak for programs.
    private struct Told {
        var value: JSONValue?
        var reason: JSONValue?

        init() {}

        init(_ entry: Entry, _ place: FleetPlace, _ facts: HostFacts) {
            func origin(_ value: FleetValue) -> String { value.reason(in: place, revision: entry.modified) }
            switch entry.content {
            case .value(let value, nil, _):
                (self.value, reason) = (.scalar(value.value), .scalar(.string(origin(value))))
            case .value(let value, let target?, let otherTarget):
                let decision = target.decision(for: facts)
                if decision.isOn {
                    self.value = .scalar(value.value)
                    reason = .scalar(.string("\(origin(value)); \(decision.reason)"))
                } else if let other = value.otherwise, otherTarget?.decision(for: facts).isOn ?? true {
                    self.value = .scalar(other.value)
                    reason = .scalar(
                        .string("\(origin(value)); the value for others: \(decision.reason)"))
                } else {
                    reason = .scalar(.string("not for this: \(decision.reason)"))
                }
            case .unusable(let problem, let before?):
                value = before
                reason = .scalar(.string("the value there now is invalid: \(problem)"))
            case .unusable: break
            }
        }
    }

    /// Notes whether a value is not for all hosts.
    private func note(_ entry: Entry?, of tweak: TweakKey, _ place: FleetPlace, _ state: inout RemoteState) {
        guard place == .values else { return }
        if entry?.isTargeted == true { state.targeted.insert(tweak) } else { state.targeted.remove(tweak) }
    }

    /// - Returns: Whether it has changed.
    private func tell(
        _ told: Told, of tweak: TweakKey, _ place: FleetPlace, _ file: inout ProvidedFile
    ) -> Bool {
        switch place {
        case .values: Self.tell(told, of: tweak, &file.values, &file.reasons)
        case .kills: Self.tell(told, of: tweak, &file.kills, &file.killReasons)
        }
    }

    private static func tell(
        _ told: Told, of tweak: TweakKey, _ values: inout OverridesDocument, _ reasons: inout JSONObject
    ) -> Bool {
        let name = ByteText(tweak.description)
        guard values[tweak] != told.value || reasons[name] != told.reason else { return false }
        values[tweak] = told.value
        reasons[name] = told.reason
        return true
    }

    /// Evaluates all values for this host again: after an upgrade the result may differ.
    func tell(_ facts: HostFacts, _ state: inout RemoteState) {
        var file = ProvidedFile()
        state.targeted = []
        for (key, entry) in entries {
            guard let (tweak, place) = keys.tweak(of: key) else { continue }
            note(entry, of: tweak, place, &state)
            _ = tell(Told(entry, place, facts), of: tweak, place, &file)
        }
        let isNew =
            file.values != state.file.values || file.reasons != state.file.reasons
            || file.kills != state.file.kills || file.killReasons != state.file.killReasons
        if isNew {
            (state.file.values, state.file.reasons) = (file.values, file.reasons)
            (state.file.kills, state.file.killReasons) = (file.kills, file.killReasons)
        }
        succeed(isNew, &state)
    }

    private func succeed(_ isNew: Bool, _ state: inout RemoteState) {
        if isNew || state.file.loaded == nil { state.file.version = revision }
        state.succeed(isNew: isNew)
    }
}
#endif
