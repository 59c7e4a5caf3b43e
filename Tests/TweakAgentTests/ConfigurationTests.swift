// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Foundation
import RemoteValues
import TestSupport
import Testing
import TweakFormats

@Suite struct `The configuration of an agent` {
    private func read(_ json: String) throws -> [WebSettings] {
        try AgentConfiguration(json: Array(json.utf8), path: "/etc/agent.json").applications
    }

    private func problem(_ members: String) -> String {
        do {
            _ = try read(#"{ "applications": [ { \#(members) } ] }"#)
            return "none"
        } catch { return "\(error)" }
    }

    @Test func `needs no more than a name and an address`() throws {
        let all = try read(#"{ "applications": [ { "name": "search", "url": "https://example.org/a" } ] }"#)
        #expect(all.map(\.name) == ["search"])
        #expect(all.map(\.url.text) == ["https://example.org/a/features.json"])
        #expect(all.map(\.interval) == [.seconds(60)])
        #expect(all.map(\.redirects) == [0])
    }

    @Test func `names the checks of rollouts`() throws {
        func read(_ rollouts: String) throws -> [String: String]? {
            let application = #""name": "a", "fleet": true, "rollouts": \#(rollouts)"#
            let etcd = #""etcd": { "endpoints": [ "https://e:2379" ] }"#
            let json = #"{ \#(etcd), "applications": [ { \#(application) } ] }"#
            return try AgentConfiguration(json: Array(json.utf8), path: "/etc/tweaks/agent.json").fleet.first?
                .rollouts?.checks
        }
        #expect(try read("{}") == [:])
        #expect(
            try read(#"{ "checks": { "errors": "check", "load": "/bin/load" } }"#)
                == ["errors": "/etc/tweaks/check", "load": "/bin/load"])
        for wrong in [
            "[]", #"{ "check": {} }"#, #"{ "checks": { "a b": "/bin/b" } }"#, #"{ "checks": { "a": "" } }"#,
            #"{ "checks": { "a": [ "/bin/b" ] } }"#,
        ] {
            #expect(throws: FormatError.self, "\(wrong)") { try read(wrong) }
        }
    }

    @Test(arguments: [
        ("\"url\": \"https://e/\"", "applications.0.name: it is missing: the name of an application"),
        (
            "\"name\": \"a/b\", \"url\": \"https://e/\"",
            "applications.0.name: it has 1 to 200 bytes, no slash"
        ),
        (
            "\"name\": \".agent\", \"url\": \"https://e/\"",
            "applications.0.name: it has 1 to 200 bytes, no slash"
        ),
        ("\"name\": \"a\"", "applications.0.url: it is missing"),
        (
            "\"name\": \"a\", \"url\": \"ftp://e/\"",
            "applications.0.url: \"https://\", a host and a path are expected"
        ),
        ("\"name\": \"a\", \"url\": \"http://e/\"", "applications.0.url: without TLS anybody on the network"),
        (
            "\"name\": \"a\", \"url\": \"https://e/\", \"interval\": 0",
            "applications.0.interval: got 0, expected a number of seconds from 1.0 to 86400.0"
        ),
        (
            "\"name\": \"a\", \"url\": \"https://e/\", \"redirects\": 11",
            "applications.0.redirects: got 11, expected an integer from 0 to 10"
        ),
        (
            "\"name\": \"a\", \"url\": \"https://e/\", \"plainHTTP\": 1",
            "applications.0.plainHTTP: got 1, expected true or false"
        ),
        (
            "\"name\": \"a\", \"url\": \"https://e/\", \"programs\": [ \"/usr/bin/a\" ]",
            "applications.0.programs: their declarations go to etcd; add \"fleet\": true"
        ),
        (
            "\"name\": \"a\", \"url\": \"https://e/\", \"programs\": [ 1 ]",
            "applications.0.programs.0: got 1, expected text"
        ),
        (
            "\"name\": \"a\", \"url\": \"https://e/\", \"rollouts\": {}",
            "applications.0.rollouts: they are in etcd; add \"fleet\": true"
        ),
        (
            "\"name\": \"a\", \"url\": \"https://e/\", \"publicKey\": \"x\"",
            "applications.0.publicKey: 32 bytes in Base64 are expected"
        ),
        (
            "\"name\": \"a\", \"url\": \"https://e/\", \"certificates\": \"none.pem\"",
            "applications.0.certificates: /etc/none.pem: No such file"
        ),
        (
            "\"name\": \"a\", \"url\": \"https://e/\", \"intervall\": 5",
            "applications.0: unknown member \"intervall\"; allowed: name, url, "
        ),
    ])
    func `is refused with the location and what is allowed`(members: String, expected: String) {
        let problem = problem(members)
        #expect(problem.hasPrefix("/etc/agent.json: " + expected), "\(problem)")
    }

    @Test func `can name a flag service instead of a file`() throws {
        let application = try #require(
            try read(#"{ "applications": [ { "name": "a", "ofrep": { "url": "https://e/flags/?a=b" } } ] }"#)
                .first)
        #expect(application.url.text == "https://e/flags/ofrep/v1/evaluate/flags?a=b")
        #expect(application.evaluation == FlagEvaluation())
    }

    @Test(arguments: [
        ("\"ofrep\": {}", "ofrep.url: it is missing: the address of the service"),
        (
            "\"ofrep\": { \"url\": \"https://e#a\" }",
            "ofrep.url: \"https://\", a host and a path are expected"
        ),
        ("\"ofrep\": { \"url\": \"http://e\" }", "ofrep: without TLS anybody on the network can change"),
        ("\"url\": \"https://e\", \"ofrep\": { \"url\": \"https://e\" }", "ofrep: give either"),
        ("\"ofrep\": { \"url\": \"https://e\", \"context\": 1 }", "ofrep.context: got 1, expected an object"),
        (
            "\"ofrep\": { \"url\": \"https://e\", \"context\": { \"targetingKey\": 1 } }",
            "ofrep.context: \"targetingKey\" is a text"
        ),
        (
            "\"ofrep\": { \"url\": \"https://e\", \"tokenFile\": \"none\" }",
            "ofrep.tokenFile: /etc/none: No such file"
        ),
        (
            "\"ofrep\": { \"url\": \"https://e\", \"names\": { \"a\": \"A/B/C/D\" } }",
            "ofrep.names: a: \"Category/Collection/Name\" is expected; this is \"A/B/C/D\""
        ),
        ("\"ofrep\": { \"url\": \"https://e\", \"names\": {} }", "none"),
        (
            "\"ofrep\": { \"url\": \"https://e\", \"name\": {} }",
            "ofrep: unknown member \"name\"; allowed: url, context,"
        ),
        (
            "\"ofrep\": { \"url\": \"https://e\" }, \"publicKey\": \"fMVvFKb4IbLUyGwBKeR9Yl6nBtT7wpgwOmLBoXzS0zQ=\"",
            "publicKey: a service cannot sign its values"
        ),
    ])
    func `reports mistakes in a service`(members: String, expected: String) {
        let problem = problem("\"name\": \"a\", " + members)
        #expect(
            problem.hasPrefix(expected == "none" ? expected : "/etc/agent.json: applications.0." + expected),
            "\(problem)")
    }

    @Test(arguments: [
        "", "[]", "{}", "{ \"applications\": [] }", "{ \"applications\": [ 1 ] }", "{ \"applications\": {} }",
    ])
    func `is refused without applications`(json: String) {
        #expect(throws: (any Error).self) { try read(json) }
    }

    @Test func `lists each application once`() {
        #expect(throws: (any Error).self) {
            try read(
                #"{ "applications": [ { "name": "a", "url": "https://e/" }, { "name": "a", "url": "https://f/" } ] }"#
            )
        }
    }

