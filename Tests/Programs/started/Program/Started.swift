import Glibc
import StartedScenarios
import Tweaks

/// `started` as a Swift program: what the scenarios in C do, with a look at the store of Swift.
@main
struct Started {
    static func main() {
        started_look_with { number, value in
            let key = TweakKey("Start", "Slots", "Slot \(number)")
            let handle = try? TweakStore.shared.tweak(key.category, key.collection, key.name, as: Int32.self)
            let known = try? TweakStore.shared.status(of: key).value
            return handle?.value == value && known == .integer(Int128(value)) ? 1 : 0
        }
        exit(started_main(CommandLine.argc, CommandLine.unsafeArgv))
    }
}
