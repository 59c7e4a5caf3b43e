// SPDX-License-Identifier: BSD-3-Clause
import Glibc
import Tweaks

/// A test program that creates a tweak at run time, prints its value, and runs until that is "end". With an argument it
/// creates none, and prints whether the feature of this name is on. Its main actor is always busy.
@main
struct MakingProgram {
    static func main() throws {
        if CommandLine.arguments.count > 1 {
            let feature = TweakStore.shared.feature(CommandLine.arguments[1])
            let show = { @Sendable (isOn: Bool) in
                print(isOn)
                fflush(nil)
            }
            show(feature.isEnabled)
            let observation = feature.observe(show)
            withExtendedLifetime(observation) {
                while true { pause() }
            }
        }
        let (store, other) = (TweakStore.shared, Other())
        try store.makeAction("Made", "Actions", "On the main actor", on: MainActor.self) {}
        try store.makeAction("Made", "Actions", "On another", on: other) { _ in
            usleep(300_000)
            print("ran")
            fflush(nil)
        }
        let text = try TweakStore.shared.make("Made", "Values", "Text", default: "run")
        print(text.value)
        fflush(nil)
        while text.value != "end" { usleep(1000) }
        withExtendedLifetime(other) {}
    }

    private actor Other {}
}
