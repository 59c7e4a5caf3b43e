// SPDX-License-Identifier: BSD-3-Clause
import TweakJSON
import TweakProtocol
import TweakRecords

/// Something that a replay does at one time: changes made together, or a mark.
struct ReplayStep {
    /// The seconds since the start.
    let time: Double
    /// The number of the changes in the recorded history, or of those before the mark; 0 if there is none.
    let number: Int
    /// Values that are kept, and resets.
    var kept: [ListHistory.Change] = []
    /// Values for a time.
    var leased: [ListHistory.Change] = []
    /// Values that are kept, and resets, by the client whose lease ends with them.
    var keptByHolder: [ListHistory.Change] = []
    /// The tweaks whose leases end.
    var ended: [TweakKey] = []
    /// Whether no leases of the replay are left then.
    var endsAllLeases = false
    /// The name of a mark to set.
    var mark: String?
}

/// The steps of a replay.
struct ReplaySteps {
    private(set) var steps: [ReplayStep] = []
    /// The values below the leases in force, which are those of the last step at the end.
    private var leased: [TweakKey: JSONValue] = [:]
    /// The number of changes that cannot be made, of which warnings have been written.
    private(set) var problems = 0
    private let known: Set<TweakKey>
    private var missing: Set<TweakKey> = []

    /// Whether there are leases.
    var hasLeases: Bool { steps.contains { !$0.leased.isEmpty } }
    /// Whether leases are left that the recording does not end.
    var leavesLeases: Bool { !leased.isEmpty }

    /// - Parameters:
    ///   - end: The seconds since the start after which nothing is done; `nil` for all of the recording.
    ///   - known: The tweaks of the program.
    init(of run: RecordedRun, until end: Double?, for known: Set<TweakKey>) {
        self.known = known
        // Leases and ramps that had begun before.
        for tweak in run.tweaks where tweak.lease != nil || tweak.ramp != nil {
            add(ListHistory.Change(begun: tweak), at: 0)
        }
        for change in run.changes {
            let time = run.time(of: change)
            if end.map({ time <= $0 }) ?? true { add(change, at: time) }
        }
        for mark in run.marks {
            let time = run.time(of: mark)
            if end.map({ time <= $0 }) ?? true { add(mark, at: time) }
        }
    }

    private mutating func add(_ change: ListHistory.Change, at time: Double) {
        let key = change.tweak
        var step = ReplayStep(time: time, number: change.number)
        let isContinued =
            steps.last.map { $0.number == change.number && (change.number > 0 || time == 0) } ?? false
        if isContinued, let last = steps.last { step = last }
        // A notification does not say that a lease ended, but there is none of values below a lease.
        let endsLease =
            change.isOfLease == true || change.endsLease == true || change.number == 0
        if change.source == "\(TweakSource.lease)" {
            guard canMake(change) else { return }
            leased[key] = leased[key] ?? change.oldValue
            step.leased.append(change)
        } else if endsLease, let below = leased[key] {
            leased[key] = nil
            if change.endsLease == true || change.number == 0 && change.newValue != below {
                guard canMake(change) else { return }
                step.keptByHolder.append(change)
            } else {
                step.ended.append(key)
            }
        } else if change.isOfLease != true {
            guard canMake(change) else { return }
            step.kept.append(change)
        } else {
            // The end of a lease that is not in the recording, or not possible in the program.
            return
        }
        step.endsAllLeases = leased.isEmpty
        if isContinued { steps[steps.count - 1] = step } else { steps.append(step) }
    }

    private mutating func canMake(_ change: ListHistory.Change) -> Bool {
        // The value was too long for the history, or its feature was removed.
        guard change.isShortened != true, change.newValue != .null else {
            warn("\(change.tweak): the recording does not have the value of change \(change.number)")
            problems += 1
            return false
        }
        if known.contains(change.tweak) { return true }
        if missing.insert(change.tweak).inserted { warn("\(change.tweak): the program has no such tweak") }
        problems += 1
        return false
    }

    /// Adds a mark behind the changes before it. Its time is that of a clock that can be set, so it may not fit.
    private mutating func add(_ mark: ListHistory.Mark, at time: Double) {
        let index = steps.lastIndex { $0.number <= mark.number }.map { $0 + 1 } ?? 0
        let earliest = index > 0 ? steps[index - 1].time : 0
        let latest = index < steps.count ? steps[index].time : .infinity
        var step = ReplayStep(time: max(earliest, min(time, latest)), number: mark.number)
        step.mark = mark.name
        steps.insert(step, at: index)
    }
}

extension ListHistory.Change {
    /// The lease or ramp that a tweak has, as if it began now.
    fileprivate init(begun tweak: JSONTweak) {
        let value = JSONValue.scalar(tweak.value ?? .nothing)
        self.init(
            number: 0, tweak: tweak.declaration.key, oldValue: tweak.lease?.hiddenValue ?? value,
            newValue: tweak.ramp?.target ?? value, source: tweak.source ?? "", by: tweak.lease?.by ?? "",
            time: 0, monotonicTime: 0)
        isOfLease = tweak.lease == nil ? nil : true
        ramp = tweak.ramp?.remaining
    }
}
