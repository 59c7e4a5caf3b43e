// SPDX-License-Identifier: BSD-3-Clause
#if Configuration
import Configuration
import ConfigurationTesting
import Foundation
import Synchronization
import Testing
import Tweaks
import TweaksConfiguration
import TweaksProviderTesting

private let magic: [UInt8] = [0x6d, 0x61, 0x67, 0x69, 0x63]

private func key(_ text: String) -> AbsoluteConfigKey {
    AbsoluteConfigKey(text.split(separator: ".").map(String.init))
}

@Suite struct `A store as a provider of swift-configuration` {
    private let store = TweakStore()

    @Test func `passes the published tests with tweaks`() async throws {
        func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }
        let texts = [
            "string": "Hello", "bytes": base64("magic"), "stringy.array": "Hello,World",
            "inty.array": "42,24",
            "doubly.array": "3.14,2.72", "booly.array": "true,false",
            "byteChunky.array": "\(base64("magic")),\(base64("magic2"))", "other.string": "Other Hello",
            "other.bytes": base64("magic2"), "other.stringy.array": "Hello,Swift",
            "other.inty.array": "16,32",
            "other.doubly.array": "0.9,1.8", "other.booly.array": "false,true,true",
            "other.byteChunky.array": "\(base64("magic")),\(base64("magic2")),\(base64("magic"))",
        ]
        let names = ConfigurationNames()
        for (name, text) in texts {
            let tweak = names.tweak(for: key(name))
            try store.make(tweak.category, tweak.collection, tweak.name, default: text)
        }
        try store.make("Configuration", "General", "int", default: 42)
        try store.make("Configuration", "other", "int", default: 24)
        try store.make("Configuration", "General", "double", default: 3.14)
        try store.make("Configuration", "other", "double", default: 2.72)
        try store.make("Configuration", "General", "bool", default: true)
        try store.make("Configuration", "other", "bool", default: false)
        try await ProviderCompatTest(provider: TweakConfigProvider(store: store)).runTest()
    }

    @Test func `passes the published tests with values that it tunes`() async throws {
        let magic2 = magic + [0x32]
        let upstream = InMemoryProvider(values: [
            "string": "Hello", "other.string": "Other Hello", "int": 42, "other.int": 24, "double": 3.14,
            "other.double": 2.72, "bool": true, "other.bool": false,
            "bytes": ConfigValue(.bytes(magic), isSecret: false),
            "other.bytes": ConfigValue(.bytes(magic2), isSecret: false),
            "stringy.array": ConfigValue(.stringArray(["Hello", "World"]), isSecret: false),
            "other.stringy.array": ConfigValue(.stringArray(["Hello", "Swift"]), isSecret: false),
            "inty.array": ConfigValue(.intArray([42, 24]), isSecret: false),
            "other.inty.array": ConfigValue(.intArray([16, 32]), isSecret: false),
            "doubly.array": ConfigValue(.doubleArray([3.14, 2.72]), isSecret: false),
            "other.doubly.array": ConfigValue(.doubleArray([0.9, 1.8]), isSecret: false),
            "booly.array": ConfigValue(.boolArray([true, false]), isSecret: false),
            "other.booly.array": ConfigValue(.boolArray([false, true, true]), isSecret: false),
            "byteChunky.array": ConfigValue(.byteChunkArray([magic, magic2]), isSecret: false),
            "other.byteChunky.array": ConfigValue(.byteChunkArray([magic, magic2, magic]), isSecret: false),
        ])
        let provider = TweakConfigProvider(tuning: upstream, store: store)
        try await ProviderCompatTest(provider: provider).runTest()
        #expect(try store.value(of: TweakKey("Configuration", "other", "double")) == 2.72)
        // Now everything is a tweak.
        try await ProviderCompatTest(provider: provider).runTest()
    }

    @Test func `lets a program that knows nothing of tweaks be tuned`() async throws {
        let upstream = InMemoryProvider(values: ["http.client.timeout": 30])
        let config = ConfigReader(provider: TweakConfigProvider(tuning: upstream, store: store))
        #expect(config.int(forKey: "http.client.timeout", default: 5) == 30)
        try store.set(60, for: TweakKey("http", "client", "timeout"))
        #expect(config.int(forKey: "http.client.timeout", default: 5) == 60)
        #expect(config.int(forKey: "http.client.retries", default: 5) == 5)
    }

    @Test func `gives each change to who watches`() async throws {
        let tweak = try store.make("http", "client", "timeout", default: 30)
        let config = ConfigReader(provider: TweakConfigProvider(store: store))
        try await config.watchInt(forKey: "http.client.timeout", default: 0) { updates in
            var next = 30
            for await value in updates {
                #expect(value == next)
                if value == 33 { break }
                next += 1
                try tweak.set(next)
            }
        }
        #expect(tweak.value == 33)
    }

    @Test func `does not take one type for another`() throws {
        try store.make("a", "b", "flag", default: true)
        try store.make("a", "b", "text", default: "1")
        try store.make("a", "b", "count", default: 1)
        let provider = TweakConfigProvider(store: store)
        #expect(throws: TweakConfigProvider.OtherType.self) {
            try provider.value(forKey: key("a.b.flag"), type: .int)
        }
        #expect(throws: TweakConfigProvider.OtherType.self) {
            try provider.value(forKey: key("a.b.text"), type: .int)
        }
        #expect(throws: TweakConfigProvider.OtherType.self) {
            try provider.value(forKey: key("a.b.count"), type: .bool)
        }
        #expect(try provider.value(forKey: key("a.b.count"), type: .double).value?.content == .double(1))
    }

    @Test func `keeps secrets out of the store`() throws {
        let upstream = InMemoryProvider(values: ["a.b.token": ConfigValue("secret", isSecret: true)])
        let provider = TweakConfigProvider(tuning: upstream, store: store)
        #expect(try provider.value(forKey: key("a.b.token"), type: .string).value?.isSecret == true)
        #expect(store.categories.isEmpty)
    }
}

