// SPDX-License-Identifier: BSD-3-Clause
import CLoops
import Configuration
import Foundation
import Synchronization
import Tweaks

/// Consumes a string as any function does: the caller retains it until this returns.
@inline(never)
private func use(_ text: String) {
    withUnsafeBytes(of: text) { use_text($0.baseAddress) }
}

@inline(__always)
private func tweakShort() -> String { #tweak("Benchmark", "Swift", "Short", default: "linear") }
@inline(__always)
private func tweakLong() -> String {
    #tweak("Benchmark", "Swift", "Long", default: "a cubic curve that eases in and out")
}

// A string that is no longer the default, so that each read creates a String.
@inline(__always)
private func changedShort() -> String { #tweak("Benchmark", "Swift", "Changed short", default: "") }
@inline(__always)
private func changedLong() -> String { #tweak("Benchmark", "Swift", "Changed long", default: "") }

func changeTexts() {
    do {
        try TweakStore.shared.set(.string(shortText), for: TweakKey("Benchmark", "Swift", "Changed short"))
        try TweakStore.shared.set(.string(longText), for: TweakKey("Benchmark", "Swift", "Changed long"))
    } catch {
        fatalError("\(error)")
    }
}

@inline(never)
func readShortConstant(_ turns: Int) { loop(turns) { use("linear") } }
@inline(never)
func readShortGlobal(_ turns: Int) { loop(turns) { use(plainShortText) } }
@inline(never)
func readShortTweak(_ turns: Int) { loop(turns) { use(tweakShort()) } }
@inline(never)
func readChangedShortTweak(_ turns: Int) { loop(turns) { use(changedShort()) } }
@inline(never)
func readShortMutex(_ turns: Int) { loop(turns) { use(guardedShortText.withLock { $0 }) } }
@inline(never)
func readShortDictionary(_ turns: Int) { loop(turns) { use(shortTextByName["benchmark.value"] ?? "") } }
@inline(never)
func readShortConfiguration(_ turns: Int) {
    loop(turns) { use(configuration.string(forKey: "benchmark.short", default: "")) }
}
@inline(never)
func readShortDefaults(_ turns: Int) { loop(turns) { use(defaults.string(forKey: "benchmark.short") ?? "") } }

@inline(never)
func readLongConstant(_ turns: Int) { loop(turns) { use("a cubic curve that eases in and out") } }
@inline(never)
func readLongGlobal(_ turns: Int) { loop(turns) { use(plainLongText) } }
@inline(never)
func readLongTweak(_ turns: Int) { loop(turns) { use(tweakLong()) } }
@inline(never)
func readChangedLongTweak(_ turns: Int) { loop(turns) { use(changedLong()) } }
@inline(never)
func readLongMutex(_ turns: Int) { loop(turns) { use(guardedLongText.withLock { $0 }) } }
@inline(never)
func readLongDictionary(_ turns: Int) { loop(turns) { use(longTextByName["benchmark.value"] ?? "") } }
@inline(never)
func readLongConfiguration(_ turns: Int) {
    loop(turns) { use(configuration.string(forKey: "benchmark.long", default: "")) }
}
@inline(never)
func readLongDefaults(_ turns: Int) { loop(turns) { use(defaults.string(forKey: "benchmark.long") ?? "") } }
