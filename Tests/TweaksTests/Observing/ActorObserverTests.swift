// SPDX-License-Identifier: BSD-3-Clause
import Testing

@testable import Tweaks

@Suite struct `Observing on an actor` {
    private let store = TweakStore()
    private let width: Tweak<Int>

    init() throws { width = try store.make("A", "B", "Width", default: 1) }

    private actor Model {
        var changes: [Tweak<Int>.Change] = []
        var waiters: [(Int, CheckedContinuation<Void, Never>)] = []

        func take(_ change: Tweak<Int>.Change) {
            changes.append(change)
            waiters.filter { $0.0 == change.newValue }.forEach { $0.1.resume() }
            waiters.removeAll { $0.0 == change.newValue }
        }

        func wait(for value: Int) async {
            if changes.last?.newValue == value { return }
            await withCheckedContinuation { waiters.append((value, $0)) }
        }

        func set(_ tweak: Tweak<Int>, _ values: ClosedRange<Int>) throws {
            for value in values { try tweak.set(value) }
        }

        func observe(_ tweak: Tweak<Int>, setting value: Int, cancelling: Bool) throws {
            let token = tweak.observe(on: self) { $0.take($1) }
            try tweak.set(value)
            if cancelling { token.cancel() }
        }
    }

    @Test func `the closure runs on it`() async throws {
        let model = Model()
        let token = width.observe(on: model, initially: true) { model, change in
            model.assertIsolated()
            model.take(change)
        }
        await model.wait(for: 1)
        try width.set(2)
        await model.wait(for: 2)
        #expect(await model.changes.map(\.newValue) == [1, 2])
        token.cancel()
    }

    @Test func `changes that wait become one`() async throws {
        let model = Model()
        let token = width.observe(on: model) { $0.take($1) }
        // The actor is busy with setting, so all wait.
        try await model.set(width, 2...100)
        await model.wait(for: 100)
        #expect(await model.changes == [.init(oldValue: 1, newValue: 100, source: .overrides)])
        token.cancel()
    }

    @Test func `cancelling it on the actor stops all calls`() async throws {
        let model = Model()
        try await model.observe(width, setting: 5, cancelling: true)
        for _ in 1...20 { await Task.yield() }
        #expect(await model.changes.isEmpty)
    }

    @Test func `it ends with the actor`() async throws {
        var model: Model? = Model()
        weak let weakModel = model
        let token = width.observe(on: try #require(model)) { $0.take($1) }
        model = nil
        try width.set(2)
        for _ in 1...1000 where weakModel != nil { await Task.yield() }
        #expect(weakModel == nil)
        token.cancel()
    }

    @MainActor private final class Label {
        var text = ""
        var number = 0
    }

    @MainActor @Test func `the main actor is one`() async throws {
        let label = Label()
        let token = width.observe(on: MainActor.self, initially: true) { label.text = "\($0.newValue)" }
        while label.text != "1" { await Task.yield() }
        try width.set(2)
        #expect(label.text == "1")
        while label.text != "2" { await Task.yield() }
        try width.set(3)
        token.cancel()
        for _ in 1...20 { await Task.yield() }
        #expect(label.text == "2")
    }

    @MainActor @Test func `an owner and several tweaks can be observed on it`() async throws {
        let height = try store.make("A", "B", "Height", default: 1)
        let label = Label()
        width.observe(owner: label, on: MainActor.self) { label, change in label.number = change.newValue }
        let token = TweakStore.observe(width, height, on: MainActor.self, initially: true) {
            label.text = "\($0)x\($1)"
        }
        while label.text != "1x1" { await Task.yield() }
        try width.set(2)
        try height.set(3)
        while label.text != "2x3" || label.number != 2 { await Task.yield() }
        token.cancel()
    }

    @MainActor @Test func `a property of its objects can be bound`() async throws {
        var label: Label? = Label()
        weak let weakLabel = label
        width.bind(to: try #require(label), \.number)
        #expect(label?.number == 1)
        try width.set(2)
        while label?.number != 2 { await Task.yield() }
        label = nil
        #expect(weakLabel == nil)
        try width.set(3)
    }
}

@Suite struct `Binding a property` {
    /// `@unchecked Sendable`: the test uses it on one thread.
    private final class Spring: @unchecked Sendable { var stiffness = 0.0 }

    @Test func `keeps it equal as long as the object exists`() throws {
        let tweak = try TweakStore().make("A", "B", "Stiffness", default: 120.0)
        var spring: Spring? = Spring()
        weak let weakSpring = spring
        tweak.bind(to: try #require(spring), \.stiffness)
        #expect(spring?.stiffness == 120)
        try tweak.set(240)
        #expect(spring?.stiffness == 240)
        spring = nil
        #expect(weakSpring == nil)
        try tweak.set(1)
    }
}