@Suite struct `A provider of swift-configuration as a source` {
    private let values: [TweakKey: TweakValue] = [
        TweakKey("a", "b", "count"): 3, TweakKey("Configuration", "b", "ratio"): 0.25,
        TweakKey("x.y", "z", "text"): "hello", TweakKey("Configuration", "General", "flag"): true,
    ]
    private let names = ConfigurationNames()

    @Test func `Keys and names stand for each other`() {
        #expect(
            values.keys.map { names.key(for: $0).description }.sorted() == [
                "a.b.count", "b.ratio", "flag", "x.y.z.text",
            ])
        for tweak in values.keys { #expect(names.tweak(for: names.key(for: tweak)) == tweak) }
    }

    @Test func `passes the conformance test`() async throws {
        let provider = MutableInMemoryProvider(initialValues: [:])
        let store = TweakStore()
        let names = names
        @Sendable func set(_ tweak: TweakKey, _ value: TweakValue?) {
            let content: ConfigContent? =
                switch value {
                case .bool(let flag): .bool(flag)
                case .integer(let number): .int(Int(number))
                case .double(let number): .double(number)
                case .string(let text): .string(text)
                default: nil
                }
            provider.setValue(content.map { ConfigValue($0, isSecret: false) }, forKey: names.key(for: tweak))
        }
        for (tweak, value) in values {
            set(tweak, value)
            try store.make(TweakDeclaration(key: tweak, type: value.naturalType, defaultValue: value))
        }
        let source = ConfigurationSource(provider, store: store)
        // Not on a thread of the tasks, one of which watches the provider, and with patience while other tests have them all.
        let test = ProviderConformance(of: source, holding: values, patience: .seconds(7200), change: set)
        try await withCheckedThrowingContinuation { continuation in
            Thread.detachNewThread { continuation.resume(with: Result { try test.check() }) }
        }
    }

    @Test func `gives tweaks its values, and the new ones when it changes`() async throws {
        let provider = MutableInMemoryProvider(initialValues: [key("a.b.count"): 3])
        let store = TweakStore()
        let tweak = try store.make("a", "b", "count", default: 1)
        try store.add(ConfigurationSource(provider, name: "config", store: store), above: nil)
        #expect(tweak.value == 3 && tweak.source == TweakSource("config"))
        let changes = Mutex<[TweakChange]>([])
        let observation = store.observe(didChange: { change in changes.withLock { $0.append(change) } })
        provider.setValue(4, forKey: key("a.b.count"))
        for await value in tweak.values where value == 4 { break }
        provider.setValue(nil, forKey: key("a.b.count"))
        for await value in tweak.values where value == 1 { break }
        observation.cancel()
        let told = changes.withLock { $0 }
        #expect(told.map(\.key) == [tweak.key, tweak.key])
        #expect(told.map(\.oldValue) == [3, 4] && told.map(\.newValue) == [4, 1])
        #expect(told.map(\.source.name) == ["config", "default"])
        try store.remove(providerOf: TweakSource("config"))
    }

    @Test func `is gone with its store`() throws {
        weak var source: ConfigurationSource?
        do {
            let store = TweakStore()
            let held = ConfigurationSource(InMemoryProvider(values: [:]), store: store)
            try store.add(held, above: nil)
            source = held
        }
        #expect(source == nil)
    }

    @Test func `A value of another type is reported and the tweak stays`() throws {
        let provider = InMemoryProvider(values: [key("a.b.count"): "many"])
        let store = TweakStore()
        let tweak = try store.make("a", "b", "count", default: 1)
        let source = ConfigurationSource(provider, store: store)
        #expect(throws: (any Error).self) { try source.value(for: tweak.key) }
        try store.add(source, above: nil)
        #expect(tweak.value == 1)
    }
}
#endif
