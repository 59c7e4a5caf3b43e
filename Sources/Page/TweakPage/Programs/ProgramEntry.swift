import Glibc
import Synchronization
import TweakClient
import TweakJSON
import TweakOverrides
import TweakProtocol
import TweakRecords
import TweakSystem

/// A program as pages see it, whether it runs or not.
struct ProgramEntry {
    enum State: String, Encodable {
        /// It has the library and answers.
        case running
        /// It has the library and does not answer, as one that is stopped.
        case silent
        /// It runs without the library, and its memory is read.
        case memory
        /// It does not run.
        case offline
    }

    /// The same after the program was started again.
    let id: String
    var name: String
    var executable: String?
    /// Whose it is, if it is not this user's.
    let user: String?
    var pid: pid_t?
    /// The process that has ended last.
    var lastPid: pid_t?
    var state = State.offline
    /// When it was first seen, and when it was seen to have ended, in seconds since 1970.
    var started: Double?
    var ended: Double?
    /// How its last process was started, if that could be seen.
    var start: ProcessStart?
    /// Whether it is being started again.
    var isRestarting = false
    /// Whether something is kept of it, as it was known when it ended.
    var isKept = false
    /// Whether it does not run and its file is not there any more.
    var isGone = false
    var overrides: String?
    var library: String?
    var problem: String?
    /// How many processes follow this one, with itself.
    var processes = 1
    /// How many tweaks it says that it has.
    var count: Int?
    /// `nil` until somebody has asked for them.
    var tweaks: KnownTweaks?
    /// The same as pages get it.
    let encoded = EncodedTweaks()
    /// Whether the tweaks are those that the program has at this moment.
    var isFresh = false
    var undeclared: [UndeclaredValue] = []

    /// Who follows it, and who wants which samples, by stream.
    var followers: Set<Int> = []
    var watches: [Int: Watch] = [:]
    /// What this server has set and the program has not told yet, to know whose change it is.
    var expected = ExpectedChanges()
    /// What follows it, if it runs.
    var follower: (any Follower)?

    init(id: String, name: String, executable: String?, user: String?) {
        (self.id, self.name, self.executable, self.user) = (id, name, executable, user)
    }

    /// A process of the program has ended. It need not be the one that runs now.
    mutating func end(_ process: pid_t) {
        guard pid == process else { return }
        (state, ended, lastPid) = (.offline, secondsSince1970(), process)
        (pid, problem, follower, isFresh) = (nil, nil, nil, false)
    }

    /// Whether values or presets of it are kept. This reads files, which are none of this user's for a program of another one.
    var keepsSomething: Bool {
        guard user == nil,
            let file = overrides.map({ OverridesFile(path: $0) }) ?? (try? OverridesFile(application: name))
        else { return false }
        if tweaks?.all.contains(where: { $0.source == "override" }) == true { return true }
        // What cannot be read is there.
        return (try? file.load().keys.isEmpty) != true
            || directoryEntries(file.directory + "/presets").contains { $0.hasSuffix(".json") }
    }

    /// What is sampled for all together.
    var sampling: Watch? {
        guard !watches.isEmpty else { return nil }
        var seen: Set<TweakKey> = []
        let keys = watches.sorted { $0.key < $1.key }.flatMap(\.value.tweaks).filter {
            seen.insert($0).inserted
        }
        return keys.isEmpty ? nil : Watch(tweaks: keys, rate: watches.values.map(\.rate).max() ?? 1)
    }
}

/// What is sampled.
struct Watch: Hashable {
    var tweaks: [TweakKey]
    /// How many times in a second.
    var rate: Double

    static let mostTweaks = 64
}

/// What looks after a program that runs, on a thread of its own.
protocol Follower: AnyObject, Sendable {
    var wakeUp: WakeUp { get }
    /// Is called when the program has ended.
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

    /// Has it see what is wanted of it now.
    func wake() { wakeUp.wake() }
}

/// The tweaks of a program with their last known values.
struct KnownTweaks {
    private(set) var all: [JSONTweak]
    private var places: [TweakKey: Int]
    /// By the place of a tweak, how often it has changed; and what no others have.
    fileprivate var changes: [Int]
    /// How often any has changed.
    private(set) var revision = 0
    let number: Int
    private static let count = Atomic(0)