    @Test func `ends the program with an error`() throws {
        let host = try AgentHost()
        #expect(try host.once().status == EX_NOINPUT)
        try host.home.write("agent.json", "{}")
        let result = try host.once()
        #expect(result.status == EX_CONFIG)
        #expect(result.error.contains("agent.json: applications: it is missing"), "\(result.error)")
    }
}

@Suite struct `The configuration of an agent that follows etcd` {
    private func read(_ cluster: String, _ application: String = "\"fleet\": true") throws
        -> AgentConfiguration
    {
        let json =
            "{ \"etcd\": { \(cluster) }, \"applications\": [ { \"name\": \"search\", \(application) } ] }"
        return try AgentConfiguration(json: Array(json.utf8), path: "/etc/agent.json")
    }

    @Test func `needs no more than an address`() throws {
        let configuration = try read("\"endpoints\": [\"https://a:2379/\", \"https://[::1]:2379\"]")
        #expect(configuration.applications.isEmpty)
        #expect(configuration.fleet.map(\.root) == ["/tweaks/production/search/"])
        #expect(configuration.fleet[0].cluster.endpoints == ["https://a:2379", "https://[::1]:2379"])
        #expect(configuration.fleet[0].cluster.interval == .seconds(60))
    }

    @Test func `names the key prefix, and can name another source too`() throws {
        let configuration = try read(
            "\"endpoints\": [\"https://a:2379\"], \"prefix\": \"x/y//\", \"environment\": \"staging\"",
            "\"fleet\": true, \"version\": \"2\", \"url\": \"https://e/\"")
        #expect(configuration.fleet.map(\.root) == ["x/y/staging/search/"])
        #expect(configuration.fleet.map(\.version) == ["2"])
        #expect(configuration.applications.map(\.name) == ["search"])
    }

