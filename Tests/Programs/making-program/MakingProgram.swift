import Glibc
import Tweaks

/// A program for tests that declares no tweak, makes one, shows its value, and runs until that is "end".
@main
struct MakingProgram {
    static func main() throws {
        let text = try TweakStore.shared.make("Made", "Values", "Text", default: "run")
        print(text.value)
        fflush(nil)
        while text.value != "end" { usleep(1000) }
    }
}
