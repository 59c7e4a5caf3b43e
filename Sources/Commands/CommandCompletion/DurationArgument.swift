// SPDX-License-Identifier: BSD-3-Clause
package import ArgumentParser
internal import CommandSupport
internal import TweakRecords

/// A time as a person types it: `30s`, `500ms`, `10m`, `2 min`, `1:30`; a number alone is in seconds.
package struct DurationArgument: ExpressibleByArgument {
    package let seconds: Double
    /// The text as typed.
    package let text: String

    package init?(argument: String) {
        let seconds = TweakDeclaration(
            key: TweakKey("", "", ""), type: .double, defaultValue: 0.0,
            attributes: [TweakDeclaration.Attribute(key: "unit", value: "s")])
        // Elsewhere m is a metre or a thousandth.
        let isMinutes = argument.hasSuffix("m") && argument.dropLast().last?.isNumber == true
        let admission = try? seconds.admit(text: isMinutes ? argument + "in" : argument)
        guard case .double(let number)? = admission?.value, 0 < number, number <= longestDuration else {
            return nil
        }
        (self.seconds, text) = (number, Double(argument) == nil ? argument : argument + " s")
    }

    package static var allValueStrings: [String] { [] }
    package static var defaultCompletionKind: CompletionKind { .list(["10s", "30s", "2min"]) }
}

/// In seconds, about 30 years: longer than anyone waits, and it can be added to every time.
private let longestDuration = 1e9

/// A time in seconds, minutes or hours, rounded up.
package func durationText(_ seconds: Double) -> String {
    // A program may send any number.
    let seconds = min(max(seconds, 0), longestDuration)
    return switch seconds {
    case ..<120: "\(Int(seconds.rounded(.up))) s"
    case ..<7200: "\(Int((seconds / 60).rounded(.up))) min"
    default: "\(Int((seconds / 3600).rounded(.up))) h"
    }
}
