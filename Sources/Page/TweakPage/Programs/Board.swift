import Dispatch
import Glibc
import Synchronization
import TweakClient
import TweakJSON
import TweakProtocol
import TweakRecords

/// All programs as they are known, and the pages that are told of them. It has one lock, which nothing is done with that
/// takes time.
final class Board: Sendable {
    private let state = Mutex(State())

    fileprivate struct State {
        var programs: [ProgramEntry] = []
        var streams: [Int: EventStream] = [:]
        var viewers: [Int: Viewer] = [:]
        var lastStream = 0
        var isEnding = false
        /// Those who wait for the tweaks of a program.
        var waiters: [String: [CheckedContinuation<Void, Never>]] = [:]
        /// Those who wait for the entries of processes.
        var processWaiters: [pid_t: [DispatchSemaphore]] = [:]

        func place(_ id: String) -> Int? { programs.firstIndex { $0.id == id } }
    }

    /// A page, and what a person edits there.
    struct Viewer: Encodable {
        let stream: String
        var name: String?
        var program: String?
        var tweak: String?
        var since: Double
    }

    static let mostStreams = 64

    // MARK: - Programs

    var programs: [ProgramForm] { state.withLock { $0.programs.map { ProgramForm($0) } } }
    var entries: [ProgramEntry] { state.withLock { $0.programs } }
    subscript(id: String) -> ProgramEntry? {
        state.withLock { state in state.place(id).map { state.programs[$0] } }
    }

    /// The entry of a program: the one that it had when it ran before, or a new one.
    ///
    /// - Parameters:
    ///   - name: Of the application, by which values are kept.
    ///   - user: Whose it is, if it is not this user's.
    func entry(name: String, executable: String?, user: String? = nil, isRunning: Bool) -> String {
        state.withLock { state in
            let same = state.programs.filter { entry in
                // What a program says of itself does not make it one of somebody else.
                guard entry.user == user else { return false }
                // Of one that has not been started since its path is not known.
                return
                    (entry.executable == nil || executable == nil
                    ? entry.name == name : entry.executable == executable)
                    && (!isRunning || entry.state == .offline)
            }
            if let entry = same.first {
                if let executable, let place = state.place(entry.id) {
                    state.programs[place].executable = executable
                }
                return entry.id
            }
            state.forgetOldest()
            let taken = Set(state.programs.map(\.id))
            var (id, number) = (name, 1)
            while taken.contains(id) {
                number += 1
                id = "\(name)~\(number)"
            }
            let entry = ProgramEntry(id: id, name: name, executable: executable, user: user)
            state.programs.append(entry)
            state.tell(entry)
            return id
        }
    }

    /// Changes an entry and tells of it if pages see it.
    func update(_ id: String, _ body: (inout sending ProgramEntry) -> Void) {
        state.withLock { state in
            guard let place = state.place(id) else { return }
            let before = Shown(state.programs[place])
            body(&state.programs[place])
            if Shown(state.programs[place]) != before { state.tell(state.programs[place]) }
            if let pid = state.programs[place].pid, pid != before.pid {
                for waiter in state.processWaiters.removeValue(forKey: pid) ?? [] { waiter.signal() }
            }
            if state.programs[place].isFresh || before.state != state.programs[place].state {
                state.resume(id)
            }
        }
    }

    /// Takes note that a process of a program has ended.
    func end(_ id: String, _ process: pid_t) {
        let isKept = self[id]?.keepsSomething ?? false
        update(id) { entry in
            entry.end(process)
            entry.isKept = isKept
        }
        forgetEnded()
    }

    /// Leaves out the programs that have ended and that nobody needs.
    func forgetEnded() { state.withLock { $0.forgetEnded() } }

    /// Leaves out a program that does not run. What is kept of it stays.
    ///
    /// - Returns: Whether it did not run.
    func remove(_ id: String) -> Bool {
        state.withLock { state in
            guard let place = state.place(id), state.programs[place].state == .offline else { return false }
            state.forget(place)
            return true
        }
    }

    /// What of an entry is told as a change of it.
    private struct Shown: Equatable {
        let state: ProgramEntry.State
        let pid: pid_t?
        let texts: [String?]
        let numbers: [Int?]

        init(_ entry: ProgramEntry) {
            (state, pid) = (entry.state, entry.pid)
            texts = [entry.name, entry.executable, entry.overrides, entry.library, entry.problem]
            numbers = [entry.processes, entry.tweaks?.all.count ?? entry.count, entry.isGone ? 1 : 0]
        }
    }

