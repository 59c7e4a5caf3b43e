import Glibc
import SetterTweaks
import Tweaks

/// A program for tests: reads its tweaks as C does, and sets them through the store.
///
///     tweak-setter show
///     tweak-setter follow                                   shows the values whenever they change, until Text is "end"
///     tweak-setter fork                                     the same, and ends a child after the first change
///     tweak-setter set Category/Collection/Name VALUE
///     tweak-setter count Category/Collection/Name FROM TO   sets each number in turn, as fast as it can
@main
struct TweakSetter {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        switch (arguments.first, arguments.count) {
        case ("show", 1):
            print(values)
        case ("follow", 1):
            follow {}
        case ("fork", 1):
            follow { print("child ended with status", setter_fork_and_exit()) }
        case ("set", 3):
            let key = try key(arguments.dropFirst().first)
            let declaration = try TweakStore.shared.status(of: key).declaration
            try TweakStore.shared.set(declaration.admit(text: arguments.last ?? "").value, for: key)
        case ("count", 4):
            let numbers = arguments.suffix(2).compactMap { Int64($0) }
            guard numbers.count == 2 else { throw UsageError() }
            let key = try key(arguments.dropFirst().first)
            for number in numbers[0]...numbers[1] {
                try TweakStore.shared.set(.integer(Int128(number)), for: key)
            }
        default:
            throw UsageError()
        }
    }

    static var values: String {
        "\(setter_flag()) \(setter_count()) \(setter_ratio()) \(String(cString: setter_text()))"
    }

    static func follow(afterFirstChange: () -> Void) {
        var shown = ""
        var changes = 0
        while strcmp(setter_text(), "end") != 0 {
            let values = values
            if values != shown {
                print(values)
                if changes == 1 { afterFirstChange() }
                fflush(nil)
                changes += 1
                shown = values
            }
            usleep(1000)
        }
    }

    static func key(_ text: String?) throws -> TweakKey {
        guard let key = text.flatMap(TweakKey.init) else { throw UsageError() }
        return key
    }

    struct UsageError: Error {}
}