    init(_ tweaks: [JSONTweak]) {
        all = tweaks
        changes = tweaks.map { _ in 0 }
        number = Self.count.wrappingAdd(1, ordering: .relaxed).newValue
        places = Dictionary(tweaks.indices.map { (tweaks[$0].declaration.key, $0) }) { first, _ in first }
    }

    subscript(key: TweakKey) -> JSONTweak? { places[key].map { all[$0] } }

    /// Takes over what a tweak has now.
    ///
    /// - Returns: What it had before; `nil` if there is no such tweak, or if nothing is different.
    mutating func update(
        _ key: TweakKey, value: TweakValue?, source: String?, pendingValue: TweakValue?
    ) -> JSONTweak? {
        guard let place = places[key] else { return nil }
        let before = all[place]
        guard before.value != value || before.source != source || before.pendingValue != pendingValue else {
            return nil
        }
        all[place].value = value
        all[place].source = source
        all[place].pendingValue = pendingValue
        changes[place] &+= 1
        revision &+= 1
        return before
    }

    /// Whether these are the same tweaks, whatever their values are.
    func declareTheSame(as tweaks: [JSONTweak]) -> Bool {
        all.count == tweaks.count && zip(all, tweaks).allSatisfy { $0.declaration == $1.declaration }
    }
}

/// The JSON of the tweaks of a program, of which is written anew what has changed. To write 10,000 takes a tenth of a second,
/// and a page asks for all of them.
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
                // An answer that was begun earlier may be at an earlier value.
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

/// What was set by requests and has not been told by the program yet.
struct ExpectedChanges {
    private struct Change {
        let value: TweakValue?
        let stream: Int
        let end: ContinuousClock.Instant
    }

    private var changes: [TweakKey: [Change]] = [:]
    /// More than a drag leaves within a second.
    private static let most = 128
    private static let patience: Duration = .seconds(5)

    mutating func add(_ key: TweakKey, _ value: TweakValue?, by stream: Int) {
        var expected = changes[key] ?? []
        expected.removeAll { $0.end < .now }
        expected.append(Change(value: value, stream: stream, end: .now + Self.patience))
        changes[key] = Array(expected.suffix(Self.most))
    }

    /// Who has set this value; those before it are forgotten, as the program has told them together.
    mutating func take(_ key: TweakKey, _ value: TweakValue?) -> Int? {
        guard var expected = changes[key] else { return nil }
        expected.removeAll { $0.end < .now }
        let found = expected.lastIndex { $0.value == value }
        let stream = found.map { expected[$0].stream }
        if let found { expected.removeFirst(found + 1) }
        changes[key] = expected.isEmpty ? nil : expected
        return stream
    }
}

/// The JSON form of a program: what there is not has no key.
struct ProgramForm: Encodable {
    let id, name: String
    let executable: String?
    /// Whose it is, if it is not this user's.
    let user: String?
    let state: ProgramEntry.State
    let pid, lastPid: Int32?
    let started, ended: Double?
    let overrides: String?
    let tweaks: Int?
    let problem: String?
    let library: String?
    let processes: Int?
    /// Whether it does not run and can be started as it was.
    let isStartable: Bool?
    /// Whether its file is not there any more.
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

/// A change as pages are told of it.
struct ChangeForm: Encodable {
    let tweak: TweakKey
    var oldValue: JSONValue
    let value: JSONValue
    let pendingValue: JSONValue?
    let source: String?
    let time: Double
    /// The stream whose request it was.
    let by: String?
}

/// What a tweak has now.
struct ValueForm: Encodable {
    let tweak: TweakKey
    let value: JSONValue
    let source: String?
    let pendingValue: JSONValue?

    init(_ tweak: JSONTweak) {
        self.tweak = tweak.declaration.key
        value = .scalar(tweak.value ?? .nothing)
        source = tweak.source
        pendingValue = tweak.pendingValue.map { .scalar($0) }
    }
}

func secondsSince1970() -> Double { Duration.since1970 / .seconds(1) }
