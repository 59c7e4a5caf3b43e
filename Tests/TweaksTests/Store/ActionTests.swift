import FBTweak
import TestSupport
import Testing

@testable import Tweaks

@Suite struct `Actions that are made in Swift` {
    private let store = TweakStore()
    private let key = TweakKey("Spring", "Drawing", "Clear")
    private let runs = Recorded<String>()

    @discardableResult
    private func makeAction(_ name: String) throws -> TweakAction {
        try store.makeAction("Spring", "Drawing", "Clear", description: "Clears") { runs.append(name) }
    }

    @Test func `All of one name are run, in the order in which they came`() throws {
        for name in ["first", "second", "third"] { try makeAction(name) }
        try store.run(key)
        #expect(runs.all == ["first", "second", "third"])
        let tweaks = store.categories.flatMap(\.collections).flatMap(\.tweaks)
        #expect(tweaks.map(\.declaration.description) == ["Clears"] && tweaks.first?.value == .nothing)
    }

    @Test func `Each can be removed, and the action is there as long as one is`() throws {
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

    @Test func `One may remove itself and make another while it runs`() throws {
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
}
