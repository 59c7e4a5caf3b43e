// SPDX-License-Identifier: BSD-3-Clause
import FBTweak
import Glibc
import TestSupport
import Testing

@testable import TweakProtocol
@testable import Tweaks

@Suite struct `Actions created in Swift` {
    private let store = TweakStore()
    private let key = TweakKey("Spring", "Drawing", "Clear")
    private let runs = Recorded<String>()

    @discardableResult
    private func makeAction(_ name: String) throws -> TweakAction {
        try store.makeAction("Spring", "Drawing", "Clear", description: "Clears") { runs.append(name) }
    }

    @Test func `All actions of one name run, in order of registration`() throws {
        for name in ["first", "second"] { try makeAction(name) }
        try store.makeAction(key) { runs.append("third") }
        try store.run(key)
        #expect(runs.all == ["first", "second", "third"])
        let tweaks = store.categories.flatMap(\.collections).flatMap(\.tweaks)
        #expect(tweaks.map(\.declaration.description) == ["Clears"] && tweaks.first?.value == .nothing)
    }

    @Test func `Each can be removed, and the action exists as long as one is left`() throws {
        let actions = try ["first", "second", "third"].map(makeAction)
        actions[0].remove()
        actions[0].remove()
        try store.run(key)
        #expect(runs.all == ["second", "third"])
        try makeAction("fourth")
        actions[0].remove()
        actions[1].remove()
        actions[2].remove()
        try store.run(key)
        #expect(runs.all == ["second", "third", "fourth"])
        try store.remove(key)
        #expect(throws: TweakError.self) { try store.run(key) }
        try makeAction("again")
        try store.run(key)
        #expect(runs.all.last == "again")
    }

    @Test func `An action may remove itself and add another while running`() throws {
        let action = Locked<TweakAction?>(nil)
        let (store, runs) = (store, runs)
        let made = try store.makeAction("Spring", "Drawing", "Clear") {
            action.withLock { $0 }?.remove()
            _ = try? store.makeAction("Spring", "Drawing", "Clear") { runs.append("next") }
        }
        action.withLock { $0 = made }
        try store.run(key)
        #expect(runs.all == ["next"])
        action.withLock { $0 = nil }
    }

    @Test func `A closure is released with its action, and with its store`() throws {
        final class Token: Sendable {}
        weak var (removed, kept): (Token?, Token?)
        do {
            let store = TweakStore()
            do {
                let tokens = (Token(), Token())
                (removed, kept) = tokens
                try store.makeAction("A", "B", "C") { [token = tokens.0] in _ = token }
                try store.makeAction("A", "B", "D") { [token = tokens.1] in _ = token }
                try store.remove(TweakKey("A", "B", "C"))
            }
            #expect(removed == nil && kept != nil)
        }
        #expect(kept == nil)
    }

    @Test func `An action on an actor runs there`() async throws {
        actor Board {}
        let board = Board()
        let (ran, continuation) = AsyncStream<String>.makeStream()
        try store.makeAction("Game", "Play", "Clear", on: board) { board in
            board.assertIsolated()
            continuation.yield("on an actor")
        }
        try store.makeAction("Game", "Play", "Clear", on: MainActor.self) {
            MainActor.assertIsolated()
            continuation.yield("on the main actor")
        }
        try store.run(TweakKey("Game", "Play", "Clear"))
        var places: Set<String> = []
        for await place in ran where places.insert(place).inserted && places.count == 2 { break }
        #expect(places == ["on an actor", "on the main actor"])
        withExtendedLifetime(board) {}
    }

    @Test func `An action does not retain its actor, and does nothing without it`() throws {
        actor Board {}
        weak var gone: Board?
        do {
            let board = Board()
            gone = board
            let runs = runs
            try store.makeAction("Game", "Play", "Clear", on: board) { _ in runs.append("ran") }
        }
        #expect(gone == nil)
        try store.run(TweakKey("Game", "Play", "Clear"))
        #expect(runs.all.isEmpty)
    }

    @Test func `A run is over when the actor has run it, or is gone`() async throws {
        actor Board {}
        var board: Board? = Board()
        let isBusy = Locked(true)
        try store.makeAction("Game", "Play", "Clear", on: #require(board)) { _ in
            while isBusy.withLock({ $0 }) { usleep(1000) }
        }
        let isLost = { (run: ActionRun) in
            await withCheckedContinuation { over in run.whenOver { over.resume(returning: $0) } }
        }
        let key = TweakKey("Game", "Play", "Clear")
        let run = ActionRun()
        try store.run(key, as: run)
        #expect(run.handedTo == "actor" && !run.isOver)
        isBusy.withLock { $0 = false }
        #expect(await !isLost(run))
        #expect(run.isOver)
        board = nil
        // The runtime may still hold it for a moment.
        var isGone = false
        for _ in 0..<1000 where !isGone {
            let run = ActionRun()
            try store.run(key, as: run)
            isGone = await isLost(run)
        }
        #expect(isGone)
    }

