// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

@testable import Tweaks

@Suite struct `A file that lists providers` {
    private let home: TemporaryDirectory
    private let store = TweakStore()

    init() throws {
        home = try TemporaryDirectory()
        try home.write("a.json", #"{ "search": { "limit": { "Value": 1 } } }"#)
        try home.write("b.json", #"{ "search": { "limit": { "Value": 2 }, "depth": { "Value": 3 } } }"#)
        try home.write(
            "f.json", #"{ "default": { "x": { "enabled": false } }, "beta": { "x": { "enabled": true } } }"#)
    }

    private func use(_ providers: String) throws {
        try store.useProviders(listedIn: home.write("p.json", "{ \"providers\": [ \(providers) ] }"))
    }

    @Test func `Its providers are asked in its order`() throws {
        try use(
            #"""
            { "name": "local", "variables": ["a.json", "b.json"] }, "session", "override", "environment",
            { "features": "f.json", "environment": "beta" }
            """#)
        #expect(store.sources.map(\.name) == ["local", "session", "override", "environment", "f.json"])
        #expect(try store.value(ofFeature: "search", variable: "limit") == 1)
        #expect(try store.value(ofFeature: "search", variable: "depth") == 3)
        #expect(store.isFeatureEnabled("x"))
        try store.set(9, for: TweakKey("Features", "search", "limit"))
        #expect(try store.value(ofFeature: "search", variable: "limit") == 1)
    }

    @Test func `Omitted providers come first`() throws {
        try use(#""environment", { "name": "local", "variables": ["a.json"] }"#)
        #expect(store.sources.map(\.name) == ["session", "override", "environment", "local"])
    }

    @Test(arguments: [
        (#""sesion""#, "each provider can be listed once; there are session, environment, override"),
        (#""session", "session""#, "each provider can be listed once"),
        (
            #"{ "variables": "a.json" }"#,
            "providers.0.variables: got \"a.json\", expected an array of paths"
        ),
        (#"{ "variables": ["missing.json"] }"#, "no such file"),
        (#"{ "variables": [], "features": "f.json" }"#, "a provider has either \"variables\""),
        (
            #"{ "features": "f.json", "environment": "x" }"#,
            "unknown environment \"x\"; it has beta, default"
        ),
        (
            #"{ "file": "x" }"#,
            "providers.0.file: only name, variables, features, environment, values are expected here"
        ),
        ("7", "got 7, expected the name of a provider, or an object"),
    ]) func `Mistakes in it are reported, and nothing changes`(providers: String, message: String) throws {
        let error = #expect(throws: (any Error).self) { try use(providers) }
        #expect(error.map { "\($0)" }?.contains(message) == true, "\(error.map { "\($0)" } ?? "")")
        #expect(store.sources == [.session, .environment, .overrides])
    }

    @Test func `One beside the program is used from the start`() throws {
        let program = home("setter")
        #expect(try run("/bin/cp", [Locations.product("tweak-setter"), program], home: home).succeeded)
        try home.write("v.json", #"{ "search": { "limit": { "Value": 1 } } }"#)
        try home.write("setter.tweaks.json", #"{ "providers": [ { "variables": ["v.json"] } ] }"#)
        let result = try run(program, ["set", "Features/search/limit", "5"], home: home)
        #expect(result.succeeded && result.error.isEmpty)
        try home.write("setter.tweaks.json", "{")
        let broken = try run(program, ["show"], home: home)
        #expect(broken.output == "false 5 0.5 hello\n")
        #expect(broken.error.contains("setter.tweaks.json: "))
    }
}
