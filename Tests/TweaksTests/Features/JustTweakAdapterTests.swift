// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

@testable import Tweaks

/// JustTweak's interface, as far as these tests need it, on a store: what its users would keep while they port.
private struct TweakManager {
    let store: TweakStore

    init(tweakProviders: [any TweakProvider], store: TweakStore = TweakStore()) throws {
        self.store = store
        for provider in tweakProviders { try store.add(provider, above: nil) }
    }

    func tweakWith(feature: String, variable: String) -> TweakStatus? {
        try? store.status(of: TweakKey(feature: feature, variable: variable))
    }

    func value(_ feature: String, _ variable: String) -> (any Hashable & Sendable)? {
        tweakWith(feature: feature, variable: variable)?.value.swiftValue
    }

    func set(_ value: TweakValue, feature: String, variable: String) throws {
        try store.set(value, for: TweakKey(feature: feature, variable: variable))
    }

    func deleteValue(feature: String, variable: String) throws {
        try store.reset(TweakKey(feature: feature, variable: variable))
    }

    func isFeatureEnabled(_ feature: String) -> Bool { store.isFeatureEnabled(feature) }

    /// What its screen shows: tweaks by group, sorted by title.
    var sections: [(title: String, titles: [String])] {
        let tweaks = store.categories.flatMap(\.collections).flatMap(\.tweaks).map(\.declaration)
        return Dictionary(grouping: tweaks) { $0.group ?? "Other" }.sorted { $0.key < $1.key }
            .map { ($0.key, $0.value.map { $0.title ?? $0.key.name }.sorted()) }
    }
}

@Suite struct `JustTweak's behaviour through an adapter` {
    private let home: TemporaryDirectory
    private let manager: TweakManager

    private static let top = """
        { "ui_customization": {
            "display_red_view": { "Title": "Red", "Group": "UI", "Value": false },
            "alpha": { "Title": "Alpha", "Description": "of the view", "Group": "UI", "Value": 1 } },
          "general": { "greeting": { "Title": "Greeting", "Group": "General", "Value": "hi" } } }
        """
    private static let bottom = """
        { "ui_customization": {
            "display_red_view": { "Title": "Red", "Group": "UI", "Value": true },
            "label_text": { "Title": "Text", "Group": "UI", "Value": "Test value" } },
          "general": { "answer": { "Title": "Answer", "Value": 42 } } }
        """

    init() throws {
        home = try TemporaryDirectory()
        let files = [try home.write("top.json", Self.top), try home.write("bottom.json", Self.bottom)]
        manager = try TweakManager(tweakProviders: files.map { try VariablesProvider(files: [$0]) })
    }

