// SPDX-License-Identifier: BSD-3-Clause
import Glibc
import TestSupport
import Testing
import TweakRecords
import TweaksProviderTesting

@testable import Tweaks

@Suite struct `Variables of features` {
    private let home: TemporaryDirectory
    private let store = TweakStore()
    private let messages = CollectedMessages()

    init() throws {
        home = try TemporaryDirectory()
        store.logger = messages.logger
    }

    private func file(_ name: String, _ variables: String) throws -> String {
        try home.write(name, "{ \"search\": { \(variables) } }")
    }

    private func add(
        _ variables: String..., decryption: VariablesProvider.Decryption? = nil
    ) throws {
        let files = try variables.enumerated().map { try file("\($0.offset).json", $0.element) }
        try store.add(VariablesProvider(files: files, decryption: decryption), above: nil)
    }

    private func value<Value: TweakableValue>(_ variable: String, as: Value.Type = Value.self) throws -> Value
    {
        try store.value(ofFeature: "search", variable: variable)
    }

    @Test func `They have the types that they are written with`() throws {
        try add(
            #""flag": {"Value": true}, "count": {"Value": 1}, "ratio": {"Value": 1.0}, "text": {"Value": "1"}"#
        )
        #expect(try value("flag") == true)
        #expect(try value("count") == 1)
        #expect(try value("ratio") == 1.0)
        #expect(try value("text") == "1")
        #expect(store.valueIfAny(ofFeature: "search", variable: "flag", as: Int.self) == nil)
    }

