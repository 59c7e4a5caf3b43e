// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
package import TweakJSON
package import TweakRecords

extension Sequence {
    /// The elements in the order of a table: categories and collections by name, tweaks as declared.
    package func inTableOrder(by declaration: (Element) -> TweakDeclaration) -> [Element] {
        enumerated().map { (declaration($0.element).key, $0.offset, $0.element) }
            .sorted { ($0.0.category, $0.0.collection, $0.1) < ($1.0.category, $1.0.collection, $1.1) }
            .map(\.2)
    }
}

extension TweakDeclaration {
    /// The heading above the tweak in a table.
    package var heading: String { "\(key.category) / \(key.collection)" }

    /// A JSON value as shown to people, also if the tweak cannot have it.
    package func text(of json: JSONValue) -> String {
        json.value(of: type).map { text(of: $0) } ?? json.summary
    }

    /// A value of the tweak with its unit and label: `1.5 kg`, `2 (hard)`. Texts are in quotation marks; an action has
    /// no text.
    ///
    /// - Parameter rounded: Whether a number is rounded to the decimals that the tweak asks for.
    package func text(of value: TweakValue, rounded: Bool = false) -> String {
        guard value != .nothing else { return "" }
        if value == .absent, isOptional { return "\(value)" }
        let number = rounded ? roundedText(of: value) : nil
        let text = number ?? (element == nil ? value.quoted : "\(value)")
        let label = choices.first { $0.value == value }?.label
        return text + (unit.map { " " + $0 } ?? "") + (label.map { " (\($0))" } ?? "")
    }

    /// `nil` for a number with more digits than fit into a table.
    private func roundedText(of value: TweakValue) -> String? {
        guard case .double(let number) = value, precision != nil || isMonitor, abs(number) < 1e15 else {
            return nil
        }
        // Nobody reads more than six digits of a measured value.
        let (digits, format) = precision.map { ($0, "%.*f") } ?? (6, "%.*g")
        return formatted(format, Int32(digits), number)
    }

    /// Says that the tweak is read-only, or changes at a restart only.
    package var notes: String {
        [isMonitor ? "monitor" : isReadOnly ? "read-only" : nil, needsRestart ? "needs restart" : nil]
            .compactMap { $0 }
            .joined(separator: ", ")
    }

    /// The limits or choices as shown in a table: `0…10`, `≥ 0`, `≤ 10`, `1 (easy) | 2 (hard)`, or nothing.
    package func limits(_ signs: Signs = .shown) -> String {
        guard choices.isEmpty else { return choicesText(signs) }
        return switch (minimum, maximum) {
        case (let minimum?, let maximum?): "\(minimum)\(signs.ellipsis)\(maximum)"
        case (let minimum?, nil): "\(signs.atLeast) \(minimum)"
        case (nil, let maximum?): "\(signs.atMost) \(maximum)"
        case (nil, nil): element?.elementAttribute.value ?? ""
        }
    }

    /// As many choices as fit, at least one.
    private func choicesText(_ signs: Signs) -> String {
        var text = ""
        for (index, choice) in choices.enumerated() {
            let next = (index == 0 ? "" : " | ") + choice.description
            guard index == 0 || text.count + next.count <= 40 else {
                return text + " | \(signs.ellipsis) \(choices.count - index) more"
            }
            text += next
        }
        return text
    }
}

/// Numbers as `printf` writes them, in at most 63 bytes.
package func formatted(_ format: String, _ numbers: any CVarArg...) -> String {
    var text = [CChar](repeating: 0, count: 64)
    let count = withVaList(numbers) { vsnprintf(&text, text.count, format, $0) }
    return String(
        decoding: text.prefix(Int(max(0, count))).map(UInt8.init(truncatingIfNeeded:)), as: UTF8.self)
}