    @Test(arguments: [
        ("\"endpoints\": []", "etcd.endpoints: it is empty"),
        ("\"prefix\": \"a\"", "etcd.endpoints: it is missing: an array of addresses"),
        (
            "\"endpoints\": [\"a:2379\"]",
            "etcd.endpoints.0: got \"a:2379\", expected an address, \"https://\" with a host and"
        ),
        ("\"endpoints\": [\"https://a/b\"]", "etcd.endpoints.0: got \"https://a/b\""),
        ("\"endpoints\": [\"https://u@a\"]", "etcd.endpoints.0: got \"https://u@a\""),
        ("\"endpoints\": [5]", "etcd.endpoints.0: got 5"),
        ("\"endpoints\": [\"http://a\"]", "etcd.endpoints.0: without TLS anybody on the network can change"),
        (
            "\"endpoints\": [\"https://a\"], \"environment\": \"a/b\"",
            "etcd.environment: it has 1 to 200 bytes"
        ),
        ("\"endpoints\": [\"https://a\"], \"host\": \"a/b\"", "etcd.host: it has 1 to 200 bytes"),
        ("\"endpoints\": [\"https://a\"], \"reports\": 1", "etcd.reports: got 1, expected true or false"),
        (
            "\"endpoints\": [\"https://a\"], \"user\": \"a\"",
            "etcd.passwordFile: user and passwordFile belong"
        ),
        ("\"endpoints\": [\"https://a\"], \"interval\": 0", "etcd.interval: got 0"),
        ("\"endpoints\": [\"https://a?b\"]", "etcd.endpoints.0: got \"https://a?b\", expected an address"),
        (
            "\"endpoints\": [\"https://a\"], \"key\": 0",
            "etcd: unknown member \"key\"; allowed: plainHTTP, endpoints,"
        ),
    ])
    func `is refused with the location and what is allowed`(members: String, expected: String) {
        let error = #expect(throws: (any Error).self) { try read(members) }
        #expect("\(error.map { "\($0)" } ?? "")".hasPrefix("/etc/agent.json: " + expected), "\(error as Any)")
    }

    @Test func `is refused without a cluster`() {
        let json = "{ \"applications\": [ { \"name\": \"a\", \"fleet\": true } ] }"
        #expect(throws: (any Error).self) { try AgentConfiguration(json: Array(json.utf8), path: "") }
    }
}

