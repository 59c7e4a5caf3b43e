// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import RemoteValues
import TestSupport
import Testing

/// Hosts that report at their times, and what that costs etcd.
private struct SimulatedFleet {
    private var hosts: [ReportSchedule]
    private var renewals: [Duration]
    private var random: SeededGenerator
    private let start = ContinuousClock.now
    private(set) var time: Duration = .zero
    /// The number of writes in each step, and of renewals.
    private(set) var writes: [Int] = []
    private(set) var renewed: [Int] = []
    /// Those of the first host.
    private(set) var writesOfFirst = 0
    /// The number of writes that each report takes.
    var cost = 1

    private let step: Duration

    /// - Parameters:
    ///   - count: The number of hosts, which all know it.
    ///   - step: The time between looks at all hosts, a part of a second.
    init(_ count: Int, step: Duration = .seconds(1)) {
        (random, self.step) = (SeededGenerator(seed: 1), step)
        var schedule = ReportSchedule()
        schedule.hosts = count
        hosts = Array(repeating: schedule, count: count)
        renewals = []
        for _ in hosts.indices {
            renewals.append(schedule.renewal * Double.random(in: 0..<0.95, using: &random))
        }
    }

    /// Tells all hosts of a change.
    mutating func change(isUrgent: Bool = true) {
        for index in hosts.indices {
            let chance = Double.random(in: 0..<1, using: &random)
            hosts[index].plan(isUrgent: isUrgent, writes: cost, now: start + time, chance: chance)
        }
    }

    /// Lets time pass.
    ///
    /// - Parameter changes: The time between changes for all; `nil` for none.
    mutating func run(for duration: Duration, changingEvery changes: Duration? = nil, isUrgent: Bool = true) {
        let end = time + duration
        var next = time
        while time < end {
            if let changes, next <= time {
                change(isUrgent: isUrgent)
                next += changes
            }
            time += step
            var (writes, renewed) = (0, 0)
            for index in hosts.indices {
                if let due = hosts[index].due, due <= start + time {
                    hosts[index].succeeded(now: due)
                    writes += cost
                    if index == 0 { writesOfFirst += 1 }
                }
                guard renewals[index] <= time else { continue }
                renewed += 1
                renewals[index] += hosts[index].renewal * Double.random(in: 0.9...1, using: &random)
            }
            self.writes.append(writes)
            self.renewed.append(renewed)
        }
    }

    /// The maximum in a second.
    static func most(_ counts: [Int]) -> Int { counts.max() ?? 0 }

    var total: Int { writes.reduce(0, +) }
}

@Suite struct `Reports of 10,000 hosts` {
    private let count = 10_000

    @Test func `cost at most 200 writes a second after a change for all`() {
        var fleet = SimulatedFleet(count)
        fleet.change()
        fleet.run(for: .seconds(80))
        #expect(fleet.total == count)
        #expect(SimulatedFleet.most(fleet.writes) <= 200)
    }

    @Test(arguments: [.seconds(1), .seconds(7), .seconds(45), .seconds(100)] as [Duration])
    func `cost at most 200 writes a second while values change all the time`(_ pause: Duration) {
        var fleet = SimulatedFleet(count)
        fleet.run(for: .seconds(600), changingEvery: pause)
        #expect(fleet.total > count)
        #expect(SimulatedFleet.most(fleet.writes) <= 200)
        // A host writes less than once a minute.
        #expect(fleet.writesOfFirst < 10)
    }

    @Test func `cost at most 200 writes a second when all lost their leases, which takes three each`() {
        var fleet = SimulatedFleet(count)
        fleet.cost = 3
        fleet.change()
        fleet.run(for: .seconds(240))
        #expect(fleet.total == 3 * count)
        #expect(SimulatedFleet.most(fleet.writes) <= 200)
    }

    @Test func `cost no write if nothing changes, and at most 300 hosts renew in a second`() {
        var fleet = SimulatedFleet(count)
        fleet.run(for: .seconds(600))
        #expect(fleet.total == 0)
        #expect(SimulatedFleet.most(fleet.renewed) <= 300)
    }

    @Test func `survive a failure of etcd without coming all at once`() {
        var schedule = ReportSchedule()
        schedule.hosts = count
        let start = ContinuousClock.now
        var due: [Duration] = []
        for index in 0..<count {
            var schedule = schedule
            schedule.plan(isUrgent: true, now: start, chance: 0)
            schedule.failed(now: start, chance: Double(index) / Double(count))
            if let time = schedule.due { due.append(start.duration(to: time)) }
        }
        let seconds = Dictionary(grouping: due) { $0.components.seconds }
        #expect(due.count == count && seconds.values.allSatisfy { $0.count <= 200 })
    }
}

@Suite struct `Reports of a few hosts` {
    @Test func `arrive within a second or two`() {
        var fleet = SimulatedFleet(100, step: .milliseconds(100))
        fleet.run(for: .seconds(3), changingEvery: .seconds(4))
        #expect(fleet.total == 100)
        fleet.run(for: .seconds(3), changingEvery: .seconds(4))
        #expect(fleet.total == 200)
    }

    @Test(arguments: [.milliseconds(100), .seconds(20)] as [Duration])
    func `are once a minute if values change all the time`(_ pause: Duration) {
        var fleet = SimulatedFleet(3, step: .milliseconds(100))
        fleet.run(for: .seconds(3600), changingEvery: pause)
        // A dozen at once, and one more each minute.
        #expect(60...73 ~= fleet.writesOfFirst, "\(fleet.writesOfFirst)")
    }

    @Test func `are once a minute for what is not about values`() {
        var fleet = SimulatedFleet(3, step: .milliseconds(100))
        fleet.run(for: .seconds(600), changingEvery: .milliseconds(500), isUrgent: false)
        #expect(9...11 ~= fleet.writesOfFirst, "\(fleet.writesOfFirst)")
    }

    @Test func `end four seconds after the agent`() {
        let schedule = ReportSchedule()
        #expect(schedule.lifetime == .seconds(4))
        #expect(schedule.renewal * 3 <= schedule.lifetime)
    }

    @Test(arguments: [1, 131, 1000, 12_345, 1_000_000])
    func `are renewed three times while a lease lasts`(_ hosts: Int) {
        var schedule = ReportSchedule()
        schedule.hosts = hosts
        #expect(schedule.renewal * 3 <= schedule.lifetime)
        #expect(schedule.lifetime.components.attoseconds == 0)
    }

    @Test func `of changes are not held up by what is less urgent`() throws {
        var schedule = ReportSchedule()
        let start = ContinuousClock.now
        schedule.succeeded(now: start)
        schedule.plan(isUrgent: false, now: start, chance: 0.5)
        #expect(try #require(schedule.due) >= start + .seconds(60))
        schedule.plan(isUrgent: true, now: start, chance: 0.5)
        let due = try #require(schedule.due)
        #expect(due <= start + .seconds(2))
        // Another change does not draw another time.
        schedule.plan(isUrgent: true, now: start, chance: 0)
        #expect(schedule.due == due)
    }
}
#endif
