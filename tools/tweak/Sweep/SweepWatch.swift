// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakClient
import TweakProtocol
import TweakRecords
import TweakSystem

/// Watches for signals and breached guards, which end a sweep. All waits poll it.
struct SweepWatch {
    private let program: any Program
    private let guards: [(condition: GuardArgument, tweak: JSONTweak)]
    /// Reads the guarded tweaks of a process without the library, in the order of the names.
    private let sampler: MemorySampler?
    private let period: Duration
    private var due = ContinuousClock.now
    private let signals: HeldSignals

    /// Blocks signals, so that the values can be restored first.
    ///
    /// - Parameter rate: How often the guards are checked in a second.
    init(_ guards: [GuardArgument], of program: any Program, rate: Double) throws(Failure) {
        self.program = program
        var guarded: [(condition: GuardArgument, tweak: JSONTweak)] = []
        for condition in guards {
            let tweak = try program.tweak(named: condition.name)
            guard tweak.declaration.canBeSampled else {
                throw Failure(
                    "\(tweak.declaration.key): only a number or a Bool can be guarded, not "
                        + tweak.declaration.typeWithArticle, .invalid)
            }
            guarded.append((condition, tweak))
        }
        self.guards = guarded
        sampler = try (program as? MemoryProgram)?.sampler(for: guarded.map(\.tweak.declaration.key))
        period = guarded.isEmpty ? .milliseconds(50) : .seconds(1) / rate
        signals = HeldSignals(HeldSignals.ending)
    }

    /// The previously blocked signals, for commands.
    var signalMask: sigset_t { signals.mask }

    /// Unblocks signals.
    func end() { signals.release() }

    /// The time until ``check()`` must be called again.
    var patience: Duration { max(due - .now, .zero) }

    /// Throws ``Failure`` if a signal has come or a guard is breached.
    mutating func check() throws(Failure) {
        if let number = signals.take() { throw Failure("interrupted", .negative, exitCode: 128 + number) }
        guard .now >= due else { return }
        due = .now + period
        // The program would send samples later, in batches.
        let sampled = try sampler.map { sampler throws(Failure) in
            (sampler.declarations.map(\.key), try sampler.read())
        }
        for (condition, tweak) in guards {
            let key = tweak.declaration.key
            let processes = program.withForks
            for process in processes {
                let value: TweakValue?
                if let (keys, values) = sampled {
                    value = keys.firstIndex(of: key).flatMap { values[$0] }
                } else {
                    value = try process.tweak(key)?.value
                }
                guard condition.holds(for: value?.number ?? .nan) else {
                    let text = value.map { tweak.declaration.text(of: $0, rounded: true) } ?? "gone"
                    let place = processes.count > 1 ? " in \(process.title)" : ""
                    throw Failure(
                        "the guard \(condition.text) is breached: \(key) is \(text)\(place)", .negative)
                }
            }
        }
    }

    /// Waits while checking.
    mutating func wait(until end: ContinuousClock.Instant) throws(Failure) {
        while true {
            try check()
            let rest = min(end - .now, patience)
            guard end > .now else { return }
            usleep(useconds_t(max(rest / .microseconds(1), 0).rounded(.up)))
        }
    }
}
