// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import Synchronization

/// One watch of an environment in etcd, at one member, for many applications.
///
/// A watch per application would cost a connection each: 30 KB here, and more in etcd. In return, a shared watch receives
/// the changes of all applications in the environment, including those that this host does not run.
final class SharedWatch: Sendable {
    /// Called with messages for one application.
    typealias Body = @Sendable ([EtcdWatchMessage]) throws(FetchProblem) -> Void
    /// Called once with the reason for the end.
    typealias End = @Sendable (FetchProblem) -> Void
    /// Watches changes from a revision on, until the watch ends.
    typealias Watch = @Sendable (_ revision: Int, _ body: Body) async -> FetchProblem

    private struct Follower {
        /// The prefix of the application's keys.
        let root: [UInt8]
        let places: [FleetPlace]
        /// The first revision that the follower does not know.
        let revision: Int
        let body: Body
        let end: End

        func follows(_ key: [UInt8]) -> Bool {
            guard key.starts(with: root) else { return false }
            return places.contains { key.dropFirst(root.count).starts(with: $0.rawValue.utf8) }
        }
    }

    private struct State {
        var followers: [Int: Follower] = [:]
        /// The followers' numbers, by the prefixes of their applications.
        var numbers: [[UInt8]: Set<Int>] = [:]
        var last = 0
        var watching: Task<Void, Never>?
        /// Distinguishes the watch from a previous one that is still ending.
        var watch = 0
        /// The header of the last message; `nil` until the watch has started.
        var header: EtcdHeader?
        var recent = RecentChanges()
        var isRefused = false
    }

    /// The prefix of all keys in the environment, with a trailing slash.
    private let root: [UInt8]
    private let watch: Watch
    private let state = Mutex(State())

    init(root: String, watch: @escaping Watch) {
        (self.root, self.watch) = (Array(root.utf8), watch)
    }

    /// Follows the keys of one application.
    ///
    /// - Parameters:
    ///   - keys: The keys.
    ///   - revision: The first revision that is not known.
    ///   - body: Called with messages, in order, until the end.
    ///   - end: Called at the end. Both are called with the lock held, and must not call back.
    /// - Returns: The number for ``leave(_:)``; `nil` if etcd refuses a watch of the whole environment.
    func follow(_ keys: FleetRange, from revision: Int, _ body: @escaping Body, end: @escaping End) -> Int? {
        state.withLock { state in
            if state.isRefused { return nil }
            state.last += 1
            join(
                state.last,
                Follower(
                    root: Array(keys.root.utf8), places: keys.places, revision: revision, body: body, end: end
                ),
                &state)
            return state.last
        }
    }

    /// Ends following, if it has not ended.
    func leave(_ number: Int) {
        state.withLock { leave(number, FetchProblem(message: "cancelled"), &$0) }
    }

    private func join(_ number: Int, _ follower: Follower, _ state: inout State) {
        state.followers[number] = follower
        state.numbers[follower.root, default: []].insert(number)
        guard state.watching != nil else { return start(from: follower.revision, &state) }
        guard follower.revision >= state.recent.first else {
            // It reads everything again.
            return leave(number, FetchProblem(message: "the changes before the watch are missing"), &state)
        }
        guard let header = state.header else { return }
        tell([.created(header.notBefore(follower.revision - 1))], number, &state)
        let missed = state.recent.changes.filter { follower.follows($0.entry.key) }
        if !missed.isEmpty { tell([.changes(missed, upTo: header)], number, &state) }
    }

    private func start(from revision: Int, _ state: inout State) {
        state.watch += 1
        (state.header, state.recent) = (nil, RecentChanges(first: revision))
        state.watching = Task { [watch = state.watch] in
            let problem = await self.watch(revision) { (messages) throws(FetchProblem) in
                try self.take(messages, of: watch)
            }
            end(watch, problem)
        }
    }

    private func end(_ watch: Int, _ problem: FetchProblem) {
        state.withLock { state in
            guard state.watch == watch else { return }
            state.watching = nil
            state.isRefused = problem.isForbidden
            for number in Array(state.followers.keys) { leave(number, problem, &state) }
        }
    }

