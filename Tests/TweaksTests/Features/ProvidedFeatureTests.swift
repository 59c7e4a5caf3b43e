// SPDX-License-Identifier: BSD-3-Clause
import Glibc
import TestSupport
import Testing

@testable import Tweaks

@Suite struct `A feature that only the server's file has` {
    private let home: TemporaryDirectory
    private let store: TweakStore
    private let messages = CollectedMessages()
    private let login = TweakKey("Features", "facebook-login", "enabled")

    init() throws {
        home = try TemporaryDirectory()
        store = TweakStore(overrides: .file(path: home("overrides.json")), logger: messages.logger)
    }

    private func write(_ features: String) throws {
        let new = try home.write("new.json", "{ \"values\": { \"Features\": { \(features) } } }")
        // A store that follows the file never sees a part of it.
        #expect(rename(new, home("remote.json")) == 0)
    }

    @discardableResult
    private func added(_ features: String = #""facebook-login": { "enabled": true }"#) throws
        -> ProvidedValues
    {
        try write(features)
        let provider = ProvidedValues(.remote, in: [home("remote.json")])
        try provider.reload()
        try store.add(provider, below: .overrides)
        return provider
    }

    @Test func `It is a tweak like others, which is off by default`() throws {
        try added()
        #expect(store.isFeatureEnabled("facebook-login"))
        let status = try store.status(of: login)
        #expect(status.declaration.type == .bool && status.declaration.defaultValue == false)
        #expect(status.value == true && status.source == .remote)
        #expect(store.categories.map(\.name) == ["Features"])
        #expect(try store.opinions(on: login).map(\.source) == [.remote, .binary])
        #expect(messages.all.isEmpty)
    }

    @Test func `A person can switch it, and that is kept`() throws {
        try added()
        try store.set(false, for: login)
        #expect(!store.isFeatureEnabled("facebook-login"))
        store.flush()
        let next = TweakStore(overrides: .file(path: home("overrides.json")))
        let provider = ProvidedValues(.remote, in: [home("remote.json")])
        try provider.reload()
        try next.add(provider, below: .overrides)
        #expect(!next.isFeatureEnabled("facebook-login"))
        try next.reset(login)
        #expect(next.isFeatureEnabled("facebook-login"))
    }

    @Test func `Parts and variables are tweaks too, of the type of the value`() throws {
        try added(#""search": { "history": false, "limit": 20, "title": "Find", "enabled": true }"#)
        #expect(!store.isFeatureEnabled("search", "history") && store.isFeatureEnabled("search"))
        #expect(try store.value(ofFeature: "search", variable: "limit") == 20)
        #expect(try store.status(of: TweakKey("Features", "search", "title")).declaration.type == .string)
        #expect(store.categories.first?.collections.first?.tweaks.count == 4)
    }

    @Test func `It comes and goes with the file, and keeps what a person chose`() throws {
        let provider = try added("")
        let states = Recorded<Bool>()
        let observation = store.feature("facebook-login").observe { states.append($0) }
        try write(#""facebook-login": { "enabled": true }"#)
        try provider.reload()
        #expect(waitUntil { states.all == [true] })
        let handle: Tweak<Bool> = try store.tweak(login)
        #expect(handle.value)
        try write("")
        try provider.reload()
        #expect(waitUntil { states.all == [true, false] && !handle.value })
        #expect(store.categories.isEmpty)
        try write(#""facebook-login": { "enabled": true }"#)
        try provider.reload()
        #expect(waitUntil { states.all == [true, false, true] && handle.value })
        try store.set(false, for: login)
        try write("")
        try provider.reload()
        #expect(waitUntil { store.categories.isEmpty })
        try write(#""facebook-login": { "enabled": true }"#)
        try provider.reload()
        #expect(waitUntil { !store.categories.isEmpty })
        #expect(!store.isFeatureEnabled("facebook-login") && !handle.value)
        observation.cancel()
    }

    @Test(arguments: [true, false])
    func `A declaration, or a higher file, takes precedence`(isFileFirst: Bool) throws {
        if isFileFirst { try added(#""search": { "limit": 20, "enabled": false }"#) }
        let variables = try home.write(
            "v.json", #"{ "search": { "limit": { "Title": "Limit", "Value": 0.5 } } }"#)
        try store.add(VariablesProvider(files: [variables]), above: nil)
        try store.make(TweakKey("Features", "search", "enabled"), default: true, description: "finds")
        if !isFileFirst { try added(#""search": { "limit": 20, "enabled": false }"#) }
        let limit = try store.status(of: TweakKey("Features", "search", "limit"))
        #expect(limit.declaration.title == "Limit" && limit.declaration.type == .double)
        #expect(limit.value == 20.0)
        let isOn = try store.status(of: TweakKey("Features", "search", "enabled"))
        #expect(isOn.declaration.defaultValue == true && isOn.declaration.description == "finds")
        #expect(isOn.value == false)
        #expect(messages.all.isEmpty)
    }

    @Test
    func `A switch must be a Bool, and other categories are for declared tweaks`()
        throws
    {
        try write(
            #""a": { "enabled": 1 }, "b": { "enabled": [] } }, "Spring": { "Physics": { "Mass": 2 }"#)
        let provider = ProvidedValues(.remote, in: [home("remote.json")])
        try provider.reload()
        try store.add(provider, above: nil)
        #expect(store.categories.isEmpty)
        #expect(try store.make("Spring", "Physics", "Mass", default: 1).value == 2)
    }

    @Test func `So is one that any provider has a value for`() throws {
        let provider = TestProvider("test", [login: true])
        try store.add(provider, above: nil)
        #expect(try store.status(of: login).value == true)
        try store.remove(providerOf: provider.source)
        #expect(store.categories.isEmpty && store.feature("facebook-login").ownValue == nil)
    }
}
