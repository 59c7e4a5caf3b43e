// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TestSupport
import TweakTargeting

@Suite struct `A percentage rollout` {
    /// Machine ids of 10,000 hosts.
    private static let hosts: [String] = {
        var generator = SeededGenerator(seed: 17)
        return (0..<10_000).map { _ in String(generator.next(), radix: 16) }
    }()

    private static let positions = hosts.map { ($0, RolloutPosition(machine: $0, key: "search")) }

    private func hostsWith(_ percentage: Double) -> Set<String> {
        Set(Self.positions.filter { $0.1.isBelow(percentage) }.map(\.0))
    }

    @Test(arguments: [0, 1, 10, 20, 50, 90, 99.5, 100])
    func `It is within one point on 10,000 hosts`(percentage: Double) {
        #expect(abs(Double(hostsWith(percentage).count) / 100 - percentage) <= 1)
    }

    @Test func `From 10 to 20 percent keeps the first 10`() {
        #expect(hostsWith(10).isStrictSubset(of: hostsWith(20)))
    }

    @Test func `0 % matches no host, and 100 % all`() {
        #expect(hostsWith(0).isEmpty)
        #expect(hostsWith(100).count == 10_000)
    }

    @Test func `Another feature or another salt draws other hosts`() {
        let (hosts, first) = (Self.hosts.prefix(2_000), hostsWith(10))
        for (key, salt) in [("login", ""), ("search", "autumn")] {
            let others = hosts.filter { RolloutPosition(machine: $0, key: key, salt: salt).isBelow(10) }
            // A tenth of a tenth is in both by chance.
            #expect(5...40 ~= first.intersection(others).count)
        }
    }

    // printf '%s' 'autumn/search/0123456789abcdef0123456789abcdef' | sha256sum | cut -c 1-8
    @Test func `The position equals that of sha256sum`() {
        let position = RolloutPosition(
            machine: "0123456789abcdef0123456789abcdef", key: "search", salt: "autumn")
        #expect(position.percent == Double(0x566b3e92 as UInt32) * 100 / 4_294_967_296)
    }

    // printf '%s' "/$(printf 'x%.0s' $(seq 200))/m" | sha256sum | cut -c 1-8
    @Test func `The position of a long key equals that of sha256sum`() {
        let position = RolloutPosition(machine: "m", key: String(repeating: "x", count: 200))
        #expect(position.percent == Double(0x1e0581cf as UInt32) * 100 / 4_294_967_296)
    }

    @Test func `A feature goes by the machine id, and without one by the name of the host`() throws {
        let machine = "0123456789abcdef0123456789abcdef"
        let position = RolloutPosition(machine: machine, key: "search", salt: "autumn").percent
        let below = "\"salt\": \"autumn\", \"percentage\": \(position - 0.1)"
        let above = "\"salt\": \"autumn\", \"percentage\": \(position + 0.1)"
        for fact in [Fact.machine, .host] {
            #expect(try !isOn(below, [fact: machine]))
            #expect(try isOn(above, [fact: machine]))
        }
        #expect(try isOn(above, [.machine: machine, .host: "web"]))
        #expect(
            try decision(above).reason == "percentage needs a machine id or a host name, and neither is known"
        )
    }

    @Test(arguments: ["12.5", "10", "0"])
    func `The reason has the percentage and where the host is`(percentage: String) throws {
        let reason = try decision(
            #""percentage": \#(percentage), "salt": "autumn""#,
            [
                .machine: "0123456789abcdef0123456789abcdef"
            ]
        ).reason
        #expect(reason == "percentage is \(percentage); this host is at 33.7")
    }
}
