// SPDX-License-Identifier: BSD-3-Clause
internal import CommandSupport
internal import TweakRecords

/// Tweaks in the words of A2L.
extension TweakDeclaration {
    /// Whether a new value has no effect on the running program.
    var isFixed: Bool { isReadOnly || needsRestart }

    /// A block for a value that tools can set.
    ///
    /// - Parameter method: The name of the conversion.
    func characteristic(_ name: String, _ address: UInt32, _ method: String, _ options: [String]) -> String {
        let step = step.flatMap(\.double).flatMap {
            $0 > 0 && $0.isFinite ? ["STEP_SIZE \(shortText($0))"] : nil
        }
        let parts =
            ["VALUE", hexadecimal(address), layoutName(type.a2lName ?? ""), "0", method, a2lLimits] + options
            + (step ?? []) + (isFixed ? ["READ_ONLY"] : [])
        return block("CHARACTERISTIC", name, parts)
    }

    /// A block for a value that tools only show.
    func measurement(_ name: String, _ address: UInt32, _ method: String, _ options: [String]) -> String {
        let parts = [type.a2lName ?? "", method, "0", "0", a2lLimits, "ECU_ADDRESS \(hexadecimal(address))"]
        return block("MEASUREMENT", name, parts + options)
    }

    private func block(_ kind: String, _ name: String, _ parts: [String]) -> String {
        let about = (description ?? title).map { ": \($0)" } ?? ""
        let title = a2lText("\(key)\(about)")
        return "/begin \(kind) \(name) \(title) \(parts.joined(separator: " ")) /end \(kind)"
    }

    /// The texts for Bools and for choices, without repeated values.
    var a2lTexts: [(number: String, text: String)] {
        if type == .bool, choices.isEmpty {
            return [("0", "false"), ("1", "true")] + (isOptional ? [("2", "none")] : [])
        }
        let hasTwins = Set(choices.map(\.name)).count < choices.count
        var seen: Set<String> = []
        return choices.compactMap { choice in
            guard let number = choice.value.a2lNumber, seen.insert(number).inserted else { return nil }
            return (number, hasTwins ? "\(choice)" : choice.name)
        }
    }

    /// Both limits, which A2L always has: those of the choices, the declared ones or those of the type.
    private var a2lLimits: String {
        let numbers = choices.compactMap(\.value.double)
        if let low = numbers.min(), let high = numbers.max() { return "\(shortText(low)) \(shortText(high))" }
        if let range = type.integerRange {
            // The smallest number is that of no value.
            var (low, high) = (range.lowerBound + (isOptional ? 1 : 0), range.upperBound)
            if case .integer(let minimum)? = minimum { low = minimum }
            if case .integer(let maximum)? = maximum { high = maximum }
            return "\(low) \(high)"
        }
        if type == .bool { return isOptional ? "0 2" : "0 1" }
        let greatest = type == .float ? Double(Float.greatestFiniteMagnitude) : .greatestFiniteMagnitude
        let limit = { (limit: TweakValue?, otherwise: Double) in
            guard let limit = limit?.double, limit.isFinite else { return otherwise }
            // The shortest text for a float can be above the largest float.
            return min(max(limit, -greatest), greatest)
        }
        return "\(shortText(limit(minimum, -greatest))) \(shortText(limit(maximum, greatest)))"
    }
}

extension TweakKey {
    var parts: [String] { [category, collection, name] }
}

extension TweakType {
    /// The name of the type in A2L; `nil` if there is none.
    var a2lName: String? {
        switch self {
        case .bool, .uint8: "UBYTE"
        case .int8: "SBYTE"
        case .uint16: "UWORD"
        case .int16: "SWORD"
        case .uint32: "ULONG"
        case .int32: "SLONG"
        case .uint64: "A_UINT64"
        case .int64: "A_INT64"
        case .float: "FLOAT32_IEEE"
        case .double: "FLOAT64_IEEE"
        case .string, .color, .action: nil
        }
    }
}

extension TweakValue {
    /// The number in A2L, where all are floating-point; `nil` if it has none that is finite and exact.
    var a2lNumber: String? {
        if case .integer(let number) = self { return Double(exactly: number).map { _ in "\(number)" } }
        return double.flatMap { $0.isFinite ? shortText($0) : nil }
    }

    fileprivate var double: Double? {
        switch self {
        case .integer(let number): Double(number)
        case .double(let number): number
        default: nil
        }
    }
}

/// The name of the layout of one value of a type.
func layoutName(_ type: String) -> String { "Value_\(type)" }

/// A text in quotation marks, on one line, and cut to the 255 characters of A2L.
func a2lText(_ text: String) -> String {
    var text = printable(summary(text) ?? "")
    if text.unicodeScalars.count > 255 { text = String(text.unicodeScalars.prefix(252)) + "..." }
    var escaped = ""
    for scalar in text.unicodeScalars {
        if scalar == "\"" || scalar == "\\" { escaped += "\\" }
        escaped.unicodeScalars.append(scalar)
    }
    return "\"\(escaped)\""
}

private func hexadecimal(_ address: UInt32) -> String { "0x\(String(address, radix: 16))" }

private func shortText(_ number: Double) -> String {
    let text = "\(number)"
    return text.hasSuffix(".0") ? String(text.dropLast(2)) : text
}
