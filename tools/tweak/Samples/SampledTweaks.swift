// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandSupport
import Glibc
import TweakClient
import TweakPlot
import TweakProtocol
import TweakRecords

extension Program {
    /// Samples of a running program, taken by the program, or read from its memory if it does not have the library.
    ///
    /// - Parameters:
    ///   - tweaks: The monitors and tweaks to sample; repeated ones count once.
    ///   - rate: The samples per second.
    /// - Throws: ``Failure`` of the kind ``Failure/Kind/invalid`` if one is neither a number nor a Bool.
    func samples(
        of tweaks: [JSONTweak], rate: Double
    ) throws(Failure) -> any SampleSource<Failure> & ChangeSource {
        var sampled: [JSONTweak] = []
        var known: Set<TweakKey> = []
        for tweak in tweaks where known.insert(tweak.declaration.key).inserted {
            guard tweak.declaration.canBeSampled else {
                throw Failure(
                    "\(tweak.declaration.key): \(tweak.declaration.typeWithArticle) cannot be sampled, only numbers and Bools",
                    .invalid)
            }
            sampled.append(tweak)
        }
        switch self {
        case let program as LiveProgram:
            guard let adopted = program.adopted, try program.isAdopted(anyOf: sampled) else {
                return try LiveSamples(program, sampled, rate: rate)
            }
            let watched = try program.tweaks().filter {
                $0.declaration.hasKeptValue && adopted.canSample($0.declaration.key)
            }
            return try MemorySamples(adopted, sampled, watching: watched, rate: rate)
        case let program as MemoryProgram:
            let watched = program.tweaks().filter(\.declaration.hasKeptValue)
            return try MemorySamples(program, sampled, watching: watched, rate: rate)
        default:
            throw Failure("it is not running, or does not accept connections", about: title, .unavailable)
        }
    }

    /// Warns about processes that the program has forked, because only one process is sampled.
    func warnAboutForks() {
        guard let count = (self as? LiveProgram)?.forks.count, count > 0 else { return }
        warn(
            "\(title): \(counted(count, "forked process is", "forked processes are")) not sampled; to "
                + "sample one, give its process id")
    }

    /// The tweaks with these names.
    func tweaks(named names: [String]) throws(Failure) -> [JSONTweak] {
        var tweaks: [JSONTweak] = []
        for name in names { tweaks.append(try tweak(named: name)) }
        return tweaks
    }

    /// The tweaks with these names or patterns. A pattern matches whole names, or else their last levels.
    ///
    /// - Parameter isIncluded: Whether a tweak is included that matches a pattern.
    func tweaks(
        fitting texts: [String], where isIncluded: (JSONTweak) -> Bool = { _ in true }
    ) throws(Failure) -> [JSONTweak] {
        var all: [JSONTweak]?
        var tweaks: [JSONTweak] = []
        for text in texts {
            var fitting: [JSONTweak] = []
            if text.contains(where: { "*?[".contains($0) }) {
                if all == nil { all = try self.tweaks().filter(isIncluded) }
                for pattern in [Pattern(text), Pattern("*/" + text)] where fitting.isEmpty {
                    fitting = (all ?? []).filter { pattern.fits("\($0.declaration.key)") }
                }
            }
            // A name may have such characters, too.
            if fitting.isEmpty { fitting = [try tweak(named: text)] }
            tweaks += fitting
        }
        return tweaks
    }

    /// All monitors.
    ///
    /// - Throws: ``Failure`` of the kind ``Failure/Kind/invalid`` if there is none.
    func monitors() throws(Failure) -> [JSONTweak] {
        let monitors = try tweaks().filter(\.declaration.isMonitor)
        guard !monitors.isEmpty else {
            throw Failure(
                "it has no monitors; name tweaks that are numbers or Bools", about: title, .invalid)
        }
        return monitors
    }
}

// MARK: Several processes

/// The longest time in seconds in which samples of one process wait while those of others are awaited.
private let longestTurn = 0.05

/// The seconds for which to await samples of one process before it is the turn of the next.
///
/// - Parameters:
///   - count: The number of processes that are read in turns.
///   - seconds: The time for which one process alone would be awaited.
func turn(ofOneIn count: Int, atMost seconds: Double) -> Double {
    count > 1 ? min(seconds, longestTurn / Double(count)) : seconds
}

/// The way to make one number of the statistics of several processes.
enum Combination: String, EnumerableFlag {
    case sum, max

    static func help(for combination: Combination) -> ArgumentHelp? {
        switch combination {
        case .sum: "If the program has forked: the sum of the statistic over its processes."
        case .max: "If the program has forked: the largest value of the statistic over its processes."
        }
    }

    /// - Parameter numbers: At least one number.
    /// - Returns: NaN if a number is NaN.
    func callAsFunction(_ numbers: [Double]) -> Double {
        guard !numbers.contains(where: \.isNaN) else { return .nan }
        return switch self {
        case .sum: numbers.reduce(0, +)
        case .max: numbers.max() ?? .nan
        }
    }
}