    @Test(arguments: ["flag", "count", "ratio", "text"])
    func `Types are not converted`(name: String) throws {
        try add(
            #""flag": {"Value": true}, "count": {"Value": 1}, "ratio": {"Value": 1.0}, "text": {"Value": "1"}"#
        )
        if name != "flag" { #expect(throws: TweakError.self) { try value(name, as: Bool.self) } }
        if name != "count" { #expect(throws: TweakError.self) { try value(name, as: Int.self) } }
        if name != "text" { #expect(throws: TweakError.self) { try value(name, as: String.self) } }
        // An integer is a Double, as where a value is set.
        if name == "flag" || name == "text" {
            #expect(throws: TweakError.self) { try value(name, as: Double.self) }
        }
    }

    @Test func `Unknown, mistyped and encrypted variables have different errors in every lookup`()
        throws
    {
        try add(#""flag": {"Value": true}, "secret": {"Value": "olleh", "Encrypted": true}"#)
        let key = { TweakKey("Features", "search", $0) }
        let flag = try store.status(of: key("flag")).declaration
        for look in [{ try value($0, as: Int.self) }, { try store.tweak(key($0), as: Int.self).value }]
            as [(String) throws -> Int]
        {
            #expect(throws: TweakError.unknown(key("missing"), nearest: [])) { try look("missing") }
            #expect(throws: TweakError.otherType(flag, asked: .int64)) { try look("flag") }
            #expect(throws: TweakError.encrypted(key("secret"))) { try look("secret") }
        }
        #expect(throws: TweakError.encrypted(key("secret"))) { try store.status(of: key("secret")) }
        #expect(messages.all.count == 1)
    }

    @Test func `An encrypted value goes through the closure before anyone sees it`() throws {
        try add(#""secret": {"Value": "olleh", "Encrypted": true}"#) { variable in
            guard case .string(let text) = variable.defaultValue else { return variable.defaultValue }
            return .string(String(text.reversed()))
        }
        #expect(try value("secret") == "hello")
        #expect(
            try store.status(of: TweakKey("Features", "search", "secret")).declaration.defaultValue == "hello"
        )
    }

    @Test func `An encrypted value without a closure is an error, and nobody sees it`() throws {
        try add(#""secret": {"Value": "olleh", "Encrypted": true}"#)
        #expect(throws: TweakError.encrypted(TweakKey("Features", "search", "secret"))) {
            try value("secret", as: String.self)
        }
        #expect(store.categories.isEmpty)
    }

    @Test func `The closure gets the whole variable, and can be set later`() throws {
        let path = try file(
            "v.json",
            #""secret": {"Value": "olleh", "Title": "S", "Description": "D", "Group": "G", "Encrypted": true}"#
        )
        let provider = try VariablesProvider(files: [path])
        try store.add(provider, above: nil)
        #expect(store.valueIfAny(ofFeature: "search", variable: "secret", as: String.self) == nil)
        provider.decryption = { variable in
            let texts = [variable.title, variable.description, variable.group].compactMap(\.self)
            return .string("\(variable.key) \(variable.defaultValue) \(texts)")
        }
        // The store may be looking at the file for the first time.
        #expect(waitUntil { (try? value("secret")) == #"Features/search/secret olleh ["S", "D", "G"]"# })
        provider.decryption = nil
        #expect(provider.decryption == nil)
    }

    @Test func `A closure that decrypts is called as directly the thousandth time as the first`() throws {
        let provider = try VariablesProvider(files: [])
        let places = Recorded<Int>()
        provider.decryption = { variable in
            var local = 0
            places.append(withUnsafePointer(to: &local) { Int(bitPattern: $0) })
            return variable.defaultValue
        }
        let variable = TweakDeclaration(key: TweakKey("A", "B", "C"), type: .string, defaultValue: "x")
        for _ in 1...1000 { _ = try provider.decryption?(variable) }
        // Deeper and deeper in the stack, it would end the program some day.
        let (first, last) = (try #require(places.all.first), try #require(places.all.last))
        #expect(abs(last - first) < 1000)
    }

    @Test func `A lookup by feature and variable takes the first provider that has it`() throws {
        let key = TweakKey("Features", "search", "limit")
        try add(#""title": {"Value": "T"}"#)
        try store.add(TestProvider("second", [key: 2], declares: true), above: nil)
        try store.add(TestProvider("third", [key: 3], declares: true), above: nil)
        #expect(try value("limit") == 2)
        #expect(try store.status(of: key).source == TweakSource("second"))
    }

    @Test func `Of several files the first one that has a variable counts`() throws {
        try add(#""a": {"Value": 1}"#, #""a": {"Value": 2}, "b": {"Value": 3}"#)
        #expect(try value("a") == 1 && value("b") == 3)
    }

    @Test func `a.x and b.x do not collide, also where they are kept`() throws {
        let path = try home.write(
            "two.json", #"{ "a": { "x": { "Value": 1 } }, "b": { "x": { "Value": 2 } } }"#)
        let keeping = { () throws -> TweakStore in
            let store = TweakStore(overrides: .file(path: home("overrides.json")), logger: messages.logger)
            try store.add(VariablesProvider(files: [path]), above: nil)
            return store
        }
        let store = try keeping()
        try store.set(3, for: TweakKey("Features", "a", "x"))
        store.flush()
        for store in [store, try keeping()] {
            #expect(try store.value(ofFeature: "a", variable: "x") == 3)
            #expect(try store.value(ofFeature: "b", variable: "x") == 2)
        }
    }

    @Test func `A value is pushed when it changes, so none is stale and no cache is to be reset`() throws {
        let path = try file("v.json", #""limit": {"Value": 1}"#)
        let provider = try VariablesProvider(files: [path])
        try store.add(provider, above: nil)
        @FeatureVariable("search", "limit", fallback: 0, store: store) var limit: Int
        let handle = try store.tweak("Features", "search", "limit", as: Int.self)
        #expect(limit == 1 && handle.value == 1)
        _ = try file("v.json", #""limit": {"Value": 2}"#)
        try provider.reload()
        // The store may be reading it on another thread already.
        #expect(waitUntil { limit == 2 && handle.value == 2 })
        try store.set(3, for: handle.key)
        #expect(limit == 3 && handle.value == 3)
    }

    @Test func `A change carries which variable it is of`() throws {
        try add(#""limit": {"Value": 1}, "other": {"Value": 1}"#)
        let changes = Locked<[TweakChange]>([])
        let observation = store.observe(didChange: { change in changes.withLock { $0.append(change) } })
        try store.set(2, for: TweakKey("Features", "search", "limit"))
        observation.cancel()
        let expected = TweakChange(
            key: TweakKey("Features", "search", "limit"), oldValue: 1, newValue: 2, source: .overrides)
        #expect(changes.withLock { $0 } == [expected])
    }

    @Test func `A value that is missing or unusable is an error that names the place`() throws {
        let error = #expect(throws: (any Error).self) { try add(#""a": {"Title": "A"}"#) }
        #expect(error.map { "\($0)" }?.contains("search.a: \"Value\" is missing") == true)
        #expect(throws: (any Error).self) { try add(#""a": {"Value": null}"#) }
        #expect(throws: ProviderFileError.self) { try VariablesProvider(files: [home("missing.json")]) }
    }

    @Test func `Title, description and group are there for people`() throws {
        try add(#""a": {"Value": 1, "Title": "Limit", "Description": "of results", "Group": "Finding"}"#)
        let tweak = try store.status(of: TweakKey("Features", "search", "a")).declaration
        #expect((tweak.title, tweak.description, tweak.group) == ("Limit", "of results", "Finding"))
    }

    @Test func `The provider passes the conformance test`() throws {
        let path = try file("v.json", #""flag": {"Value": true}, "ratio": {"Value": 0.5}"#)
        try ProviderConformance(
            of: VariablesProvider(files: [path]),
            holding: [
                TweakKey("Features", "search", "flag"): true, TweakKey("Features", "search", "ratio"): 0.5,
            ]
        ).check()
    }
}

@Suite struct `Properties bound to feature variables` {
    private let store = TweakStore()
    private let messages = CollectedMessages()

    init() { store.logger = messages.logger }

    @Test func `A plain one declares the variable`() throws {
        @FeatureVariable("search", "limit", store: store) var limit = 20
        #expect(limit == 20)
        limit = 30
        #expect(limit == 30)
        #expect(try store.value(ofFeature: "search", variable: "limit") == 30)
        try $limit.reset()
        #expect(limit == 20)
    }

    @Test func `It has the value of a provider`() throws {
        try store.add(
            TestProvider("test", [TweakKey("Features", "search", "limit"): 7], declares: true), above: nil)
        @FeatureVariable("search", "limit", store: store) var limit = 20
        #expect(limit == 7)
    }

    @Test
    func `A plain one of another type than the variable has its declared default, which is reported once`()
        throws
    {
        try store.make("Features", "search", "limit", default: "many")
        @FeatureVariable("search", "limit", store: store) var limit = 20
        #expect(limit == 20 && limit == 20)
        #expect(messages.all.count == 1)
        limit = 30
        #expect(limit == 20)
        #expect(messages.all.count == 2)
    }

    @Test func `One with a fallback has it until somebody declares the variable`() throws {
        @FeatureVariable("search", "limit", fallback: 5, store: store) var limit: Int
        #expect(limit == 5)
        #expect(store.categories.isEmpty)
        try store.make("Features", "search", "limit", default: 20)
        #expect(limit == 20)
        #expect(messages.all.isEmpty)
    }

    @Test func `A value for an undeclared variable is kept, and used once it is declared`() throws {
        let home = try TemporaryDirectory()
        let keeping = { TweakStore(overrides: .file(path: home("overrides.json")), logger: messages.logger) }
        let store = keeping()
        @OptionalFeatureVariable("search", "ratio", store: store) var ratio: Float?
        @OptionalFeatureVariable("search", "limit", store: store) var limit: Int?
        @FeatureVariable("search", "title", fallback: "Search", store: store) var title: String
        (ratio, limit, title) = (0.1, 30, "Find")
        #expect(ratio == 0.1 && limit == 30 && title == "Find")
        limit = nil
        #expect(limit == nil && store.categories.isEmpty)
        store.flush()
        for store in [store, keeping()] {
            #expect(store.valueIfAny(ofFeature: "search", variable: "title", as: Int.self) == nil)
            let made = try store.make("Features", "search", "title", default: "Default")
            #expect(made.value == "Find" && made.source == .overrides)
            #expect(try store.make("Features", "search", "ratio", default: Float(1)).value == 0.1)
            #expect(try store.make("Features", "search", "limit", default: 1).value == 1)
        }
        #expect(messages.all.isEmpty)
    }

    @Test func `A value that no variable could have is refused`() {
        @FeatureVariable("search", "ratio", fallback: 0.5, store: store) var ratio: Double
        ratio = .infinity
        #expect(ratio == 0.5 && messages.all.count == 1)
    }

    @Test func `A kept value that the variable cannot have is reported`() throws {
        @OptionalFeatureVariable("search", "limit", store: store) var limit: Int?
        limit = 30
        #expect(try store.make("Features", "search", "limit", default: "many").value == "many")
        #expect(limit == nil && messages.all.count == 1)
    }

    @Test func `A numeric variable accepts any number, however a provider writes it`() throws {
        let key = TweakKey("Features", "search", "ratio")
        try store.add(TestProvider("test", [key: 1], declares: true), above: nil)
        @OptionalFeatureVariable("search", "ratio", store: store) var ratio: Double?
        #expect(ratio == 1)
        ratio = 0.5
        #expect(ratio == 0.5)
        ratio = nil
        #expect(ratio == 1)
        #expect(messages.all.isEmpty)
    }

    @Test func `It tells each change, also when its file comes and goes`() throws {
        let home = try TemporaryDirectory()
        let path = try home.write("v.json", #"{ "search": { "limit": { "Value": 20 } } }"#)
        @FeatureVariable("search", "limit", fallback: 5, store: store) var limit: Int
        @OptionalFeatureVariable("search", "limit", store: store) var optional: Int?
        let (limits, optionals) = (Recorded<Int>(), Recorded<Int?>())
        let observations = [$limit.observe { limits.append($0) }, $optional.observe { optionals.append($0) }]
        let provider = try VariablesProvider(files: [path])
        try store.add(provider, above: nil)
        limit = 30
        try $limit.reset()
        // A store that follows the file never sees a part of it.
        let new = try home.write("new.json", #"{ "search": { "limit": { "Value": 21 } } }"#)
        #expect(rename(new, path) == 0)
        try provider.reload()
        #expect(waitUntil { limits.all == [20, 30, 20, 21] })
        #expect(rename(try home.write("new.json", "{}"), path) == 0)
        try provider.reload()
        #expect(waitUntil { limits.all == [20, 30, 20, 21, 5] })
        limit = 7
        optional = nil
        #expect(limits.all == [20, 30, 20, 21, 5, 7, 5])
        #expect(optionals.all == [20, 30, 20, 21, nil, 7, nil])
        withExtendedLifetime(observations) {}
        #expect(messages.all.isEmpty)
    }

    @Test func `A handle tells that it has its default again when its provider is removed`() throws {
        let provider = TestProvider("test", [TweakKey("Features", "search", "limit"): 20], declares: true)
        try store.add(provider, above: nil)
        let handle = try store.tweak("Features", "search", "limit", as: Int.self)
        try handle.set(30)
        let changes = Recorded<Int>()
        let observation = handle.observe { changes.append($0.newValue) }
        try store.remove(providerOf: provider.source)
        #expect(handle.value == 20 && changes.all == [20])
        observation.cancel()
    }

    @Test func `A provider that cannot list its names is asked when they are first used, and then followed`()
        throws
    {
        let provider = TestProvider(
            "test",
            [
                TweakKey("Features", "search", "limit"): 20, TweakKey("Features", "search", "title"): "Find",
                TweakKey("Features", "search", "depth"): 3, TweakKey("Features", "search", "enabled"): true,
            ], lists: false)
        try store.add(provider, above: nil)
        #expect(store.categories.isEmpty)
        @FeatureVariable("search", "limit", fallback: 5, store: store) var limit: Double
        @OptionalFeatureVariable("search", "title", store: store) var title: String?
        #expect(limit == 20 && title == "Find" && store.isFeatureEnabled("search"))
        #expect(store.valueIfAny(ofFeature: "search", variable: "depth", as: Int.self) == 3)
        #expect(store.valueIfAny(ofFeature: "search", variable: "other", as: Int.self) == nil)
        #expect(store.categories.first?.collections.first?.tweaks.count == 4)
        let (limits, states) = (Recorded<Double>(), Recorded<Bool>())
        let observations = [
            $limit.observe { limits.append($0) }, store.feature("search").observe { states.append($0) },
        ]
        provider.change([TweakKey("Features", "search", "limit"): .value(21)])
        provider.change(
            [
                TweakKey("Features", "search", "enabled"): .value(false),
                TweakKey("Features", "search", "other"): .value(1),
            ], reporting: false)
        provider.reportEverything()
        #expect(limit == 21 && limits.all == [21] && states.all == [false])
        #expect(store.valueIfAny(ofFeature: "search", variable: "other", as: Int.self) == 1)
        let asked = provider.asked.count
        #expect(limit == 21 && store.valueIfAny(ofFeature: "search", variable: "x", as: Int.self) == nil)
        #expect(store.valueIfAny(ofFeature: "search", variable: "x", as: Int.self) == nil)
        #expect(provider.asked.count == asked + 1)
        limit = 7.5
        #expect(limit == 7.5)
        withExtendedLifetime(observations) {}
        #expect(messages.all.isEmpty)
    }

    @Test func `One that is set by its name is kept like a property, also without the variable`() throws {
        try store.set(30, ofFeature: "search", variable: "limit")
        #expect(try store.value(ofFeature: "search", variable: "limit") == 30)
        #expect(try store.make("Features", "search", "limit", default: 20).value == 30)
        try store.set(nil as Int?, ofFeature: "search", variable: "limit")
        #expect(try store.value(ofFeature: "search", variable: "limit") == 20)
        #expect(throws: TweakError.self) { try store.set("a", ofFeature: "search", variable: "limit") }
    }

    @Test func `An optional one is nil without the variable, and nil resets it`() throws {
        @OptionalFeatureVariable("search", "limit", store: store) var limit: Int?
        #expect(limit == nil)
        try store.make("Features", "search", "limit", default: 20)
        limit = 30
        #expect(limit == 30)
        limit = nil
        #expect(limit == 20)
        limit = 40
        try $limit.reset()
        #expect(limit == 20)
    }
}