    private func leave(_ number: Int, _ problem: FetchProblem, _ state: inout State) {
        guard let follower = state.followers.removeValue(forKey: number) else { return }
        state.numbers[follower.root]?.remove(number)
        if state.numbers[follower.root]?.isEmpty == true { state.numbers[follower.root] = nil }
        follower.end(problem)
        guard state.followers.isEmpty, let watching = state.watching else { return }
        watching.cancel()
        (state.watching, state.watch) = (nil, state.watch + 1)
    }

    // MARK: - Messages

    private func take(_ messages: [EtcdWatchMessage], of watch: Int) throws(FetchProblem) {
        let isCurrent = state.withLock { state in
            guard state.watch == watch else { return false }
            for message in messages {
                switch message {
                case .ended: break
                case .changes(let all, let header) where !all.isEmpty:
                    state.header = header
                    // Hosts report more often than values change.
                    let changes = all.filter { isOfValue($0.entry.key) }
                    for change in changes { state.recent.append(change) }
                    tell(changes, header, &state)
                case .created(let header), .changes(_, let header):
                    state.header = header
                    for (number, follower) in state.followers {
                        // The read of a newer revision may have overtaken this message.
                        let header = header.notBefore(follower.revision - 1)
                        let isStart = if case .created = message { true } else { false }
                        tell([isStart ? .created(header) : .changes([], upTo: header)], number, &state)
                    }
                case .compacted:
                    for number in Array(state.followers.keys) { tell([message], number, &state) }
                }
            }
            return true
        }
        if !isCurrent { throw FetchProblem(message: "cancelled") }
    }

    /// Passes changes to the followers of their applications.
    private func tell(_ changes: [EtcdWatchMessage.Change], _ header: EtcdHeader, _ state: inout State) {
        // Changes of an application stay together, in order, whatever their kinds.
        var mine: [Int: [EtcdWatchMessage.Change]] = [:]
        for change in changes {
            guard let application = application(of: change.entry.key) else { continue }
            for number in state.numbers[application] ?? []
            where state.followers[number]?.follows(change.entry.key) == true {
                mine[number, default: []].append(change)
            }
        }
        for (number, changes) in mine { tell([.changes(changes, upTo: header)], number, &state) }
    }

    private func isOfValue(_ key: [UInt8]) -> Bool {
        guard let application = application(of: key) else { return false }
        return FleetPlace.all.contains { key.dropFirst(application.count).starts(with: $0.rawValue.utf8) }
    }

    /// The environment and the application of a key: `/tweaks/production/search/`.
    private func application(of key: [UInt8]) -> [UInt8]? {
        guard key.starts(with: root) else { return nil }
        let slashes = key.indices.dropFirst(root.count).lazy.filter { key[$0] == UInt8(ascii: "/") }
        return slashes.first.map { Array(key[...$0]) }
    }

    private func tell(_ messages: [EtcdWatchMessage], _ number: Int, _ state: inout State) {
        guard let follower = state.followers[number] else { return }
        let unknown = messages.compactMap { (message) -> EtcdWatchMessage? in
            guard case .changes(let changes, let header) = message, !changes.isEmpty else { return message }
            let new = changes.filter { $0.entry.modified >= follower.revision }
            return new.isEmpty ? nil : .changes(new, upTo: header)
        }
        guard !unknown.isEmpty else { return }
        do throws(FetchProblem) { try follower.body(unknown) } catch { leave(number, error, &state) }
    }
}

/// The last changes that a shared watch has reported, for followers that join later.
private struct RecentChanges {
    private(set) var changes: [EtcdWatchMessage.Change] = []
    /// The revision from which on the log is complete.
    private(set) var first: Int
    private var size = 0

    private static let largest = 1 << 20
    private static let most = 1000

    init(first: Int = 0) { self.first = first }

    mutating func append(_ change: EtcdWatchMessage.Change) {
        changes.append(change)
        size += change.entry.size
        guard size > Self.largest || changes.count > Self.most else { return }
        // Half of them, so that not every append moves all others.
        let dropped = changes.prefix((changes.count + 1) / 2)
        for change in dropped {
            size -= change.entry.size
            first = max(first, change.entry.modified + 1)
        }
        changes.removeFirst(dropped.count)
    }
}

extension EtcdEntry {
    fileprivate var size: Int { key.count + value.count }
}
#endif
