import Tweaks

/// A greeting whose features and texts are in files beside this one, from which a plug-in generates `Features` and
/// `GreetingTweaks`.
@main
struct Switches {
    static func main() {
        guard Features.isGreetingEnabled else { return }
        let greeting = GreetingTweaks()
        for _ in 0..<max(greeting.repetitions, 0) {
            print(Features.isByNameEnabled ? "\(greeting.text), \(CommandLine.arguments[0])" : greeting.text)
        }
    }
}
