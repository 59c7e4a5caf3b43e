// SPDX-License-Identifier: BSD-3-Clause
import Glibc
import Synchronization
import TweakClient
import TweakJSON
import TweakOverrides
import TweakProtocol
import TweakRecords
import TweakSystem

/// A program as pages see it, running or not.
struct ProgramEntry {
    enum State: String, Encodable {
        /// It has the library and answers.
        case running
        /// It has the library but does not answer, for example because it is stopped.
        case silent
        /// It has no library, and its memory is read.
        case memory
        /// It is not running.
        case offline
    }

    /// Stays the same when the program is restarted.
    let id: String
    var name: String
    var executable: String?
    /// The owner, if it is another user than ours.
    let user: String?
    var pid: pid_t?
    /// The process that ended last.
    var lastPid: pid_t?
    var state = State.offline
    /// When it was first seen and when it ended, in seconds since 1970.
    var started: Double?
    var ended: Double?
    /// The start of its last process, if known.
    var start: ProcessStart?
    /// Whether it is being restarted.
    var isRestarting = false
    /// Whether it had kept values or presets when it ended.
    var isKept = false
    /// Whether it is not running and its executable is gone.
    var isGone = false
    var overrides: String?
    var library: String?
    var problem: String?
    /// The number of processes that share its overrides, including itself.
    var processes = 1
    /// The number of tweaks that it reported.
    var count: Int?
    /// `nil` until a page has requested them.
    var tweaks: KnownTweaks?
    /// The tweaks as JSON for pages.
    let encoded = EncodedTweaks()
    /// Whether the tweaks are up to date.
    var isFresh = false
    var undeclared: [UndeclaredValue] = []

    /// The pages that follow it, and the samples they want, by stream.
    var followers: Set<Int> = []
    var watches: [Int: Watch] = [:]
    /// The number of frames of samples so far, of which a page with a lower rate gets every second, third…
    var sampledFrames = 0
    /// The values that pages try, by stream.
    var trials: [Int: Trial] = [:]
    /// The page whose change is being made, for programs that do not tell whose change it is.
    var changer: Int?
    /// The thread that follows it, if it is running.
    var follower: (any Follower)?

    init(id: String, name: String, executable: String?, user: String?) {
        (self.id, self.name, self.executable, self.user) = (id, name, executable, user)
    }

    /// Records the end of a process, which may not be the current one.
    mutating func end(_ process: pid_t) {
        guard pid == process else { return }
        (state, ended, lastPid) = (.offline, secondsSince1970(), process)
        (pid, problem, follower, isFresh) = (nil, nil, nil, false)
        for trial in trials.values { trial.end() }
        trials = [:]
    }

    /// The file with the kept values; `nil` for a program of another user.
    private var overridesFile: OverridesFile? {
        guard user == nil else { return nil }
        return overrides.map { OverridesFile(path: $0) } ?? (try? OverridesFile(application: name))
    }

    /// The tweaks whose kept values are in the sources, and wait for a build. Reads a file.
    var baked: [TweakKey] { (try? overridesFile?.load().bakedKeys) ?? [] }

    /// Whether it has kept values or presets. Reads files, but not for a program of another user.
    var keepsSomething: Bool {
        guard let file = overridesFile else { return false }
        if tweaks?.all.contains(where: { $0.source == "override" }) == true { return true }
        // An unreadable file exists.
        return (try? file.load().keys.isEmpty) != true
            || directoryEntries(file.directory + "/presets").contains { $0.hasSuffix(".json") }
    }

    /// The samples for all pages together.
    var sampling: Watch? {
        guard !watches.isEmpty else { return nil }
        var seen: Set<TweakKey> = []
        let keys = watches.sorted { $0.key < $1.key }.flatMap(\.value.tweaks).filter {
            seen.insert($0).inserted
        }
        return keys.isEmpty ? nil : Watch(tweaks: keys, rate: watches.values.map(\.rate).max() ?? 1)
    }
}

/// Tweaks to sample.
struct Watch: Hashable {
    var tweaks: [TweakKey]
    /// Samples per second.
    var rate: Double

    static let mostTweaks = 64
}

/// Follows a running program, on a thread of its own.
protocol Follower: AnyObject, Sendable {
    var wakeUp: WakeUp { get }
    /// Called when the program has ended.
    var whenEnded: @Sendable () -> Void { get }

    /// Follows the program until it ends.
    func run()
}

extension Follower {
    func start() {
        onThread {
            self.run()
            self.whenEnded()
        }
    }

    /// Makes it check what pages want now.
    func wake() { wakeUp.wake() }
}

/// The tweaks of a program with their last known values.
struct KnownTweaks {
    private(set) var all: [JSONTweak]
    /// How many values wait for a gate.
    private(set) var waiting: Int
    private var places: [TweakKey: Int]
    /// The number of changes of each tweak, by position.
    fileprivate var changes: [Int]
    /// The number of changes of all tweaks.
    private(set) var revision = 0
    let number: Int
    private static let count = Atomic(0)
    /// The share of the budget that they take, which is free when they are gone.
    var share: AnswerBudget.Share?

