// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Dispatch
import Glibc
import Synchronization
import TweakClient
import TweakJSON
import TweakProtocol
import TweakRecords
import TweakSystem

/// The known programs and the open pages. Protected by one lock, which is never held for long.
final class Board: Sendable {
    private let state = Mutex(State())
    /// Wakes ``Discovery`` after a change of the programs or of the pages.
    let lookout = WakeUp()
    /// The budget for the answers of all programs: about 400,000 tweaks. Decoded, and encoded for pages, they take up to nine
    /// times as much.
    let budget = AnswerBudget(most: 96 << 20)

    /// Tells the changes of these pages from those of another server.
    private let name = String(UInt64.random(in: .min ... .max), radix: 36)

    fileprivate struct State {
        var programs: [ProgramEntry] = []
        var streams: [Int: EventStream] = [:]
        var viewers: [Int: Viewer] = [:]
        var lastStream = 0
        var isEnding = false
        /// Tasks that wait for the tweaks of a program.
        var waiters: [String: [CheckedContinuation<Void, Never>]] = [:]
        /// Threads that wait for an entry.
        var entryWaiters: [DispatchSemaphore] = []

        func place(_ id: String) -> Int? { programs.firstIndex { $0.id == id } }
    }

    /// A page, and what its user is editing.
    struct Viewer: Encodable {
        let stream: String
        var name: String?
        var program: String?
        var tweak: String?
        var since: Double
    }

    static let mostStreams = 64

    // MARK: - Programs

    /// A share of the budget for the records in a program's files, which take as much as a list of twice their size.
    func share(forRecordsIn path: String) throws(Failure) -> AnswerBudget.Share {
        let share = AnswerBudget.Share(of: budget)
        do throws(ConnectionError) {
            try share.resize(to: 2 * OfflineProgram.recordSize(of: path))
        } catch {
            throw error.failure(of: lastComponent(of: path))
        }
        return share
    }

    var programs: [ProgramForm] { state.withLock { $0.programs.map { ProgramForm($0) } } }
    var entries: [ProgramEntry] { state.withLock { $0.programs } }
    subscript(id: String) -> ProgramEntry? {
        state.withLock { state in state.place(id).map { state.programs[$0] } }
    }

    /// Changes the entry of a program: its earlier entry, or a new one, which no page sees before the change.
    ///
    /// - Parameters:
    ///   - name: The application's name, under which values are kept.
    ///   - user: The owner, if it is another user than ours.
    /// - Returns: The identifier of the entry.
    func entry(
        name: String, executable: String?, user: String? = nil, isRunning: Bool,
        _ body: (inout sending ProgramEntry) -> Void = { _ in }
    ) -> String {
        let (id, isChanged) = state.withLock { state in
            let known = state.programs.firstIndex { entry in
                // A program cannot claim to be another user's.
                guard entry.user == user else { return false }
                // The path of a program that was never seen running is not known.
                return
                    (entry.executable == nil || executable == nil
                    ? entry.name == name : entry.executable == executable)
                    && (!isRunning || entry.state == .offline)
            }
            let place = known ?? state.add(name: name, executable: executable, user: user)
            let isChanged = state.update(place, isNew: known == nil) { entry in
                if let executable { entry.executable = executable }
                body(&entry)
            }
            return (state.programs[place].id, isChanged)
        }
        if isChanged { lookout.wake() }
        return id
    }

    /// Changes an entry, and announces visible changes to the pages.
    func update(_ id: String, _ body: (inout sending ProgramEntry) -> Void) {
        let isChanged = state.withLock { state in state.place(id).map { state.update($0, body) } }
        if isChanged == true { lookout.wake() }
    }

    /// Records the end of a process.
    func end(_ id: String, _ process: pid_t) {
        let isKept = self[id]?.keepsSomething ?? false
        update(id) { entry in
            entry.end(process)
            entry.isKept = isKept
        }
        tellOfTrials(id)
        forgetEnded()
    }

