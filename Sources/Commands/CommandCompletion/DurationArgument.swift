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
        // Elsewhere m is a metre or a thousandth.
        let isMinutes = argument.hasSuffix("m") && argument.dropLast().last?.isNumber == true
        guard let number = Double(typed: isMinutes ? argument + "in" : argument, unit: "s"), 0 < number,
            number <= longestDuration
        else { return nil }
        (self.seconds, text) = (number, Double(argument) == nil ? argument : argument + " s")
    }

    package static var allValueStrings: [String] { [] }
    package static var defaultCompletionKind: CompletionKind { .list(["10s", "30s", "2min"]) }
}

extension Double {
    /// A finite number as a person types the value of a tweak, such as `0.5`, `8e3` or `2*4000`; `nil` if it is none.
    ///
    /// - Parameter unit: The unit that may follow numbers; empty for none.
    package init?(typed text: String, unit: String = "") {
        // No number is called def.
        let declaration = TweakDeclaration(
            key: TweakKey("", "", ""), type: .double, defaultValue: .absent,
            attributes: unit.isEmpty ? [] : [TweakDeclaration.Attribute(key: "unit", value: unit)])
        guard case .double(let number)? = (try? declaration.admit(text: text))?.value else { return nil }
        self = number
    }
}

/// Joins each time of two words, such as `--for 10 minutes`, which the parser would read as a time in seconds and the next
/// argument.
///
/// - Parameter options: The options whose values are times.
package func joiningTimes(in arguments: [String], after options: Set<String>) -> [String] {
    var joined: [String] = []
    for argument in arguments {
        let last = joined.last ?? ""
        let (option, time): (String, Substring)
        if let equals = last.firstIndex(of: "=") {
            (option, time) = (String(last[..<equals]), last[last.index(after: equals)...])
        } else {
            (option, time) = (joined.dropLast().last ?? "", last[...])
        }
        if options.contains(option), time.last?.isNumber == true, argument.first?.isLetter == true,
            let whole = ["\(time) \(argument)", "\(time)\(argument)"].first(where: {
                DurationArgument(argument: $0) != nil
            })
        {
            joined[joined.count - 1] = last.dropLast(time.count) + whole
        } else {
            joined.append(argument)
        }
    }
    return joined
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
