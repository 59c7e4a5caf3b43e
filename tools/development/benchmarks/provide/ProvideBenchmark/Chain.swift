// SPDX-License-Identifier: BSD-3-Clause
import CChain
import Tweaks

/// The shared store with eight providers: its own three, two above them, one among them and two below.
struct Chain {
    /// The added providers: their places, and how the program reads the tweak that only each one has a value for.
    private static let added: [(name: String, above: TweakSource?, read: (@Sendable () -> Int32)?)] = [
        ("Highest", .session, { chain_highest() }), ("Second", .session, nil),
        ("Middle", .overrides, { chain_middle() }), ("Fourth", nil, nil), ("Lowest", nil, { chain_lowest() }),
    ]

    private let providers: [MemoryProvider]

    /// Adds the providers, which share the tweaks of a file: each decides some, which those below it have, too.
    init(_ file: VariablesProvider) throws {
        let own = Self.added.map { Self.key($0.name) }
        let keys = file.keys.subtracting(own).sorted()
        providers = try Self.added.enumerated().map { index, added in
            var values: [TweakKey: ProvidedValue] = [own[index]: .value(1)]
            for (number, key) in keys.enumerated() where number % own.count <= index {
                values[key] = try file.value(for: key)
            }
            let provider = MemoryProvider(added.name, values)
            try TweakStore.shared.add(provider, above: added.above)
            return provider
        }
    }

    private static func key(_ name: String) -> TweakKey { TweakKey("Features", "Chain", name) }

    /// Prints the nanoseconds until a changed value is in the cell, before and after all tweaks were decoded, and those
    /// for reading a tweak.
    func show(samples: Int) {
        showChanges(samples, "nobody has listed the tweaks")
        // Without tweaks there is nothing to measure. The process is the benchmark's own.
        guard TweakStore.shared.categories.count == 1 else { fatalError("there are no tweaks") }
        showChanges(samples, "somebody has listed the tweaks")
        let turns = 100_000
        let loops = [("global", read_global), ("tweak", read_tweak)]
        var nanoseconds: [[Double]] = [[], []]
        for _ in 0..<samples {
            for (index, (_, loop)) in loops.enumerated() {
                let duration = ContinuousClock().measure { loop(turns) }
                nanoseconds[index].append(duration / .nanoseconds(turns * 8))
            }
        }
        for ((name, _), nanoseconds) in zip(loops, nanoseconds) { show("read", name, nanoseconds) }
    }

    private func showChanges(_ samples: Int, _ state: String) {
        for (provider, added) in zip(providers, Self.added) {
            guard let read = added.read else { continue }
            var nanoseconds: [Double] = []
            for sample in 0..<samples {
                let value = Int32(2 + sample)
                let duration = ContinuousClock().measure {
                    provider.change(Self.key(added.name), to: .value(.integer(Int128(value))))
                }
                // As above: the measurement would be meaningless.
                guard read() == value else { fatalError("\(added.name) has not changed its tweak") }
                nanoseconds.append(duration / .nanoseconds(1))
            }
            show(state, added.name, nanoseconds)
        }
    }

    private func show(_ state: String, _ what: String, _ nanoseconds: [Double]) {
        print(state, what, nanoseconds.map { "\($0)" }.joined(separator: ","), separator: "\t")
    }
}
