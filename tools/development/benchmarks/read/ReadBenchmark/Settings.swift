// SPDX-License-Identifier: BSD-3-Clause
import CLoops
import Configuration
import Foundation
import Synchronization

// Ways to store settings, each with the same values.

let shortText = "linear"
/// Longer than the 15 bytes that a String stores inline.
let longText = "a cubic curve that eases in and out"

nonisolated(unsafe) var plainBool = true
nonisolated(unsafe) var plainInt = 42
nonisolated(unsafe) var plainDouble = 4.5
nonisolated(unsafe) var plainShortText = shortText
nonisolated(unsafe) var plainLongText = longText

/// Makes the globals like those of a real program: memory that others may write.
func escapePlainGlobals() {
    withUnsafeMutablePointer(to: &plainBool) { escape($0) }
    withUnsafeMutablePointer(to: &plainInt) { escape($0) }
    withUnsafeMutablePointer(to: &plainDouble) { escape($0) }
    withUnsafeMutablePointer(to: &plainShortText) { escape($0) }
    withUnsafeMutablePointer(to: &plainLongText) { escape($0) }
}

let atomicBool = Atomic(true)
let atomicInt = Atomic(42)
let atomicDouble = Atomic(4.5)

let guardedBool = Mutex(true)
let guardedInt = Mutex(42)
let guardedDouble = Mutex(4.5)
let guardedShortText = Mutex(shortText)
let guardedLongText = Mutex(longText)

nonisolated(unsafe) var boolByName = dictionary(true)
nonisolated(unsafe) var intByName = dictionary(42)
nonisolated(unsafe) var doubleByName = dictionary(4.5)
nonisolated(unsafe) var shortTextByName = dictionary(shortText)
nonisolated(unsafe) var longTextByName = dictionary(longText)

/// A dictionary with 1,000 settings.
private func dictionary<Value>(_ value: Value) -> [String: Value] {
    let names = ["benchmark.value"] + (1..<1000).map { "setting.\($0)" }
    return Dictionary(uniqueKeysWithValues: names.map { ($0, value) })
}

let configuration = ConfigReader(
    provider: InMemoryProvider(values: [
        "benchmark.bool": true, "benchmark.int": 42, "benchmark.double": 4.5,
        "benchmark.short": .init(.string(shortText), isSecret: false),
        "benchmark.long": .init(.string(longText), isSecret: false),
    ]))

nonisolated(unsafe) let defaults = UserDefaults.standard

/// `tools/bench` makes the home directory a temporary one.
func fillDefaults() {
    defaults.set(true, forKey: "benchmark.bool")
    defaults.set(42, forKey: "benchmark.int")
    defaults.set(4.5, forKey: "benchmark.double")
    defaults.set(shortText, forKey: "benchmark.short")
    defaults.set(longText, forKey: "benchmark.long")
}