    /// Removes programs that have ended and are not needed.
    func forgetEnded() { state.withLock { $0.forgetEnded() } }

    /// Removes a program that is not running. Its kept values stay.
    ///
    /// - Returns: `false` if it is running.
    func remove(_ id: String) -> Bool {
        state.withLock { state in
            guard let place = state.place(id), state.programs[place].state == .offline else { return false }
            state.forget(place)
            return true
        }
    }

    /// The visible properties of an entry; changes of others are not announced.
    fileprivate struct Shown: Equatable {
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

    /// Stores a complete list of a program's tweaks.
    ///
    /// - Parameter share: The share of the budget that they take.
    func replace(
        _ id: String, _ tweaks: [JSONTweak], undeclared: [UndeclaredValue] = [],
        _ share: AnswerBudget.Share? = nil
    ) {
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
                state.programs[place].tweaks?.share = share
            } else {
                if state.programs[place].tweaks != nil {
                    for stream in state.followers(of: id) { stream.add { $0.reloaded.appendOnce(id) } }
                }
                state.programs[place].tweaks = KnownTweaks(tweaks, share)
            }
            if Shown(state.programs[place]) != before { state.tell(state.programs[place]) }
            state.resume(id)
        }
    }

    /// Stores changes that a program has announced.
    func change(_ id: String, _ changes: [ChangedTweaks.Change]) {
        state.withLock { state in
            guard let place = state.place(id) else { return }
            for change in changes {
                // A removed tweak is missing in the next list.
                guard change.newValue != .null, let tweak = state.programs[place].tweaks?[change.tweak]
                else { continue }
                let value = change.newValue.value(of: tweak.declaration.type)
                let hasPassed = tweak.isGated && value == tweak.pendingValue
                state.change(
                    place, change.tweak, value, change.source, hasPassed ? nil : tweak.pendingValue,
                    time: change.time, by: change.by, stream: change.tag.flatMap(stream(ofTag:)))
            }
        }
    }

    /// Stores the values of some tweaks.
    ///
    /// - Parameters:
    ///   - time: The time before they were read; `nil` for now.
    ///   - isComplete: Whether these values are the only source. If the program announces changes itself, a newer value
    ///     may have been stored already, so only the other properties are updated.
    func note(_ id: String, _ tweaks: [JSONTweak], at time: Double? = nil, isComplete: Bool) {
        state.withLock { state in
            guard let place = state.place(id) else { return }
            for tweak in tweaks {
                let key = tweak.declaration.key
                guard isComplete || state.programs[place].tweaks?[key]?.value == tweak.value else { continue }
                state.change(
                    place, key, tweak.value, tweak.source, tweak.pendingValue, time: time,
                    stream: state.programs[place].changer)
            }
        }
    }

    /// The tag of a page's changes.
    func tag(of stream: Int) -> String { "\(name)/\(stream)" }

    /// The page whose changes have a tag.
    private func stream(ofTag tag: String) -> Int? {
        tag.hasPrefix(name + "/") ? Int(tag.dropFirst(name.utf8.count + 1)) : nil
    }

    /// Notes the page whose change of a program is being made, or `nil` when it is done.
    func noteChanger(of id: String, _ stream: Int?) { update(id) { $0.changer = stream } }

    /// Sends samples to the pages that want them.
    func sample(
        _ id: String, _ keys: [TweakKey], rate: Double, dropped: Int, _ frames: [(Double, [Double?])]
    ) {
        let (watches, first) = state.withLock { state -> ([(EventStream, Watch)], Int) in
            guard let place = state.place(id) else { return ([], 0) }
            let first = state.programs[place].sampledFrames
            state.programs[place].sampledFrames += frames.count
            let watches = state.programs[place].watches.compactMap { number, watch in
                state.streams[number].map { ($0, watch) }
            }
            return (watches, first)
        }
        for (stream, watch) in watches {
            let places = watch.tweaks.map { keys.firstIndex(of: $0) }
            // A page with a lower rate gets every second, third… sample.
            let stride = max(1, Int((rate / watch.rate).rounded()))
            stream.add { pending in
                var samples = pending.samples[id] ?? PendingSamples(tweaks: watch.tweaks)
                if samples.tweaks != watch.tweaks { samples = PendingSamples(tweaks: watch.tweaks) }
                samples.dropped += dropped
                for (index, (time, values)) in frames.enumerated() where (first + index) % stride == 0 {
                    samples.add(time, places.map { place in place.flatMap { values[$0] } })
                }
                pending.samples[id] = samples
            }
        }
    }

    // MARK: - Pages

    /// Whether a page is open.
    var isWatched: Bool { state.withLock { !$0.streams.isEmpty } }
    /// How long what needs no haste can wait. The first page ends it.
    var usualPause: Duration { isWatched ? .seconds(1) : .seconds(15) }

    /// Opens the event stream of a page; `nil` if there are too many.
    func open() -> EventStream? {
        defer { wake() }
        return state.withLock { state in
            guard state.streams.count < Self.mostStreams, !state.isEnding else { return nil }
            state.lastStream += 1
            let stream = EventStream(number: state.lastStream)
            state.streams[stream.number] = stream
            state.viewers[stream.number] = Viewer(stream: "\(stream.number)", since: secondsSince1970())
            for other in state.streams.values { other.add { $0.viewersChanged = true } }
            for entry in state.programs where !entry.trials.isEmpty {
                stream.add { [id = entry.id] in $0.trials.appendOnce(id) }
            }
            return stream
        }
    }

    /// Has everybody look, because a page was opened or asks.
    func wake() {
        for entry in entries { entry.follower?.wake() }
        lookout.wake()
    }

    func close(_ stream: EventStream) {
        let followers = state.withLock { state -> [any Follower] in
            guard state.streams.removeValue(forKey: stream.number) != nil else { return [] }
            state.viewers[stream.number] = nil
            for other in state.streams.values { other.add { $0.viewersChanged = true } }
            for place in state.programs.indices {
                guard let trial = state.programs[place].trials.removeValue(forKey: stream.number) else {
                    continue
                }
                trial.end()
                state.tellOfTrials(state.programs[place].id)
            }
            return state.programs.indices.compactMap { place in
                guard state.programs[place].followers.remove(stream.number) != nil else { return nil }
                state.resume(state.programs[place].id)
                state.programs[place].watches[stream.number] = nil
                return state.programs[place].follower
            }
        }
        for follower in followers { follower.wake() }
        lookout.wake()
        forgetEnded()
    }

    /// Notes that a page has answered.
    func hear(_ stream: Int) { state.withLock { $0.streams[stream] }?.hear() }

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

    /// Makes a page follow a program, or stop following it.
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
        lookout.wake()
    }

    /// Sends samples of a program to a page.
    func watch(_ id: String, _ stream: Int, _ watch: Watch) {
        let follower = state.withLock { state -> (any Follower)? in
            guard let place = state.place(id), state.streams[stream] != nil else { return nil }
            state.programs[place].watches[stream] = watch.tweaks.isEmpty ? nil : watch
            return state.programs[place].follower
        }
        follower?.wake()
    }

    func tellOfTrials(_ id: String) { state.withLock { $0.tellOfTrials(id) } }

    /// Makes pages load the tweaks of a program again.
    func tellOfTweaks(_ id: String) {
        state.withLock { state in
            for stream in state.followers(of: id) { stream.add { $0.reloaded.appendOnce(id) } }
        }
    }

    func tellOfPresets(_ id: String) {
        state.withLock { state in
            for stream in state.streams.values { stream.add { $0.presets.appendOnce(id) } }
        }
    }

    /// Announces the end of the server to all pages.
    func end() {
        state.withLock { state in
            state.isEnding = true
            for stream in state.streams.values { stream.add { $0.isEnding = true } }
        }
    }

    // MARK: - Waiting

    /// Waits until the tweaks of a program are known, or its state changes.
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

    /// Blocks until there is an entry as wanted.
    ///
    /// - Parameters:
    ///   - patience: The timeout.
    ///   - isHopeless: Returns whether to give up; checked after ``wakeWaiters()`` too.
    func waitForEntry(
        _ patience: Duration, isHopeless: () -> Bool = { false }, where isWanted: (ProgramEntry) -> Bool
    ) -> ProgramEntry? {
        let waiter = DispatchSemaphore(value: 0)
        state.withLock { $0.entryWaiters.append(waiter) }
        defer { state.withLock { $0.entryWaiters.removeAll { $0 === waiter } } }
        let deadline = DispatchTime.now() + patience / .seconds(1)
        while true {
            if let entry = entries.first(where: isWanted) { return entry }
            if isHopeless() || waiter.wait(timeout: deadline) == .timedOut { return nil }
        }
    }

    /// Makes threads that wait for an entry check whether to give up.
    func wakeWaiters() {
        state.withLock { state in
            for waiter in state.entryWaiters { waiter.signal() }
        }
    }
}

