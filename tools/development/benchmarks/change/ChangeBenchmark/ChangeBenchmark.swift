// SPDX-License-Identifier: BSD-3-Clause
import Tweaks

/// Prints the nanoseconds per iteration of each loop, `change-benchmark <samples>` times.
///
/// The shared store keeps its overrides in a file; `tools/bench` makes that a temporary one.
@main
struct ChangeBenchmark {
    static let observerCounts = [0, 1, 100]

    static func main() throws {
        guard CommandLine.arguments.count == 2, let sampleCount = Int(CommandLine.arguments[1]) else {
            // Only tools/bench runs this, and nothing has been measured yet.
            fatalError("usage: change-benchmark <samples>")
        }
        let subjects = try [
            Subject("private", TweakStore(), observerCounts: observerCounts),
            Subject("shared", .shared, observerCounts: observerCounts),
        ]
        let loops = subjects.flatMap(\.loops)
        let turns = loops.map(turns)
        var samples: [[Double]] = Array(repeating: [], count: loops.count)
        // The loops take turns, so that other load on the machine affects all of them.
        for _ in 0..<sampleCount {
            for (index, loop) in loops.enumerated() {
                let duration = ContinuousClock().measure { loop.run(turns[index]) }
                samples[index].append(duration / .nanoseconds(turns[index]))
            }
        }
        for subject in subjects { subject.checkObservers() }
        for (loop, samples) in zip(loops, samples) {
            let list = samples.map { "\($0)" }.joined(separator: ",")
            print(loop.store, loop.what, list, separator: "\t")
        }
    }

    /// Enough iterations for a sample of at most half a millisecond. Also warms up.
    static func turns(of loop: Loop) -> Int {
        var turns = 16
        while ContinuousClock().measure({ loop.run(turns) }) < .microseconds(250) { turns *= 2 }
        return turns
    }
}
