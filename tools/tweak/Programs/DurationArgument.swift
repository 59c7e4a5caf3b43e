// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandSupport
import TweakRecords

/// A time as a person types it: `30s`, `500ms`, `2 min`, `1:30`; a number alone is in seconds.
struct DurationArgument: ExpressibleByArgument {
    let seconds: Double
    /// The text as typed.
    let text: String

    init?(argument: String) {
        let seconds = TweakDeclaration(
            key: TweakKey("", "", ""), type: .double, defaultValue: 0.0,
            attributes: [TweakDeclaration.Attribute(key: "unit", value: "s")])
        guard case .double(let number)? = try? seconds.admit(text: argument).value, number > 0 else {
            return nil
        }
        (self.seconds, text) = (number, Double(argument) == nil ? argument : argument + " s")
    }

    static var allValueStrings: [String] { [] }
    static var defaultCompletionKind: CompletionKind { .list(["10s", "30s", "2min"]) }
}
