// SPDX-License-Identifier: BSD-3-Clause
import Glibc
import Tweaks

/// A program that a test of `ProgramUnderTest` starts. It runs until its tweak `Tested/Motor/Running` is off.
@main
struct TestedProgram {
    static func main() throws {
        let store = TweakStore.shared
        let speed = try store.make("Tested", "Motor", "Speed", default: 10, in: 0...100)
        let isRunning = try store.make("Tested", "Motor", "Running", default: true)
        let turns = try store.makeMonitor("Tested", "Motor", "Turns", of: Int.self)
        try store.makeAction("Tested", "Motor", "Greet") {
            print("hello")
            fflush(nil)
        }
        print("starts with", speed.value, CommandLine.arguments.dropFirst().joined(separator: " "))
        fflush(nil)
        while isRunning.value {
            turns.store(speed.value * 2)
            usleep(1000)
        }
        exit(3)
    }
}