    init(_ tweaks: [JSONTweak], _ share: AnswerBudget.Share? = nil) {
        all = tweaks
        self.share = share
        // Explanations have both as they are when they are asked for.
        for place in all.indices { (all[place].lease, all[place].ramp) = (nil, nil) }
        waiting = all.count(where: \.waitsForGate)
        changes = tweaks.map { _ in 0 }
        number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
        places = Dictionary(tweaks.indices.map { (tweaks[$0].declaration.key, $0) }) { first, _ in first }
    }

    subscript(key: TweakKey) -> JSONTweak? { places[key].map { all[$0] } }

    /// Stores the current state of a tweak.
    ///
    /// - Returns: The previous state; `nil` if there is no such tweak, or nothing has changed.
    mutating func update(
        _ key: TweakKey, value: TweakValue?, source: String?, pendingValue: TweakValue?
    ) -> JSONTweak? {
        guard let place = places[key] else { return nil }
        let before = all[place]
        guard before.value != value || before.source != source || before.pendingValue != pendingValue else {
            return nil
        }
        waiting -= before.waitsForGate ? 1 : 0
        all[place].value = value
        all[place].source = source
        all[place].pendingValue = pendingValue
        waiting += all[place].waitsForGate ? 1 : 0
        changes[place] &+= 1
        revision &+= 1
        return before
    }

    /// Returns whether these are the same tweaks, whatever their values.
    func declareTheSame(as tweaks: [JSONTweak]) -> Bool {
        all.count == tweaks.count
            && zip(all, tweaks).allSatisfy { $0.declaration == $1.declaration && $0.gate == $1.gate }
    }
}

extension JSONTweak {
    /// Whether changes wait for a gate, and not for a restart.
    var isGated: Bool { gate != nil && !declaration.needsRestart }
    fileprivate var waitsForGate: Bool { isGated && pendingValue != nil }
}

/// The JSON of a program's tweaks, in which only changed tweaks are encoded again. Encoding 10,000 takes a tenth of a
/// second, and a page requests them all.
final class EncodedTweaks: Sendable {
    private let state = Mutex<(number: Int, tweaks: [(changes: Int, bytes: [UInt8])])>((0, []))

    func json(of known: KnownTweaks) throws -> [UInt8] {
        try state.withLock { state in
            if state.number != known.number {
                state = (known.number, known.all.map { _ in (-1, []) })
            }
            var json: [UInt8] = [UInt8(ascii: "[")]
            json.reserveCapacity(state.tweaks.reduce(2) { $0 + $1.bytes.count + 1 })
            for place in known.all.indices {
                // A response that was started earlier may have an earlier value.
                if state.tweaks[place].changes != known.changes[place] {
                    state.tweaks[place] = (known.changes[place], try pageJSON(known.all[place]))
                }
                if place > 0 { json.append(UInt8(ascii: ",")) }
                json.append(contentsOf: state.tweaks[place].bytes)
            }
            json.append(UInt8(ascii: "]"))
            return json
        }
    }
}

/// The JSON form of a program; missing values have no key.
struct ProgramForm: Encodable {
    let id, name: String
    let executable: String?
    /// The owner, if it is another user than ours.
    let user: String?
    let state: ProgramEntry.State
    let pid, lastPid: Int32?
    let started, ended: Double?
    let overrides: String?
    let tweaks: Int?
    let problem: String?
    let library: String?
    let processes: Int?
    /// Whether it is not running and can be restarted as before.
    let isStartable: Bool?
    /// Whether its executable is gone.
    let isGone: Bool?

    init(_ entry: ProgramEntry) {
        (id, name, executable, state) = (entry.id, entry.name, entry.executable, entry.state)
        user = entry.user
        (pid, lastPid) = (entry.pid, entry.state == .offline ? entry.lastPid : nil)
        (started, ended, overrides) = (entry.started, entry.ended, entry.overrides)
        tweaks = entry.tweaks?.all.count ?? entry.count
        (problem, library) = (entry.problem, entry.library)
        processes = entry.processes > 1 ? entry.processes : nil
        isStartable = entry.state == .offline && entry.start != nil ? true : nil
        isGone = entry.state == .offline && entry.isGone ? true : nil
    }
}

/// A change in the form for pages.
struct ChangeForm: Encodable {
    let tweak: TweakKey
    var oldValue: JSONValue
    let newValue: JSONValue
    let pendingValue: JSONValue?
    let source: String?
    let time: Double
    /// The author of the change, by the name that the program gives.
    let by: String?
    /// The stream whose request made it.
    let stream: String?
}

/// The current value of a tweak.
struct ValueForm: Encodable {
    let tweak: TweakKey
    let value: JSONValue
    let source: String?
    let pendingValue: JSONValue?
    /// The time before it was read. Changes of the program until then are included.
    let time: Double

    init(_ tweak: JSONTweak, time: Double) {
        (self.tweak, self.time) = (tweak.declaration.key, time)
        value = .scalar(tweak.value ?? .nothing)
        source = tweak.source
        pendingValue = tweak.pendingValue.map { .scalar($0) }
    }
}

func secondsSince1970() -> Double { Duration.since1970 / .seconds(1) }
