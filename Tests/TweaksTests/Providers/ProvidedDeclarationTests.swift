// SPDX-License-Identifier: BSD-3-Clause
import Glibc
import TestSupport
import Testing

@testable import Tweaks

@Suite struct `Files of variables` {
    private let home: TemporaryDirectory
    private let store = TweakStore()
    private let messages = CollectedMessages()
    private let alpha = TweakKey("Features", "shape", "alpha")

    init() throws {
        home = try TemporaryDirectory()
        store.logger = messages.logger
    }

    private func write(_ variables: String) throws -> String {
        let new = try home.write("new.json", #"{ "shape": { \#(variables) } }"#)
        // A store that follows the file never sees a part of it.
        #expect(rename(new, home("v.json")) == 0)
        return home("v.json")
    }

    private func added(_ value: String) throws -> VariablesProvider {
        let provider = try VariablesProvider(files: [write(#""alpha": {"Value": \#(value)}"#)])
        try store.add(provider, above: nil)
        return provider
    }

    private func edit(_ provider: VariablesProvider, _ value: String) throws {
        _ = try write(#""alpha": {"Value": \#(value)}"#)
        try provider.reload()
    }

    @Test(arguments: [true, false]) func `An integer there is the value of a Double that the program makes`(
        isFileFirst: Bool
    ) throws {
        let provider = try VariablesProvider(files: [write(#""alpha": {"Value": 1}"#)])
        if isFileFirst { try store.add(provider, above: nil) }
        if isFileFirst { #expect(try store.value(of: alpha) == 1) }
        let tweak: Tweak<Double> = store.tweak(alpha, default: 0.5)
        if !isFileFirst { try store.add(provider, above: nil) }
        #expect(tweak.value == 1 && tweak.source == provider.source)
        try tweak.set(0.25)
        #expect(tweak.value == 0.25)
        try tweak.reset()
        try edit(provider, "2")
        #expect(waitUntil { tweak.value == 2 } && tweak.defaultValue == 0.5)
        #expect(messages.all.isEmpty)
    }

    @Test func `A text there is a colour, and a number a duration, where the program says so`() throws {
        let file = try write(##""ink": {"Value": "#ff0000"}, "delay": {"Value": 2}, "alpha": {"Value": 1}"##)
        try store.add(VariablesProvider(files: [file]), above: nil)
        @FeatureVariable("shape", "ink", store: store) var ink = TweakColor(red: 0, green: 0, blue: 0)
        @FeatureVariable("shape", "delay", store: store) var delay = Duration.seconds(1)
        @FeatureVariable("shape", "alpha", store: store) var alpha = 0.5
        #expect(ink == TweakColor(red: 255, green: 0, blue: 0) && delay == .seconds(2) && alpha == 1)
        alpha = 0.75
        #expect(alpha == 0.75)
        #expect(try store.status(of: TweakKey("Features", "shape", "delay")).declaration.unit == "s")
        #expect(messages.all.isEmpty)
    }

    @Test func `A value that does not fit the declaration is reported, and used once it fits`()
        throws
    {
        let provider = try added(#""many""#)
        let tweak: Tweak<Double> = store.tweak(alpha, default: 0.5)
        #expect(tweak.value == 0.5 && tweak.source == .binary)
        #expect(messages.all.count == 1)
        try edit(provider, "2")
        #expect(waitUntil { tweak.value == 2 })
        try edit(provider, #""none""#)
        #expect(waitUntil { messages.all.count == 2 } && tweak.value == 2)
        try edit(provider, "3")
        #expect(waitUntil { tweak.value == 3 })
    }

    @Test func `An edit from 20 to 20.5 takes effect if only the file defines the tweak`() throws {
        let provider = try added("20")
        @OptionalFeatureVariable("shape", "alpha", store: store) var number: Double?
        #expect(number == 20)
        let (changes, whole) = (Recorded<TweakChange>(), try store.tweak(of: alpha, Int.self))
        let observation = store.observe(willChange: { changes.append($0) }, didChange: { changes.append($0) })
        try edit(provider, "20.5")
        #expect(waitUntil { number == 20.5 })
        #expect(try store.tweak(of: alpha, Double.self).value == 20.5)
        // The value is not an Int.
        #expect(whole.value == 20 && whole.declaration == nil)
        try edit(provider, "21")
        #expect(waitUntil { number == 21 && changes.all.count == 4 } && whole.value == 21)
        observation.cancel()
        #expect(changes.all.map(\.newValue) == [20.5, 20.5, 21, 21])
        #expect(messages.all.isEmpty)
    }

    @Test func `A handle from before the program has made the tweak goes on following it`() throws {
        let provider = try added("1.0")
        let before = try store.tweak(of: alpha, Double.self)
        let made: Tweak<Double> = store.tweak(alpha, default: 0.5)
        try edit(provider, "2.0")
        #expect(waitUntil { made.value == 2 } && before.value == 2)
        try made.set(3)
        #expect(before.value == 3)
        try made.reset()
        try store.remove(providerOf: provider.source)
        #expect(before.value == 0.5 && made.value == 0.5)
        try store.remove(alpha)
        try store.add(VariablesProvider(files: [write(#""alpha": {"Value": 4.0}"#)]), above: nil)
        #expect(try store.value(of: alpha) == 4.0)
        #expect(before.value == 4 && made.value == 4)
    }

    @Test func `It takes effect again when the program's tweak is removed`() throws {
        _ = try added("1")
        let made: Tweak<Double> = store.tweak(alpha, default: 0.5)
        #expect(made.value == 1)
        try store.remove(alpha)
        #expect(try store.status(of: alpha).declaration.type == .int64)
        #expect(try store.value(of: alpha) == 1)
    }

    @Test func `Observers hear of a value that changes with the type`() throws {
        _ = try added("1")
        #expect(try store.value(of: alpha) == 1)
        let changes = Recorded<TweakChange>()
        let observation = store.observe(alpha, didChange: { changes.append($0) })
        try store.make("Features", "shape", "alpha", default: "text")
        observation.cancel()
        #expect(
            changes.all == [TweakChange(key: alpha, oldValue: 1, newValue: "text", source: .binary)])
    }

    @Test func `Title, description and default follow the file`() throws {
        let provider = try added("1")
        let handle = try store.tweak(of: alpha, Int.self)
        _ = try write(#""alpha": {"Value": 1, "Title": "Alpha", "Group": "Shapes"}"#)
        try provider.reload()
        #expect(waitUntil { handle.declaration?.title == "Alpha" } && handle.declaration?.group == "Shapes")
        _ = try write(#""alpha": {"Value": 2, "Title": "Opacity"}"#)
        try provider.reload()
        #expect(waitUntil { handle.declaration?.title == "Opacity" } && handle.declaration?.group == nil)
        #expect(handle.value == 2 && handle.defaultValue == 2)
    }

    @Test func `Title, description and group of a file are there where the program says none`() throws {
        let file = try write(
            #""alpha": {"Value": 1, "Title": "Alpha", "Description": "of shapes", "Group": "Shapes"}"#)
        try store.add(VariablesProvider(files: [file]), above: nil)
        let tweak: Tweak<Double> = store.tweak(alpha, default: 0.5, description: "of all")
        for declaration in [
            try store.status(of: alpha).declaration, tweak.declaration,
            store.categories.first?.collections.first?.tweaks.first?.declaration,
        ] {
            #expect(declaration?.title == "Alpha" && declaration?.group == "Shapes")
            #expect(declaration?.description == "of all")
        }
        try store.remove(providerOf: TweakSource("v.json"))
        #expect(try store.status(of: alpha).declaration.title == nil)
    }

    @Test func `The higher of two files defines a tweak that only they have`() throws {
        let files = try ["1", #""a""#].enumerated().map { number, value in
            try home.write("\(number).json", #"{ "shape": { "alpha": { "Value": \#(value) } } }"#)
        }
        let low = try VariablesProvider(files: [files[0]], name: "low")
        try store.add(low, above: nil)
        #expect(try store.status(of: alpha).declaration.type == .int64)
        let high = try VariablesProvider(files: [files[1]], name: "high")
        try store.add(high, above: low.source)
        #expect(try store.value(of: alpha) == "a")
        try store.setOrder([.session, .environment, .overrides, low.source, high.source])
        #expect(try store.value(of: alpha) == 1)
        try store.remove(providerOf: low.source)
        #expect(try store.value(of: alpha) == "a")
        try store.remove(providerOf: high.source)
        #expect(throws: TweakError.self) { try store.value(of: alpha) }
    }
}

extension TweakStore {
    fileprivate func tweak<Value: TweakableValue>(
        of key: TweakKey, _ type: Value.Type
    ) throws -> Tweak<Value> {
        try tweak(key.category, key.collection, key.name, as: type)
    }
}