    /// Takes over what a program has, as it has told all of it at once.
    func replace(_ id: String, _ tweaks: [JSONTweak], undeclared: [UndeclaredValue] = []) {
        state.withLock { state in
            guard let place = state.place(id) else { return }
            let before = Shown(state.programs[place])
            state.programs[place].undeclared = undeclared
            state.programs[place].isFresh = true
            if let known = state.programs[place].tweaks, known.declareTheSame(as: tweaks) {
                for tweak in tweaks {
                    state.change(
                        place, tweak.declaration.key, tweak.value, tweak.source, tweak.pendingValue)
                }
            } else {
                if state.programs[place].tweaks != nil {
                    for stream in state.followers(of: id) { stream.add { $0.reloaded.appendOnce(id) } }
                }
                state.programs[place].tweaks = KnownTweaks(tweaks)
            }
            if Shown(state.programs[place]) != before { state.tell(state.programs[place]) }
            state.resume(id)
        }
    }

    /// Takes over what has changed in a program.
    func change(_ id: String, _ changes: [ChangedTweaks.Change]) {
        state.withLock { state in
            guard let place = state.place(id) else { return }
            for change in changes {
                // One that is gone is not in the next list.
                guard change.newValue != .null, let tweak = state.programs[place].tweaks?[change.tweak]
                else { continue }
                let value = change.newValue.value(of: tweak.declaration.type)
                state.change(place, change.tweak, value, change.source, tweak.pendingValue, time: change.time)
            }
        }
    }

    /// Takes over what some tweaks have.
    ///
    /// - Parameter isComplete: Whether nobody else tells their values. Of a program that does, only what it does not tell is
    ///   taken: it may be at a later value already.
    func note(_ id: String, _ tweaks: [JSONTweak], isComplete: Bool) {
        state.withLock { state in
            guard let place = state.place(id) else { return }
            for tweak in tweaks {
                let key = tweak.declaration.key
                guard isComplete || state.programs[place].tweaks?[key]?.value == tweak.value else { continue }
                state.change(place, key, tweak.value, tweak.source, tweak.pendingValue)
            }
        }
    }

    /// Says whose change it is when these values are told.
    func expect(_ id: String, _ values: [TweakKey: TweakValue?], by stream: Int) {
        update(id) { entry in
            for (key, value) in values { entry.expected.add(key, value, by: stream) }
        }
    }

    /// Gives samples to those who want them.
    func sample(
        _ id: String, _ keys: [TweakKey], rate: Double, dropped: Int, _ frames: [(Double, [Double?])]
    ) {
        let watches = state.withLock { state in
            state.place(id).map { place in
                state.programs[place].watches.compactMap { number, watch in
                    state.streams[number].map { ($0, watch) }
                }
            } ?? []
        }
        for (stream, watch) in watches {
            let places = watch.tweaks.map { keys.firstIndex(of: $0) }
            // Who wants fewer gets every second, third… of them.
            let stride = max(1, Int((rate / watch.rate).rounded()))
            stream.add { pending in
                var samples = pending.samples[id] ?? PendingSamples(tweaks: watch.tweaks)
                if samples.tweaks != watch.tweaks { samples = PendingSamples(tweaks: watch.tweaks) }
                samples.dropped += dropped
                for (index, (time, values)) in frames.enumerated() where index % stride == 0 {
                    samples.add(time, places.map { place in place.flatMap { values[$0] } })
                }
                pending.samples[id] = samples
            }
        }
    }

    // MARK: - Pages

    /// A page that wants to be told; `nil` if there are too many.
    func open() -> EventStream? {
        state.withLock { state in
            guard state.streams.count < Self.mostStreams, !state.isEnding else { return nil }
            state.lastStream += 1
            let stream = EventStream(number: state.lastStream)
            state.streams[stream.number] = stream
            state.viewers[stream.number] = Viewer(stream: "\(stream.number)", since: secondsSince1970())
            for other in state.streams.values { other.add { $0.viewersChanged = true } }
            return stream
        }
    }

    func close(_ stream: EventStream) {
        let followers = state.withLock { state -> [any Follower] in
            guard state.streams.removeValue(forKey: stream.number) != nil else { return [] }
            state.viewers[stream.number] = nil
            for other in state.streams.values { other.add { $0.viewersChanged = true } }
            return state.programs.indices.compactMap { place in
                guard state.programs[place].followers.remove(stream.number) != nil else { return nil }
                state.resume(state.programs[place].id)
                state.programs[place].watches[stream.number] = nil
                return state.programs[place].follower
            }
        }
        for follower in followers { follower.wake() }
        forgetEnded()
    }

    func isOpen(_ stream: Int) -> Bool { state.withLock { $0.streams[stream] != nil } }

    var viewers: [Viewer] { state.withLock { $0.viewers.values.sorted { $0.since < $1.since } } }

    func show(_ stream: Int, name: String?, program: String?, tweak: String?) {
        state.withLock { state in
            guard var viewer = state.viewers[stream] else { return }
            viewer.name = name ?? viewer.name
            if (viewer.program, viewer.tweak) != (program, tweak) { viewer.since = secondsSince1970() }
            (viewer.program, viewer.tweak) = (program, tweak)
            state.viewers[stream] = viewer
            state.forgetEnded()
            for other in state.streams.values { other.add { $0.viewersChanged = true } }
        }
    }

