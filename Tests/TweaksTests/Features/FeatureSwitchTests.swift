// SPDX-License-Identifier: BSD-3-Clause
import Glibc
import TestSupport
import Testing
import TweakRecords

@testable import Tweaks

@Suite struct `Feature switches` {
    private let home: TemporaryDirectory
    private let store = TweakStore()
    private let messages = CollectedMessages()

    private static let json = """
        { "default": { "awesome": { "enabled": true, "description": "the best one",
                                    "sound": { "enabled": true, "stereo": { "enabled": false } } },
                       "plain": { "enabled": false } },
          "beta": { "inherits_from": "default", "awesome": { "sound": { "stereo": { "enabled": true } } } } }
        """

    init() throws {
        home = try TemporaryDirectory()
        store.logger = messages.logger
    }

    /// A store that follows the file never sees a part of it.
    private func replace(_ json: String) throws {
        #expect(rename(try home.write("new.json", json), home("features.json")) == 0)
    }

    @discardableResult
    private func added(_ environment: String = "default") throws -> FeaturesProvider {
        let provider = try FeaturesProvider(
            file: home.write("features.json", Self.json), environment: environment)
        try store.add(provider, above: nil)
        return provider
    }

    @Test func `Features are on and off as the file says, by environment`() throws {
        try added()
        #expect(store.isFeatureEnabled("awesome") && store.isFeatureEnabled("awesome", "sound"))
        #expect(!store.isFeatureEnabled("awesome", "sound", "stereo") && !store.isFeatureEnabled("plain"))
        let beta = TweakStore()
        try beta.add(FeaturesProvider(file: home("features.json"), environment: "beta"), above: nil)
        #expect(beta.isFeatureEnabled("awesome", "sound", "stereo"))
        #expect(throws: (any Error).self) {
            try FeaturesProvider(file: home("features.json"), environment: "x")
        }
    }

    @Test func `A part is on only if the features around it are, at run time`() throws {
        try added("beta")
        let stereo = store.feature("awesome", "sound", "stereo")
        try store.feature("awesome").disable()
        #expect(stereo.ownValue == true && !stereo.isEnabled)
        try store.feature("awesome").enable()
        #expect(stereo.isEnabled)
        try store.feature("awesome", "sound").disable()
        #expect(!stereo.isEnabled)
    }

    @Test func `isFeatureEnabled, enable, disable, set and reset`() throws {
        try added()
        let plain = store.feature("plain")
        var states: [Bool] = []
        for change in [plain.enable, plain.disable, { try plain.set(true) }, plain.reset]
            as [() throws -> Void]
        {
            try change()
            states.append(store.isFeatureEnabled("plain"))
        }
        #expect(states == [true, false, true, false])
    }

    @Test func `A feature of which a file only lists variables is on, and can be switched off`() throws {
        let path = try home.write("v.json", #"{ "search": { "limit": { "Value": 1 } } }"#)
        let keeping = { () throws -> TweakStore in
            let store = TweakStore(overrides: .file(path: home("overrides.json")), logger: messages.logger)
            try store.add(VariablesProvider(files: [path]), above: nil)
            return store
        }
        let store = try keeping()
        #expect(store.isFeatureEnabled("search") && store.feature("search").ownValue == true)
        #expect(!store.isFeatureEnabled("search", "limit", "x") && !store.isFeatureEnabled("other"))
        try store.feature("search").disable()
        #expect(!store.isFeatureEnabled("search"))
        store.flush()
        let next = try keeping()
        #expect(!next.isFeatureEnabled("search"))
        try next.feature("search").reset()
        #expect(next.isFeatureEnabled("search"))
        try next.feature("other").enable()
        #expect(next.isFeatureEnabled("other"))
    }

    @Test func `A choice is kept, also one that does not change the state`() throws {
        try added()
        let plain = store.feature("plain")
        try plain.disable()
        #expect(
            try store.opinions(on: plain.key).map(\.source.name) == ["override", "features.json", "default"])
        try plain.enable()
        #expect(
            try store.opinions(on: plain.key).map(\.source.name) == ["override", "features.json", "default"])
        try plain.reset()
        #expect(!plain.isEnabled)
    }

    @Test func `One change carries which feature and its new state`() throws {
        try added()
        let changes = Locked<[TweakChange]>([])
        let observation = store.observe(didChange: { change in changes.withLock { $0.append(change) } })
        try store.feature("plain").enable()
        try store.feature("plain").set(true)
        observation.cancel()
        let expected = TweakChange(
            key: TweakKey("Features", "plain", "enabled"), oldValue: false, newValue: true, source: .overrides
        )
        #expect(changes.withLock { $0 } == [expected])
    }

    @Test func `An observer of a part hears when a feature around it changes it`() throws {
        try added("beta")
        let states = Locked<[Bool]>([])
        let observation = store.feature("awesome", "sound").observe { state in
            states.withLock { $0.append(state) }
        }
        try store.feature("awesome", "sound", "stereo").disable()
        try store.feature("awesome").disable()
        try store.feature("awesome", "sound").disable()
        try store.feature("awesome").enable()
        try store.feature("awesome", "sound").enable()
        observation.cancel()
        #expect(states.withLock { $0 } == [false, true])
    }

    @Test(arguments: [true, false])
    func `An observer hears that a feature leaves its file, and that its provider is removed`(
        isRemoved: Bool
    ) throws {
        let provider = try added()
        let states = Locked<[String]>([])
        let (changes, observations) = (
            Locked<[TweakChange]>([]),
            [["awesome"], ["awesome", "sound"], ["plain"]].map { path in
                FeatureSwitch(path, in: store).observe { isOn in
                    states.withLock { $0.append("\(path.joined(separator: "/")) \(isOn)") }
                }
            }
        )
        let key = TweakKey("Features", "awesome", "sound")
        let all = store.observe(key, didChange: { change in changes.withLock { $0.append(change) } })
        if isRemoved {
            try store.remove(providerOf: provider.source)
        } else {
            try replace(#"{ "default": { "other": { "enabled": true } } }"#)
            try provider.reload()
        }
        #expect(waitUntil { states.withLock { $0.count } == 2 })
        #expect(states.withLock { $0.sorted() } == ["awesome false", "awesome/sound false"])
        #expect(
            changes.withLock { $0 } == [
                TweakChange(key: key, oldValue: true, newValue: .nothing, source: .binary)
            ])
        if isRemoved {
            try added()
        } else {
            try replace(Self.json)
            try provider.reload()
        }
        #expect(waitUntil { states.withLock { $0.count } == 4 })
        #expect(messages.all.isEmpty)
        withExtendedLifetime((observations, all)) {}
    }

    @Test func `An observer of a feature with nothing but variables hears that the last one is gone`() throws
    {
        let path = try home.write("v.json", #"{ "search": { "limit": { "Value": 1 } } }"#)
        let provider = try VariablesProvider(files: [path])
        let states = Locked<[Bool]>([])
        let observation = store.feature("search").observe { isOn in states.withLock { $0.append(isOn) } }
        try store.add(provider, above: nil)
        #expect(states.withLock { $0 } == [true])
        try store.remove(providerOf: provider.source)
        #expect(states.withLock { $0 } == [true, false])
        observation.cancel()
    }

    @Test func `resetAllFeatures takes back all choices together`() throws {
        try added()
        try store.feature("plain").enable()
        try store.feature("awesome").disable()
        try store.resetAllFeatures()
        #expect(store.isFeatureEnabled("awesome") && !store.isFeatureEnabled("plain"))
    }

    @Test func `A feature is a Bool with a description`() throws {
        try added()
        #expect(try store.status(of: store.feature("awesome").key).declaration.type == .bool)
        #expect(store.feature("awesome").description == "the best one")
        #expect(store.feature("plain").description == nil)
    }

    @Test func `A feature that nobody knows is off, which is reported once`() throws {
        #expect(!store.isFeatureEnabled("missing") && !store.isFeatureEnabled("missing"))
        #expect(store.feature("missing").ownValue == nil)
        #expect(messages.all.count == 1)
    }

    @Test func `A switched unknown feature is kept, and takes effect once it is known`() throws {
        let keeping = { TweakStore(overrides: .file(path: home("overrides.json")), logger: messages.logger) }
        let store = keeping()
        let states = Locked<[Bool]>([])
        let observation = store.feature("plain").observe { isOn in states.withLock { $0.append(isOn) } }
        try store.feature("plain").enable()
        #expect(store.isFeatureEnabled("plain") && store.categories.isEmpty)
        #expect(states.withLock { $0 } == [true])
        try store.resetAllFeatures()
        #expect(states.withLock { $0 } == [true, false] && store.feature("plain").ownValue == nil)
        try store.feature("plain").enable()
        observation.cancel()
        store.flush()
        let next = keeping()
        try next.add(
            FeaturesProvider(file: home.write("features.json", Self.json), environment: "beta"), above: nil)
        #expect(next.isFeatureEnabled("plain"))
        try next.feature("plain").reset()
        #expect(!next.isFeatureEnabled("plain"))
        #expect(messages.all.isEmpty)
    }

    @Test func `The first provider with an opinion decides, so a higher one can switch a feature off`() throws
    {
        try added()
        try store.add(
            TestProvider("high", [TweakKey("Features", "awesome", "enabled"): false]), above: .overrides)
        #expect(!store.isFeatureEnabled("awesome"))
    }

    @Test func `The file is read again when the program says so`() throws {
        let provider = try added()
        try home.write("features.json", "{ broken")
        #expect(throws: (any Error).self) { try provider.reload() }
        #expect(store.isFeatureEnabled("awesome"))
        try home.write("features.json", #"{ "default": { "plain": { "enabled": true } } }"#)
        try provider.reload()
        #expect(waitUntil { store.isFeatureEnabled("plain") && store.feature("awesome").ownValue == nil })
    }

    @Test func `A property list has features without parts`() throws {
        let plist = """
            <?xml version="1.0" encoding="UTF-8"?><plist version="1.0"><dict>
            <key>plain</key><dict><key>enabled</key><true/></dict></dict></plist>
            """
        try store.add(FeaturesProvider(file: home.write("Features.plist", plist)), above: nil)
        #expect(store.isFeatureEnabled("plain"))
    }
}