extension Board.State {
    /// Adds a program.
    ///
    /// - Returns: The place of its entry.
    mutating func add(name: String, executable: String?, user: String?) -> Int {
        forgetOldest()
        let taken = Set(programs.map(\.id))
        var (id, number) = (name, 1)
        while taken.contains(id) {
            number += 1
            id = "\(name)~\(number)"
        }
        programs.append(ProgramEntry(id: id, name: name, executable: executable, user: user))
        return programs.endIndex - 1
    }

    /// Changes an entry, and announces it if it is new or visibly changed.
    ///
    /// - Returns: Whether it was announced.
    mutating func update(
        _ place: Int, isNew: Bool = false, _ body: (inout sending ProgramEntry) -> Void
    ) -> Bool {
        let before = Board.Shown(programs[place])
        body(&programs[place])
        let entry = programs[place]
        let isChanged = isNew || Board.Shown(entry) != before
        if isChanged {
            tell(entry)
            for waiter in entryWaiters { waiter.signal() }
        }
        if entry.isFresh || entry.state != before.state { resume(entry.id) }
        return isChanged
    }

    /// Nobody remembers more programs that ran one after the other.
    private static let mostPrograms = 256

    /// Makes room for another program by removing the one that ended first.
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

    /// Removes programs that have ended, have no kept values, and are on no page. Programs of other users, which this
    /// one neither edits nor starts, are always removed.
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

    fileprivate func tellOfTrials(_ id: String) {
        for stream in streams.values { stream.add { $0.trials.appendOnce(id) } }
    }

    fileprivate func followers(of id: String) -> [EventStream] {
        place(id).map { programs[$0].followers.compactMap { streams[$0] } } ?? []
    }

    fileprivate mutating func change(
        _ place: Int, _ key: TweakKey, _ value: TweakValue?, _ source: String?, _ pendingValue: TweakValue?,
        time: Double? = nil, by: String? = nil, stream: Int? = nil
    ) {
        guard
            let before = programs[place].tweaks?.update(
                key, value: value, source: source, pendingValue: pendingValue)
        else { return }
        let change = ChangeForm(
            tweak: key, oldValue: .scalar(before.value ?? .nothing), newValue: .scalar(value ?? .nothing),
            pendingValue: pendingValue.map { .scalar($0) }, source: source, time: time ?? secondsSince1970(),
            by: by, stream: stream.map { "\($0)" })
        let id = programs[place].id
        for stream in followers(of: id) {
            stream.add { $0.changes[id, default: PendingChanges()].add(change) }
        }
    }
}