    @Test func `The first provider that has a variable decides`() {
        #expect(manager.value("ui_customization", "display_red_view") as? Bool == false)
        #expect(manager.value("ui_customization", "label_text") as? String == "Test value")
        #expect(manager.value("general", "answer") as? Int == 42)
        #expect(manager.tweakWith(feature: "general", variable: "some_undefined") == nil)
        #expect(
            manager.tweakWith(feature: "general", variable: "answer")?.source == TweakSource("bottom.json"))
        #expect(manager.isFeatureEnabled("general") && !manager.isFeatureEnabled("undefined"))
    }

    @Test func `Typed properties have their declared type, however the file writes the number`() {
        @FeatureVariable("ui_customization", "alpha", store: manager.store) var alpha = 0.5
        @FeatureVariable("ui_customization", "display_red_view", store: manager.store) var isRed = true
        @FeatureVariable("ui_customization", "label_text", fallback: "x", store: manager.store) var text:
            String
        @OptionalFeatureVariable("general", "answer", store: manager.store) var answer: Int?
        #expect(alpha == 1 && !isRed && text == "Test value" && answer == 42)
        (alpha, isRed, text, answer) = (0.25, true, "Another", 24)
        #expect(alpha == 0.25 && isRed && text == "Another" && answer == 24)
        #expect(manager.value("ui_customization", "alpha") as? Double == 0.25)
        answer = nil
        #expect(answer == 42)
    }

    @Test func `An undeclared name has its fallback, or nil, until it is set, and keeps the set value`()
        throws
    {
        @FeatureVariable("missing", "text", fallback: "fallback", store: manager.store) var text: String
        @OptionalFeatureVariable("missing", "number", store: manager.store) var number: Int?
        #expect(text == "fallback" && number == nil)
        (text, number) = ("set", 1)
        #expect(text == "set" && number == 1)
        let json = #"{ "missing": { "text": { "Value": "file" }, "number": { "Value": 7 } } }"#
        try manager.store.add(VariablesProvider(files: [home.write("late.json", json)]), above: nil)
        #expect(manager.value("missing", "text") as? String == "set" && number == 1)
        number = nil
        #expect(number == 7)
    }

    @Test func `A set value is pinned, also one that the provider below has already`() throws {
        let top = try #require(
            manager.store.state.withLock { $0.layers.feeds.first?.provider } as? VariablesProvider)
        try manager.set("hi", feature: "general", variable: "greeting")
        try manager.set(true, feature: "ui_customization", variable: "display_red_view")
        _ = try home.write("top.json", #"{ "general": { "greeting": { "Value": "changed" } } }"#)
        try top.reload()
        #expect(manager.value("general", "greeting") as? String == "hi")
        #expect(manager.tweakWith(feature: "general", variable: "greeting")?.source == .overrides)
        #expect(manager.value("ui_customization", "display_red_view") as? Bool == true)
        try manager.deleteValue(feature: "general", variable: "greeting")
        #expect(waitUntil { manager.value("general", "greeting") as? String == "changed" })
    }

    @Test func `Groups and titles come from the file, also for declared tweaks`() throws {
        @FeatureVariable("ui_customization", "alpha", store: manager.store) var alpha = 0.5
        #expect(alpha == 1)
        let sections = manager.sections
        #expect(sections.map(\.title) == ["General", "Other", "UI"])
        #expect(sections.map(\.titles) == [["Greeting"], ["Answer"], ["Alpha", "Red", "Text"]])
    }
}

/// SwiftTweaks' actions on a store.
private final class SwiftTweaksAction {
    private let store: TweakStore
    private let key: TweakKey
    private var closures: [Int: TweakAction] = [:]

    init(_ category: String, _ collection: String, _ name: String, in store: TweakStore) {
        (self.store, key) = (store, TweakKey(category, collection, name))
    }

    func addClosure(_ closure: @escaping @Sendable () -> Void) throws -> Int {
        let identifier = closures.count
        closures[identifier] = try store.makeAction(key.category, key.collection, key.name, closure)
        return identifier
    }

    func removeClosure(with identifier: Int) { closures[identifier]?.remove() }
    func evaluateAllClosures() { try? store.run(key) }
}

@Suite struct `SwiftTweaks' behaviour through an adapter` {
    @Test
    func `An action runs its remaining closures in the order in which they were added`()
        throws
    {
        let runs = Recorded<String>()
        let action = SwiftTweaksAction("Action", "Test", "Actions", in: TweakStore())
        action.evaluateAllClosures()
        let identifiers = try ["a", "b", "c"].map { name in try action.addClosure { runs.append(name) } }
        action.evaluateAllClosures()
        #expect(runs.all == ["a", "b", "c"])
        action.removeClosure(with: identifiers[1])
        action.removeClosure(with: 99)
        action.evaluateAllClosures()
        #expect(runs.all == ["a", "b", "c", "a", "c"])
        for identifier in identifiers { action.removeClosure(with: identifier) }
        action.evaluateAllClosures()
        #expect(runs.all.count == 5)
    }

    @Test func `Several actions of one name are all run`() throws {
        let (store, runs) = (TweakStore(), Recorded<Int>())
        let actions = (0..<2).map { _ in SwiftTweaksAction("Action", "Test", "Same", in: store) }
        for (number, action) in actions.enumerated() { _ = try action.addClosure { runs.append(number) } }
        actions[0].evaluateAllClosures()
        #expect(runs.all == [0, 1])
    }
}
