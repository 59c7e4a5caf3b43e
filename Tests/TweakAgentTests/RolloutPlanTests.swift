// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import RemoteValues
import Testing
import TweakFormats
import TweakJSON
import TweakRecords

@Suite struct `The plan of a rollout` {
    private let tweak = TweakKey("Search", "Index", "Limit")

    @Test(arguments: [
        "2026-11-31T10:00:00Z", "2027-02-29T00:00:00Z", "2026-11-30T24:00:00Z", "2026-11-30T10:60:00Z",
        "2026-13-01T00:00:00Z", "2026-11-30", "soon", "",
    ])
    func `does not begin at a time that there is not`(time: String) { #expect(instant(time) == nil) }

    @Test func `begins at a time that there is`() {
        #expect(instant("1972-02-29T23:59:59Z") == .seconds(790 * 86_400 - 1))
    }

    private func plan(
        steps: [Double] = [1, 10, 100], every: Int = 600, filters: JSONObject? = nil
    ) throws -> RolloutPlan {
        try RolloutPlan(
            of: tweak, 300, filters: filters, steps: steps, every: every, by: "ann@ops", why: "more",
            at: "2026-11-25T17:00:00Z")
    }

    /// The value and the plan in etcd, which only transitions change, both at once.
    private struct Stored {
        var plan: RolloutPlan
        var value: FleetValue?
        var kill: String?
        var changes: [String] = []

        init(_ plan: RolloutPlan, _ value: FleetValue? = nil) { (self.plan, self.value) = (plan, value) }

        var found: RolloutPlan.Found { RolloutPlan.Found(value.map { .success($0) }, kill: kill) }

        /// Commits a transition, through JSON as etcd keeps it.
        mutating func commit(_ transition: RolloutPlan.Transition?) throws {
            guard let transition else { return }
            plan = try RolloutPlan(json: transition.plan.json(), of: transition.plan.tweak)
            guard let change = transition.change else { return }
            value = try change.value.map { try FleetValue(json: $0.json(), of: plan.tweak) }
            changes.append(change.why)
        }
    }

    private func percentage(_ value: FleetValue?) -> TweakValue? {
        value?.filters?["percentage"]?.tweakValue
    }

    @Test func `makes each step once, and ends after a last pause`() throws {
        var stored = Stored(try plan(), FleetValue(200))
        var shares: [TweakValue?] = []
        while stored.plan.state == .running {
            let transition = try #require(stored.plan.next(stored.found))
            #expect(transition.wait == (transition.change == nil ? nil : 600))
            try stored.commit(transition)
            shares.append(percentage(stored.value))
        }
        #expect(shares == [1, 10, nil, nil])
        #expect(stored.plan.state == .finished)
        #expect(stored.value?.value == 300 && stored.value?.filters == nil && stored.value?.otherwise == nil)
        #expect(
            stored.changes == [
                "more (step 1 of 3: 1 %)", "more (step 2 of 3: 10 %)", "more (step 3 of 3: 100 %)",
            ])
        #expect(stored.plan.next(stored.found) == nil)
    }

    @Test func `keeps the old value on other hosts`() throws {
        var stored = Stored(try plan(), FleetValue(200, filters: ["only-os": .array([])]))
        try stored.commit(stored.plan.next(stored.found))
        #expect(stored.value?.otherwise == .init(200, filters: ["only-os": .array([])]))
        var first = Stored(try plan())
        try first.commit(first.plan.next(first.found))
        #expect(first.value != nil && first.value?.otherwise == nil)
    }

