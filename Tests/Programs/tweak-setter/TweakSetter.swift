import SetterTweaks
import Tweaks

/// A program for tests: reads its tweaks as C does, and sets them through the store.
///
///     tweak-setter show
///     tweak-setter set Category/Collection/Name VALUE
///     tweak-setter count Category/Collection/Name FROM TO   sets each number in turn, as fast as it can
@main
struct TweakSetter {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        switch (arguments.first, arguments.count) {
        case ("show", 1):
            print(setter_flag(), setter_count(), setter_ratio(), String(cString: setter_text()))
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

    static func key(_ text: String?) throws -> TweakKey {
        guard let key = text.flatMap(TweakKey.init) else { throw UsageError() }
        return key
    }

    struct UsageError: Error {}
}
