// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// A component of a colour.
struct ColorComponent {
    let range: Range<Int>
    let literal: NumberLiteral
}

/// A colour that is written as three or four numbers.
struct WrittenColor {
    let components: [ColorComponent]
    let range: Range<Int>
    let bytes: [UInt8]
    /// The opacity if only three components are written.
    let missingAlpha: UInt8
    /// The text to insert for another opacity, and where.
    let added: (UInt8) -> [(range: Range<Int>, text: String)]

    private var value: TweakColor? {
        let numbers = components.compactMap { component in
            component.literal.integer.flatMap { UInt8(exactly: $0) }
        }
        guard numbers.count == components.count else { return nil }
        return TweakColor(
            red: numbers[0], green: numbers[1], blue: numbers[2],
            alpha: numbers.count == 4 ? numbers[3] : missingAlpha)
    }

    var asDefault: WrittenDefault {
        WrittenDefault(range: range) { _ in
            value.map { .color($0) }
        } written: { value, _ in
            guard case .color(let color) = value else { return nil }
            return written(color)
        }
    }

    private func written(_ color: TweakColor) -> [UInt8]? {
        var parts: [(range: Range<Int>, text: String)] = []
        for (component, number) in zip(components, [color.red, color.green, color.blue, color.alpha]) {
            let value = TweakValue.integer(Int128(number))
            guard component.literal.value(of: .uint8) != value else { continue }
            guard let text = component.literal.written(value, of: .uint8, decidesType: false) else {
                return nil
            }
            parts.append((component.range, text))
        }
        if components.count == 3, color.alpha != missingAlpha { parts += added(color.alpha) }
        var written: [UInt8] = []
        var next = range.lowerBound
        for part in parts.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) {
            written += bytes[next..<part.range.lowerBound] + Array(part.text.utf8)
            next = part.range.upperBound
        }
        return written + bytes[next..<range.upperBound]
    }
}