    @Test func `is the same whether its leader was killed before or after a transition`() throws {
        // A transition depends on nothing but what is stored, so one that was not committed is made again.
        for killed in 0..<16 {
            var stored = Stored(try plan(), FleetValue(200))
            for step in 0..<4 {
                let lost = stored.plan.next(stored.found)
                let isKilledBefore = killed & 1 << step != 0
                if isKilledBefore { #expect(stored.plan.next(stored.found) == lost) }
                try stored.commit(lost)
            }
            #expect(stored.plan.state == .finished && stored.changes.count == 3)
        }
    }

    @Test func `goes back in one change`() throws {
        for old in [nil, FleetValue(200), FleetValue(200, filters: ["percentage": .scalar(5)])] {
            var stored = Stored(try plan(), old)
            for _ in 0..<2 { try stored.commit(stored.plan.next(stored.found)) }
            try stored.commit(stored.plan.aborted(stored.found, because: "it is slow"))
            #expect(stored.plan.state == .aborted && stored.plan.reason == "it is slow")
            #expect(stored.value?.value == old?.value && stored.value?.filters == old?.filters)
            #expect(stored.changes.count == 3 && stored.changes.last == "more (aborted: it is slow)")
            #expect(stored.plan.aborted(stored.found, because: "again") == nil)
            #expect(stored.plan.next(stored.found) == nil)
        }
    }

    @Test func `changes nothing when it is aborted before the first step`() throws {
        var stored = Stored(try plan(), FleetValue(200))
        try stored.commit(stored.plan.aborted(stored.found, because: "no"))
        #expect(stored.plan.state == .aborted && stored.value?.value == 200 && stored.changes.isEmpty)
    }

    @Test func `makes no step while it is paused, and waits when it is resumed`() throws {
        var stored = Stored(try plan())
        try stored.commit(stored.plan.next(stored.found))
        try stored.commit(stored.plan.paused(because: "ann: hm"))
        #expect(stored.plan.state == .paused && stored.plan.next(stored.found) == nil)
        #expect(stored.plan.paused(because: "again") == nil)
        let resumed = try #require(stored.plan.resumed(because: "ann"))
        #expect(resumed.wait == 600 && resumed.change == nil)
        try stored.commit(resumed)
        try stored.commit(stored.plan.next(stored.found))
        #expect(percentage(stored.value) == 10)
        #expect(stored.plan.resumed(because: "ann") == nil)
        // The start is not moved.
        let waiting = try #require(try plan().paused(because: "ann")).plan
        #expect(waiting.resumed(because: "ann")?.wait == nil)
    }

    @Test func `can be aborted while it is paused`() throws {
        var stored = Stored(try plan())
        try stored.commit(stored.plan.next(stored.found))
        try stored.commit(stored.plan.paused(because: "ann"))
        try stored.commit(stored.plan.aborted(stored.found, because: "ann"))
        #expect(stored.plan.state == .aborted && stored.value == nil)
    }

    @Test func `leaves a value alone that somebody else has set`() throws {
        for other in [nil, FleetValue(5, by: "bob"), FleetValue(300)] {
            var stored = Stored(try plan(), FleetValue(200))
            try stored.commit(stored.plan.next(stored.found))
            stored.value = other
            var aborted = stored
            try stored.commit(stored.plan.next(stored.found))
            try aborted.commit(aborted.plan.aborted(aborted.found, because: "no"))
            for stored in [stored, aborted] {
                #expect(stored.plan.state == .stopped && stored.value == other && stored.changes.count == 1)
            }
        }
    }

    @Test func `is stopped if another rollout is on the way, or the value before is invalid`() throws {
        let plan = try plan()
        let half = FleetValue(
            5, filters: ["percentage": .scalar(10)], otherwise: FleetValue.Alternative(4))
        let invalid = FormatError.malformed(path: "a", reason: "b")
        for value in [Result<FleetValue, FormatError>.success(half), .failure(invalid)] {
            let transition = plan.next(RolloutPlan.Found(value))
            #expect(transition?.plan.state == .stopped && transition?.change == nil)
        }
    }

    @Test func `is paused by a kill`() throws {
        var stored = Stored(try plan())
        try stored.commit(stored.plan.next(stored.found))
        stored.kill = "killed by bob"
        try stored.commit(stored.plan.next(stored.found))
        #expect(stored.plan.state == .paused && stored.plan.reason == "killed by bob")
        #expect(percentage(stored.value) == 1)
        try stored.commit(stored.plan.aborted(stored.found, because: "bob"))
        #expect(stored.plan.state == .aborted && stored.value == nil)
    }

    @Test(arguments: [[], [0], [10, 5], [10, 10], [101], [-1], [.nan]] as [[Double]])
    func `has ascending percentages`(steps: [Double]) {
        #expect(throws: FormatError.self) { try plan(steps: steps) }
    }

    @Test func `has known filters, and no percentage of its own`() throws {
        #expect(throws: FormatError.self) { try plan(filters: ["percentage": .scalar(5)]) }
        #expect(throws: FormatError.self) { try plan(filters: ["only-moon": .array([])]) }
        let filters: JSONObject = ["only-os": .array([.scalar("debian")]), "salt": .scalar("autumn")]
        var stored = Stored(try plan(filters: filters), FleetValue(200))
        for _ in 0..<3 { try stored.commit(stored.plan.next(stored.found)) }
        // Hosts that the filters leave out keep their value.
        #expect(stored.value?.filters == ["only-os": .array([.scalar("debian")])])
        #expect(stored.value?.otherwise == .init(200))
    }

    @Test(arguments: ["errors", "a.b-c_9", String(repeating: "a", count: 100)])
    func `has a check with a plain name`(name: String) { #expect(RolloutPlan.isCheck(name)) }

    @Test(arguments: ["", "/bin/sh", "a b", "a;b", "$(a)", "ä", "a\n", String(repeating: "a", count: 101)])
    func `has no command as a check`(name: String) throws {
        #expect(!RolloutPlan.isCheck(name))
        #expect(throws: FormatError.self) {
            try RolloutPlan(
                of: tweak, 1, filters: nil, steps: [1], every: 1, check: name, by: "", why: "", at: "")
        }
    }

    @Test(arguments: [
        "", "[]", "{", "{}", #"{ "value": 1, "steps": [ 1 ], "every": 1 }"#,
        #"{ "value": 1, "steps": [ 1 ], "every": 1, "state": "gone", "done": 0 }"#,
        #"{ "value": 1, "steps": [ 1 ], "every": 0, "state": "running", "done": 0 }"#,
        #"{ "value": 1, "steps": [ 1 ], "every": 1, "state": "running", "done": 2 }"#,
        #"{ "value": 1, "steps": [ 1 ], "every": 1, "state": "running", "done": -1 }"#,
        #"{ "value": {}, "steps": [ 1 ], "every": 1, "state": "running", "done": 0 }"#,
        #"{ "value": 1, "steps": [ 1 ], "every": 1, "state": "running", "done": 0, "command": "id" }"#,
        #"{ "value": 1, "steps": [ 1 ], "every": 1, "state": "running", "done": 0, "check": "/bin/sh" }"#,
    ])
    func `is refused when malformed`(json: String) {
        #expect(throws: FormatError.self) { try RolloutPlan(json: Array(json.utf8), of: tweak) }
    }

    @Test(arguments: [
        #"{ "value": 1, "otherwise": { "value": 2 } }"#,
        #"{ "value": 1, "for": {}, "otherwise": 2 }"#, #"{ "value": 1, "for": {}, "otherwise": {} }"#,
        #"{ "value": 1, "for": {}, "otherwise": { "value": 2, "otherwise": { "value": 3 } } }"#,
        #"{ "value": 1, "for": {}, "otherwise": { "value": 2, "for": { "percentage": 101 } } }"#,
    ])
    func `does not make sense of a malformed value for other hosts`(json: String) {
        #expect(throws: FormatError.self) { try FleetValue(json: Array(json.utf8), of: tweak) }
    }

    // MARK: - Hosts

    /// A plan whose first step is change 7.
    private func running(silent: Int = 0) throws -> RolloutPlan {
        let members = #""steps": [ 1, 100 ], "every": 1, "state": "running", "done": 1, "firstChange": 7"#
        let json = #"{ "value": 300, \#(members), "silent": \#(silent) }"#
        return try RolloutPlan(json: Array(json.utf8), of: tweak)
    }

    private func host(_ number: Int, version: Int, isSilent: Bool = false, refuses: String? = nil)
        -> HostReport
    {
        var report = HostReport(host: "web\(number)", version: version, revision: 100)
        report.isSilent = isSilent
        report.refused = refuses.map { [HostReport.Refusal(tweak: $0, reason: "it is above 250")] } ?? []
        return report
    }

    @Test func `is judged by hosts that have its first step`() throws {
        let plan = try running()
        let old = plan.hosts(among: [
            host(1, version: 6, isSilent: true), host(2, version: 6, refuses: "\(tweak)"),
            host(3, version: 7, refuses: "Search/Index/Other"),
        ])
        #expect(old.refusal == nil && old.silence == nil && old.silent == 0)
        let new = plan.hosts(among: [
            host(1, version: 7, isSilent: true), host(2, version: 9, refuses: "\(tweak)"),
        ])
        #expect(new.refusal == "web2 refuses it: it is above 250")
        #expect(new.silence == "web1 fell silent" && new.silent == 1)
    }

    @Test func `tolerates hosts that were silent when it was resumed, and some in a large fleet`() throws {
        let silent = (0..<5).map { host($0, version: 7, isSilent: true) }
        #expect(try running(silent: 4).hosts(among: silent).silence != nil)
        #expect(try running(silent: 5).hosts(among: silent).silence == nil)
        let others = (5..<1000).map { host($0, version: 7) }
        #expect(try running().hosts(among: silent + others).silence == nil)
        #expect(
            try running().hosts(among: silent + others.dropLast()).silence
                == "web0, web1, web2 and 2 more fell silent")
    }
}
#endif
