// SPDX-License-Identifier: BSD-3-Clause
import CLoops
import Configuration
import Foundation
import Synchronization
import Tweaks

/// Eight reads per iteration, as in C.
@inline(__always)
func loop(_ turns: Int, _ read: () -> Void) {
    for _ in 0..<turns {
        read()
        read()
        read()
        read()
        read()
        read()
        read()
        read()
    }
}

// In one place each, so that the eight reads of an iteration use one record.
@inline(__always)
private func tweakBool() -> Bool { #tweak("Benchmark", "Swift", "Bool", default: true) }
@inline(__always)
private func tweakInt() -> Int { #tweak("Benchmark", "Swift", "Int", default: 42, in: 0...100) }
@inline(__always)
private func tweakDouble() -> Double { #tweak("Benchmark", "Swift", "Double", default: 4.5, in: 0...100) }

@inline(never)
func readBoolConstant(_ turns: Int) { loop(turns) { use_bool(true) } }
@inline(never)
func readBoolGlobal(_ turns: Int) { loop(turns) { use_bool(plainBool) } }
@inline(never)
func readBoolTweak(_ turns: Int) { loop(turns) { use_bool(tweakBool()) } }
@inline(never)
func readBoolAtomic(_ turns: Int) { loop(turns) { use_bool(atomicBool.load(ordering: .relaxed)) } }
@inline(never)
func readBoolMutex(_ turns: Int) { loop(turns) { use_bool(guardedBool.withLock { $0 }) } }
@inline(never)
func readBoolDictionary(_ turns: Int) { loop(turns) { use_bool(boolByName["benchmark.value"] ?? false) } }
@inline(never)
func readBoolConfiguration(_ turns: Int) {
    loop(turns) { use_bool(configuration.bool(forKey: "benchmark.bool", default: false)) }
}
@inline(never)
func readBoolDefaults(_ turns: Int) { loop(turns) { use_bool(defaults.bool(forKey: "benchmark.bool")) } }

@inline(never)
func readIntConstant(_ turns: Int) { loop(turns) { use_long(42) } }
@inline(never)
func readIntGlobal(_ turns: Int) { loop(turns) { use_long(plainInt) } }
@inline(never)
func readIntTweak(_ turns: Int) { loop(turns) { use_long(tweakInt()) } }
@inline(never)
func readIntAtomic(_ turns: Int) { loop(turns) { use_long(atomicInt.load(ordering: .relaxed)) } }
@inline(never)
func readIntMutex(_ turns: Int) { loop(turns) { use_long(guardedInt.withLock { $0 }) } }
@inline(never)
func readIntDictionary(_ turns: Int) { loop(turns) { use_long(intByName["benchmark.value"] ?? 0) } }
@inline(never)
func readIntConfiguration(_ turns: Int) {
    loop(turns) { use_long(configuration.int(forKey: "benchmark.int", default: 0)) }
}
@inline(never)
func readIntDefaults(_ turns: Int) { loop(turns) { use_long(defaults.integer(forKey: "benchmark.int")) } }

@inline(never)
func readDoubleConstant(_ turns: Int) { loop(turns) { use_double(4.5) } }
@inline(never)
func readDoubleGlobal(_ turns: Int) { loop(turns) { use_double(plainDouble) } }
@inline(never)
func readDoubleTweak(_ turns: Int) { loop(turns) { use_double(tweakDouble()) } }
@inline(never)
func readDoubleAtomic(_ turns: Int) { loop(turns) { use_double(atomicDouble.load(ordering: .relaxed)) } }
@inline(never)
func readDoubleMutex(_ turns: Int) { loop(turns) { use_double(guardedDouble.withLock { $0 }) } }
@inline(never)
func readDoubleDictionary(_ turns: Int) { loop(turns) { use_double(doubleByName["benchmark.value"] ?? 0) } }
@inline(never)
func readDoubleConfiguration(_ turns: Int) {
    loop(turns) { use_double(configuration.double(forKey: "benchmark.double", default: 0)) }
}
@inline(never)
func readDoubleDefaults(_ turns: Int) {
    loop(turns) { use_double(defaults.double(forKey: "benchmark.double")) }
}

// Stored eight times per iteration.
@inline(__always)
private func monitor(_ value: Double) {
    #tweakMonitor("Benchmark", "Swift", "Stored Double", value, in: 0...100)
}

@inline(never)
func storeDoubleGlobal(_ turns: Int) {
    let value = Double(turns)
    loop(turns) { store_volatile_double(value) }
}
@inline(never)
func storeDoubleMonitor(_ turns: Int) {
    let value = Double(turns)
    loop(turns) { monitor(value) }
}