@Suite struct `The address of a file` {
    @Test(arguments: [
        ("https://example.org", "https://example.org/features.json"),
        ("https://example.org/", "https://example.org/features.json"),
        ("https://example.org/a/b", "https://example.org/a/b/features.json"),
        ("https://example.org/a/b.json", "https://example.org/a/b.json"),
        ("https://example.json", "https://example.json/features.json"),
        ("HTTPS://[::1]:8443/a", "HTTPS://[::1]:8443/a/features.json"),
        ("https://e/a.json?sv=2&sig=a%2Fb%3D", "https://e/a.json?sv=2&sig=a%2Fb%3D"),
        ("https://e/a?x@y/z.json", "https://e/a?x@y/z.json"), ("https://e?a", "https://e?a"),
        ("https://e/a/?", "https://e/a/?"),
    ])
    func `ends in features.json by default`(given: String, file: String) {
        #expect(RemoteURL(given)?.text == file)
    }

    @Test(arguments: [
        "", "example.org", "https://", "https:///a", "https://u:p@e/", "https://e/#a", "https://e/?a#b",
        "https://e/ a", "https://:80/", "https://?a", "https://e/\r\nX:", "https://e/?a|b",
        "https://e/?a=100%", "https://e/?a=%zz%20",
    ])
    func `is refused if malformed, or with a password or fragment`(text: String) {
        #expect(RemoteURL(text) == nil)
    }
}

@Suite struct `Intervals between checks` {
    @Test func `is the interval, with a tenth of jitter`() {
        var schedule = CheckSchedule(interval: .seconds(60))
        _ = schedule.succeeded()
        #expect(abs(schedule.succeeded(chance: 0) / .seconds(1) - 54) < 0.001)
        #expect(schedule.succeeded(chance: 0.5) == .seconds(60))
        #expect(abs(schedule.succeeded(chance: 1) / .seconds(1) - 66) < 0.001)
    }

    @Test func `is any part of the interval after the first success, but a second at least`() {
        let pauses = [0, 0.5, 1].map { chance in
            var schedule = CheckSchedule(interval: .seconds(60))
            return schedule.succeeded(chance: chance)
        }
        #expect(pauses == [.seconds(1), .seconds(30.5), .seconds(60)])
    }

    @Test func `doubles from failure to failure up to five minutes`() {
        var schedule = CheckSchedule(interval: .seconds(60))
        _ = schedule.succeeded()
        let pauses = (0..<5).map { _ in schedule.failed(chance: 0.5) }
        #expect(pauses == [60, 120, 240, 300, 300].map { .seconds($0) })
        _ = schedule.succeeded()
        #expect(schedule.failed(chance: 0.5) == .seconds(60))
    }

    @Test func `starts at one second while a host boots`() {
        var schedule = CheckSchedule(interval: .seconds(60))
        let pauses = (0..<4).map { _ in schedule.failed(chance: 0.5) }
        #expect(pauses == [1, 2, 4, 8].map { .seconds($0) })
    }

    @Test func `is never shorter than the interval`() {
        var schedule = CheckSchedule(interval: .seconds(600))
        _ = schedule.succeeded()
        for _ in 0..<100 { #expect(schedule.failed(chance: 0.5) == .seconds(600)) }
    }

    @Test func `is what a server asks for, at most an hour`() {
        var schedule = CheckSchedule(interval: .seconds(60))
        _ = schedule.succeeded()
        #expect(schedule.failed(retryAfter: .seconds(500), chance: 0.5) == .seconds(500))
        #expect(schedule.failed(retryAfter: .seconds(1), chance: 0.5) == .seconds(120))
        #expect(schedule.failed(retryAfter: .seconds(Int64.max / 4), chance: 0.5) == .seconds(3600))
    }

    @Test func `is read of a server's answer as seconds or a date`() {
        #expect(HTTPFetcher.pause("120") == .seconds(120))
        #expect(HTTPFetcher.pause("99999999999999999999999") != nil)
        #expect(HTTPFetcher.pause("Sun, 22 Nov 2020 17:00:00 GMT") == .zero)
        #expect(HTTPFetcher.pause("Fri, 22 Nov 2199 17:00:00 GMT") ?? .zero > .seconds(3600))
        #expect(HTTPFetcher.pause("soon") == nil)
        #expect(HTTPFetcher.pause("-5") == nil)
    }
}
#endif
