// SPDX-License-Identifier: BSD-3-Clause
import CLoops
import Glibc
import Tweaks

/// Prints the nanoseconds per read of each loop, `<samples>` times, or with `allocations` the allocations per read.
@main
enum ReadBenchmark {
    /// The source that is read, and the way it is read.
    typealias Loop = (what: String, way: String, run: @Sendable (Int) -> Void)

    static let readsPerTurn = 8

    static let cLoops: [Loop] = [
        ("C bool", "constant", { read_c_bool_constant($0) }),
        ("C bool", "global", { read_c_bool_global($0) }),
        ("C bool", "tweak", { read_c_bool_tweak($0) }),
        ("C int", "constant", { read_c_int_constant($0) }),
        ("C int", "global", { read_c_int_global($0) }),
        ("C int", "tweak", { read_c_int_tweak($0) }),
        ("C double", "constant", { read_c_double_constant($0) }),
        ("C double", "global", { read_c_double_global($0) }),
        ("C double", "tweak", { read_c_double_tweak($0) }),
        ("C text", "constant", { read_c_text_constant($0) }),
        ("C text", "global", { read_c_text_global($0) }),
        ("C text", "tweak", { read_c_text_tweak($0) }),
        ("C int, stored", "global", { store_c_int_global($0) }),
        ("C int, stored", "monitor", { store_c_int_monitor($0) }),
        ("C double, stored", "global", { store_c_double_global($0) }),
        ("C double, stored", "monitor", { store_c_double_monitor($0) }),
    ]

    static let swiftLoops: [Loop] = [
        ("Swift Double, stored", "global", storeDoubleGlobal),
        ("Swift Double, stored", "monitor", storeDoubleMonitor),
        ("Swift Bool", "constant", readBoolConstant),
        ("Swift Bool", "global", readBoolGlobal),
        ("Swift Bool", "tweak", readBoolTweak),
        ("Swift Bool", "Atomic", readBoolAtomic),
        ("Swift Bool", "Mutex", readBoolMutex),
        ("Swift Bool", "dictionary", readBoolDictionary),
        ("Swift Bool", "swift-configuration", readBoolConfiguration),
        ("Swift Bool", "UserDefaults", readBoolDefaults),
        ("Swift Int", "constant", readIntConstant),
        ("Swift Int", "global", readIntGlobal),
        ("Swift Int", "tweak", readIntTweak),
        ("Swift Int", "Atomic", readIntAtomic),
        ("Swift Int", "Mutex", readIntMutex),
        ("Swift Int", "dictionary", readIntDictionary),
        ("Swift Int", "swift-configuration", readIntConfiguration),
        ("Swift Int", "UserDefaults", readIntDefaults),
        ("Swift Double", "constant", readDoubleConstant),
        ("Swift Double", "global", readDoubleGlobal),
        ("Swift Double", "tweak", readDoubleTweak),
        ("Swift Double", "Atomic", readDoubleAtomic),
        ("Swift Double", "Mutex", readDoubleMutex),
        ("Swift Double", "dictionary", readDoubleDictionary),
        ("Swift Double", "swift-configuration", readDoubleConfiguration),
        ("Swift Double", "UserDefaults", readDoubleDefaults),
        ("Swift short String", "constant", readShortConstant),
        ("Swift short String", "global", readShortGlobal),
        ("Swift short String", "tweak", readShortTweak),
        ("Swift short String", "tweak, changed", readChangedShortTweak),
        ("Swift short String", "Mutex", readShortMutex),
        ("Swift short String", "dictionary", readShortDictionary),
        ("Swift short String", "swift-configuration", readShortConfiguration),
        ("Swift short String", "UserDefaults", readShortDefaults),
        ("Swift long String", "constant", readLongConstant),
        ("Swift long String", "global", readLongGlobal),
        ("Swift long String", "tweak", readLongTweak),
        ("Swift long String", "tweak, changed", readChangedLongTweak),
        ("Swift long String", "Mutex", readLongMutex),
        ("Swift long String", "dictionary", readLongDictionary),
        ("Swift long String", "swift-configuration", readLongConfiguration),
        ("Swift long String", "UserDefaults", readLongDefaults),
    ]

    static func main() {
        let argument = CommandLine.arguments.dropFirst().first ?? ""
        escapePlainGlobals()
        fillDefaults()
        changeTexts()
        let loops = cLoops + swiftLoops
        if argument == "allocations" {
            for loop in loops { print(loop.what, loop.way, allocations(in: loop), separator: "\t") }
        } else if let sampleCount = Int(argument) {
            let samples = samples(sampleCount, of: loops)
            for (loop, samples) in zip(loops, samples) {
                let list = samples.map { "\($0)" }.joined(separator: ",")
                print(loop.what, loop.way, list, separator: "\t")
            }
        } else {
            fatalError("usage: read-benchmark <samples>|allocations")
        }
    }

    /// The loops take turns, so that other load on the machine affects all of them.
    static func samples(_ count: Int, of loops: [Loop]) -> [[Double]] {
        let turns = loops.map(turns)
        var samples: [[Double]] = Array(repeating: [], count: loops.count)
        for _ in 0..<count {
            for (index, loop) in loops.enumerated() {
                let duration = ContinuousClock().measure { loop.run(turns[index]) }
                samples[index].append(duration / .nanoseconds(turns[index] * readsPerTurn))
            }
        }
        return samples
    }

    /// Enough iterations for a sample of at most half a millisecond. Also warms up.
    static func turns(of loop: Loop) -> Int {
        var turns = 16
        while ContinuousClock().measure({ loop.run(turns) }) < .microseconds(250) { turns *= 2 }
        return turns
    }

    /// Allocations per read. The first reads do not count, because they may fill caches.
    static func allocations(in loop: Loop) -> Double {
        guard let address = dlsym(nil, "counted_allocations") else {
            fatalError("to be started with LD_PRELOAD=libCountedAllocations.so")
        }
        let count = unsafeBitCast(address, to: (@convention(c) () -> UInt).self)
        let turns = 100
        loop.run(turns)
        let before = count()
        loop.run(turns)
        return Double(count() - before) / Double(turns * readsPerTurn)
    }
}
