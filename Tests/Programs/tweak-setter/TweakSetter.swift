// SPDX-License-Identifier: BSD-3-Clause
import Glibc
import SetterTweaks
import Tweaks

/// A program for tests: reads its tweaks as C does, and sets them through the store.
///
///     tweak-setter show
///     tweak-setter follow                                   shows the values whenever they change, until Text is "end"
///     tweak-setter serve                                    the same, with more tweaks and with actions
///     tweak-setter fork                                     the same, and ends a child after the first change
///     tweak-setter set Category/Collection/Name VALUE
///     tweak-setter handles                                  what C and Swift have of each other's tweaks
///     tweak-setter count Category/Collection/Name FROM TO   sets each number in turn, as fast as it can
///     tweak-setter print Category/Collection/Name FROM TO   the same each millisecond, and prints each number
@main
struct TweakSetter {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        switch (arguments.first, arguments.count) {
        case ("show", 1):
            print(values)
        case ("follow", 1):
            follow {}
        case ("serve", 1):
            try makeMore()
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
        case ("print", 4):
            let numbers = arguments.suffix(2).compactMap { Int64($0) }
            guard numbers.count == 2 else { throw UsageError() }
            let key = try key(arguments.dropFirst().first)
            for number in numbers[0]...numbers[1] {
                try TweakStore.shared.set(.integer(Int128(number)), for: key)
                print("number", number)
                fflush(nil)
                usleep(1000)
            }
        case ("handles", 1):
            try showHandles()
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

    static func makeMore() throws {
        let store = TweakStore.shared
        try store.make("Setter", "More", "Port", default: Int32(80), in: 1...65535, needsRestart: true)
        try store.make(
            TweakDeclaration(
                key: TweakKey("Setter", "More", "Level"), type: .int32, defaultValue: 1,
                choices: [TweakChoice(1, label: "low"), TweakChoice(2, label: "high")],
                attributes: [.init(key: "doc", value: "how loud")]))
        try store.make("Setter", "More", "Fixed", default: Int32(7), readOnly: true)
        setter_make_actions()
    }

    /// Sets on one side and reads on the other.
    static func showHandles() throws {
        let store = TweakStore.shared
        let slot = try store.tweak("Setter", "Slots", "Slot 0", as: Int32.self)
        let observation = slot.observe { print("Swift hears", $0.oldValue, "→", $0.newValue) }
        try slot.set(3)
        print("C reads", setter_slot(0), setter_read_slot())
        print("C sets", setter_set_slot(4))
        print("Swift reads", slot.value)
        observation.cancel()

        let ratio = try Tweak<Double>(setter_ratio_tweak())
        try ratio.set(0.25)
        print("C reads", setter_ratio(), setter_read(ratio.cHandle))

        let made = try store.make("Setter", "Made", "Size", default: 7)
        print("C finds", setter_find("Setter", "Made", "Size"))
        try made.set(8)
        print("C finds", setter_find("Setter", "Made", "Size"))
        try store.remove(made.key)
        print("C finds", setter_find("Setter", "Made", "Size"))
    }

    static func key(_ text: String?) throws -> TweakKey {
        guard let key = text.flatMap(TweakKey.init) else { throw UsageError() }
        return key
    }

    struct UsageError: Error {}
}
