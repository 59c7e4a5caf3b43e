import Tweaks

/// Prints for each loop how many nanoseconds a turn takes, as often as `change-benchmark <samples>` says.
///
/// The shared store keeps what is set in the overrides file; `tools/bench` lets that be a temporary one.
@main
struct ChangeBenchmark {
    static let observerCounts = [0, 1, 100]

    static func main() throws {
        guard CommandLine.arguments.count == 2, let sampleCount = Int(CommandLine.arguments[1]) else {
            // Only tools/bench runs this, and nothing is measured yet.
            fatalError("usage: change-benchmark <samples>")
        }
        let subjects = try [
            Subject("private", TweakStore(), observerCounts: observerCounts),
            Subject("shared", .shared, observerCounts: observerCounts),
        ]
        let loops = subjects.flatMap(\.loops)
        let turns = loops.map(turns)
        var samples: [[Double]] = Array(repeating: [], count: loops.count)
        // The loops take turns, so that whatever else the machine does falls on all of them.
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

    /// So many turns that a sample takes half a millisecond, or a little less. Warms up, too.
    static func turns(of loop: Loop) -> Int {
        var turns = 16
        while ContinuousClock().measure({ loop.run(turns) }) < .microseconds(250) { turns *= 2 }
        return turns
    }
}