    @Test func `A run is over at once if nobody else runs a part of it`() throws {
        try makeAction("first")
        let run = ActionRun()
        try store.run(key, as: run)
        #expect(run.handedTo == nil && run.isOver)
    }

    @Test func `A name is not empty`() throws {
        for key in [TweakKey("", "B", "C"), TweakKey("A", "", "C"), TweakKey("A", "B", "")] {
            #expect(throws: TweakError.invalid(key, reason: "a category, collection or name cannot be empty"))
            {
                try store.make(key, default: 1)
            }
            #expect(throws: TweakError.self) {
                try store.makeAction(key.category, key.collection, key.name) {}
            }
        }
        #expect(store.categories.isEmpty)
    }

    @Test func `The name of a tweak with a value is refused`() throws {
        try store.make("Spring", "Drawing", "Clear", default: 1)
        #expect(throws: TweakError.exists(key)) { try makeAction("first") }
        #expect(throws: TweakError.self) { try store.makeAction("\0", "B", "C") {} }
    }
}

@Suite struct `The functions of fbtweak.h` {
    @Test func `find the library from Swift, which is not told of DEBUG`() throws {
        let name = "Functions from Swift"
        let made = fbtweak_make_action(name, "Actions", "Nothing", { _ in }, nil)
        let action = try #require(made)
        #expect(fbtweak_find(name, "Actions", "Nothing") == action)
        #expect(fbtweak_run(action) == CInt(FBTWEAK_OK))
        #expect(fbtweak_remove(action) == CInt(FBTWEAK_OK))
        #expect(fbtweak_find(name, "Actions", "Nothing") == nil)
    }

    /// The number of runs of an action, which is the context of its function.
    private final class Runs: Sendable {
        let count = Locked(0)
        let last = Locked<ActionRun?>(nil)
        var isOver: Bool? { last.withLock { $0?.isOver } }
        static let function: @convention(c) (UnsafeMutableRawPointer?) -> Void = { context in
            guard let context else { return }
            Unmanaged<Runs>.fromOpaque(context).takeUnretainedValue().count.withLock { $0 += 1 }
        }
    }

    /// One case after the other, because a queue for all actions takes those of the other case too.
    @Test(.serialized, arguments: [true, false])
    func `have an action that a person asks for wait in a queue`(isForAll: Bool) throws {
        let category = "Queued actions \(isForAll)"
        let runs = Runs()
        let context = Unmanaged.passUnretained(runs).toOpaque()
        let counting = fbtweak_make_action(category, "Actions", "Count", Runs.function, context)
        let another = fbtweak_make_action(category, "Actions", "Other", Runs.function, context)
        let (action, other) = (try #require(counting), try #require(another))
        defer { for action in [action, other] { fbtweak_remove(action) } }
        let queue = try #require(fbtweak_queue_make())
        let token = fbtweak_run_in(queue, isForAll ? nil : action)
        let requests = ControlRequests(store: .shared, worker: SerialQueue(patience: 1))
        func ask(for name: String) throws {
            let run = ActionRun()
            try requests.run(RunAction(tweak: TweakKey(category, "Actions", name)), as: run)
            runs.last.withLock { $0 = run }
        }

        for _ in 1...3 { try ask(for: "Count") }
        try ask(for: "Other")
        #expect(runs.count.withLock { $0 } == (isForAll ? 0 : 1) && runs.isOver != isForAll)
        #expect(fbtweak_queue_deliver(queue) == (isForAll ? 2 : 1))
        #expect(runs.count.withLock { $0 } == 2 && runs.isOver == true)
        #expect(fbtweak_queue_deliver(queue) == 0)

        // The program itself runs it at once.
        #expect(fbtweak_run(action) == CInt(FBTWEAK_OK) && runs.count.withLock { $0 } == 3)

        try ask(for: "Count")
        fbtweak_unobserve(token)
        #expect(fbtweak_queue_deliver(queue) == 0)
        try ask(for: "Count")
        #expect(runs.count.withLock { $0 } == 4)
        #expect(fbtweak_run_in(nil, action) == 0 && fbtweak_run_in(queue, nil) != 0)
        fbtweak_queue_destroy(queue)
        try ask(for: "Count")
        #expect(runs.count.withLock { $0 } == 5)
    }
}