    /// Has a page follow a program, or not any more.
    func follow(_ id: String, _ stream: Int, _ isWanted: Bool = true) {
        let follower = state.withLock { state -> (any Follower)? in
            guard let place = state.place(id), state.streams[stream] != nil else { return nil }
            if isWanted {
                state.programs[place].followers.insert(stream)
            } else {
                state.programs[place].followers.remove(stream)
                state.programs[place].watches[stream] = nil
            }
            return state.programs[place].follower
        }
        follower?.wake()
    }

    /// Has a page get samples of a program.
    func watch(_ id: String, _ stream: Int, _ watch: Watch) {
        let follower = state.withLock { state -> (any Follower)? in
            guard let place = state.place(id), state.streams[stream] != nil else { return nil }
            state.programs[place].watches[stream] = watch.tweaks.isEmpty ? nil : watch
            return state.programs[place].follower
        }
        follower?.wake()
    }

    func tellOfPresets(_ id: String) {
        state.withLock { state in
            for stream in state.streams.values { stream.add { $0.presets.appendOnce(id) } }
        }
    }

    /// Tells all pages that this is the end.
    func end() {
        state.withLock { state in
            state.isEnding = true
            for stream in state.streams.values { stream.add { $0.isEnding = true } }
        }
    }

    // MARK: - Waiting

    /// Waits until the tweaks of a program are known, or until it is in another state.
    func waitForTweaks(of id: String) async {
        await withCheckedContinuation { continuation in
            let isReady = state.withLock { state in
                guard let place = state.place(id), !state.programs[place].isFresh else { return true }
                state.waiters[id, default: []].append(continuation)
                return false
            }
            if isReady { continuation.resume() }
        }
    }

    /// Waits, on this thread, until a process has an entry.
    ///
    /// - Returns: The entry; `nil` if there is none in time.
    func waitForEntry(of pid: pid_t, patience: Duration) -> String? {
        let waiter = DispatchSemaphore(value: 0)
        let isThere = state.withLock { state in
            if state.programs.contains(where: { $0.pid == pid }) { return true }
            state.processWaiters[pid, default: []].append(waiter)
            return false
        }
        if !isThere { _ = waiter.wait(timeout: .now() + patience / .seconds(1)) }
        return state.withLock { state in
            state.processWaiters[pid]?.removeAll { $0 === waiter }
            return state.programs.first { $0.pid == pid }?.id
        }
    }
}

extension Board.State {
    /// More have run one after the other than anybody remembers.
    private static let mostPrograms = 256

    /// Makes room for another program by leaving out one that ended long ago.
    mutating func forgetOldest() {
        guard programs.count >= Self.mostPrograms else { return }
        let ended = programs.indices.filter {
            programs[$0].state == .offline && programs[$0].ended != nil && programs[$0].followers.isEmpty
        }
        guard let oldest = ended.min(by: { (programs[$0].ended ?? 0) < (programs[$1].ended ?? 0) }) else {
            return
        }
        forget(oldest)
    }

    /// Leaves out the programs that have ended, of which nothing is kept, and that no page is at. Those of other users, which
    /// this one neither edits nor starts, are left out in any case.
    mutating func forgetEnded() {
        let seen = Set(viewers.values.compactMap(\.program))
        for place in programs.indices.reversed() {
            let entry = programs[place]
            guard entry.state == .offline, entry.ended != nil, !entry.isRestarting,
                entry.user != nil || !(entry.isKept || seen.contains(entry.id))
            else { continue }
            forget(place)
        }
    }

    mutating func forget(_ place: Int) {
        let id = programs.remove(at: place).id
        resume(id)
        for stream in streams.values { stream.add { $0.gone.appendOnce(id) } }
    }

    mutating func resume(_ id: String) {
        for waiter in waiters.removeValue(forKey: id) ?? [] { waiter.resume() }
    }

    fileprivate func tell(_ entry: ProgramEntry) {
        for stream in streams.values { stream.add { $0.programs.appendOnce(entry.id) } }
    }

    fileprivate func followers(of id: String) -> [EventStream] {
        place(id).map { programs[$0].followers.compactMap { streams[$0] } } ?? []
    }

    fileprivate mutating func change(
        _ place: Int, _ key: TweakKey, _ value: TweakValue?, _ source: String?, _ pendingValue: TweakValue?,
        time: Double? = nil
    ) {
        let by = programs[place].expected.take(key, pendingValue ?? value)
        guard
            let before = programs[place].tweaks?.update(
                key, value: value, source: source, pendingValue: pendingValue)
        else { return }
        let change = ChangeForm(
            tweak: key, oldValue: .scalar(before.value ?? .nothing), value: .scalar(value ?? .nothing),
            pendingValue: pendingValue.map { .scalar($0) }, source: source, time: time ?? secondsSince1970(),
            by: by.map { "\($0)" })
        let id = programs[place].id
        for stream in followers(of: id) {
            stream.add { $0.changes[id, default: PendingChanges()].add(change) }
        }
    }
}
