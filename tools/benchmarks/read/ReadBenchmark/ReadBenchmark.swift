import CLoops
import Tweaks

/// Prints a line of nanoseconds a read for each loop: `read-benchmark <samples>`.
@main
enum ReadBenchmark {
    static let turns = 250_000
    static let readsPerTurn = 8

    static let loops: [(name: String, run: @Sendable (Int) -> Void)] = [
        ("C int constant", { read_c_int_constant($0) }),
        ("C int global", { read_c_int_global($0) }),
        ("C int tweak", { read_c_int_tweak($0) }),
        ("C double constant", { read_c_double_constant($0) }),
        ("C double global", { read_c_double_global($0) }),
        ("C double tweak", { read_c_double_tweak($0) }),
        ("Swift Int constant", readIntConstant),
        ("Swift Int global", readIntGlobal),
        ("Swift Int tweak", readIntTweak),
        ("Swift Double constant", readDoubleConstant),
        ("Swift Double global", readDoubleGlobal),
        ("Swift Double tweak", readDoubleTweak),
    ]

    static func main() {
        guard CommandLine.arguments.count == 2, let sampleCount = Int(CommandLine.arguments[1]) else {
            fatalError("usage: read-benchmark <samples>")
        }
        escapePlainGlobals()
        var samples: [[Double]] = Array(repeating: [], count: loops.count)
        // The loops take turns, so that whatever else the machine does falls on all of them. The first round
        // only warms up.
        for round in 0...sampleCount {
            for (index, loop) in loops.enumerated() {
                let duration = ContinuousClock().measure { loop.run(turns) }
                if round > 0 { samples[index].append(duration / .nanoseconds(turns * readsPerTurn)) }
            }
        }
        for (loop, samples) in zip(loops, samples) {
            print(loop.name, samples.map { "\($0)" }.joined(separator: ","), separator: "\t")
        }
    }
}
