// SPDX-License-Identifier: BSD-3-Clause
extension TweakDeclaration {
    /// The outcome of checking a value for a tweak.
    public struct Admission: Hashable, Sendable {
        /// The value to store: of the tweak's type and within its limits.
        public var value: TweakValue
        /// Whether the given value was outside the limits and was clamped.
        public var wasClamped: Bool
    }

    /// Checks a value against the type and the limits or choices.
    ///
    /// A floating-point tweak accepts an integer, an integer one a floating-point number without a fraction,
    /// and a colour a string with a colour. Other values of the wrong type are refused, as are values that
    /// are not among the choices, and arrays with elements outside the limits. A number outside the limits is
    /// clamped. An optional tweak also accepts ``TweakValue/absent``.
    ///
    /// - Throws: ``TweakValueError`` if the value is refused.
    public func admit(_ value: TweakValue) throws(TweakValueError) -> Admission {
        guard type != .action else { throw .isAction(self) }
        guard !isReadOnly else { throw isMonitor ? .isMonitor(self) : .readOnly(self) }
        if value == .absent, isOptional { return Admission(value: value, wasClamped: false) }
        let admission = try admitByType(value)
        guard !choices.isEmpty else { return admission }
        guard !admission.wasClamped, let choice = choices.first(where: { $0.value == admission.value }) else {
            throw .notAmongChoices(self, given: value.quoted)
        }
        return Admission(value: choice.value, wasClamped: false)
    }

    private func admitByType(_ value: TweakValue) throws(TweakValueError) -> Admission {
        switch (type, value) {
        case (.color, .color):
            return Admission(value: value, wasClamped: false)
        case (.color, .string(let text)):
            guard let color = TweakColor(text) else { throw .wrongType(self, given: value.quoted) }
            return Admission(value: .color(color), wasClamped: false)
        case (.bool, .bool):
            return Admission(value: value, wasClamped: false)
        case (.string, .string(let text)):
            guard !text.utf8.contains(0) else { throw .containsNUL(self) }
            guard let element else { return Admission(value: value, wasClamped: false) }
            return Admission(value: try admit(array: text, of: element), wasClamped: false)
        case (.float, .double(let number)), (.double, .double(let number)):
            return try admit(number)
        case (.float, .integer(let number)), (.double, .integer(let number)):
            return try admit(Double(number))
        case (_, .integer(let number)) where type.isNumeric:
            return admit(number)
        case (_, .double(let number)) where type.isNumeric:
            guard let whole = Int128(exactly: number) else { throw .wrongType(self, given: "\(number)") }
            return admit(whole)
        default:
            throw .wrongType(self, given: value.quoted)
        }
    }

    /// Parses a value as people type it, by the tweak's type, and checks it as ``admit(_:)`` does.
    ///
    /// - A Bool is `true` or `false`, also `on`, `off`, `yes`, `no`, `1` and `0`, in any case, or `toggle`.
    /// - A number may be an expression: `2*pi`, `(max-min)/2`, `x*1.1`, `+=10%`, `sqrt(2)`, where `x` is the
    ///   current value, `min` and `max` are the limits and `def` is the default. An integer may be
    ///   hexadecimal (`0x1F`), octal (`0o17`) or binary (`0b101`), and the result of arithmetic is rounded.
    ///   An integer with a leading zero is refused, because it is octal in C and decimal in Swift. A
    ///   floating-point number may be hexadecimal (`0x1.8p3`). A number may be followed by the tweak's unit
    ///   or, if that is a unit of time, by another one: `300 ms`, `2 min 5 s`, `1:30`. A percentage needs a
    ///   number to refer to: `x+10%`, `50%*max`.
    /// - A colour is `#rrggbb`, `#rrggbbaa`, `#rgb` or `#rgba`, with or without `#`, or a CSS name.
    /// - An optional tweak becomes empty with `none`; a string with this text is `\none`.
    /// - A choice may be given by its label, unless that is the text of another choice's value. If the text
    ///   is not another value, a label or a string may differ in case, unless several choices match.
    ///
    /// - Parameter current: The tweak's value, for `x`, `+=` and `toggle`.
    /// - Throws: ``TweakValueError`` if the text is not such a value.
    public func admit(text: String, current: TweakValue? = nil) throws(TweakValueError) -> Admission {
        try admit(text: text, current: current, writtenUnit: nil)
    }

    /// Parses a value as ``admit(text:current:)`` does.
    ///
    /// - Parameter writtenUnit: The unit of time of numbers without one; `nil` for the tweak's own.
    package func admit(
        text: String, current: TweakValue?, writtenUnit: String?
    ) throws(TweakValueError) -> Admission {
        if let choice = choices.first(where: { $0.label == text }),
            !choices.contains(where: { $0.value.description == text })
        {
            return try admit(choice.value)
        }
        do throws(TweakValueError) {
            return try admit(value(of: text, current, writtenUnit))
        } catch {
            let similar = choices.filter { $0.isSpelled(text.lowercased()) }
            guard similar.count == 1 else { throw error }
            return try admit(similar[0].value)
        }
    }

    /// The value of a text; the text itself if it has no other meaning.
    private func value(
        of text: String, _ current: TweakValue?, _ writtenUnit: String?
    ) throws(TweakValueError) -> TweakValue {
        switch (type, text.lowercased()) {
        case (.bool, "true"), (.bool, "on"), (.bool, "yes"), (.bool, "1"): return true
        case (.bool, "false"), (.bool, "off"), (.bool, "no"), (.bool, "0"): return false
        case (.bool, "toggle"):
            guard case .bool(let isOn)? = current else { return .string(text) }
            return .bool(!isOn)
        case (.bool, "def"), (.color, "def"): return defaultValue
        case (_, "def") where type.isNumeric && defaultValue == .absent: return defaultValue
        case (_, "none") where type != .string && isOptional: return .absent
        case _ where type.isNumeric: return try number(of: text, current, writtenUnit)
        default: return .string(text)
        }
    }

    private func number(
        of text: String, _ current: TweakValue?, _ writtenUnit: String?
    ) throws(TweakValueError) -> TweakValue {
        var expression = NumberExpression(text, unit: unit, writtenUnit: writtenUnit) { name in
            switch name {
            case "x": current
            case "min": minimum
            case "max": maximum
            case "def": defaultValue
            default: nil
            }
        }
        do throws(NumberExpression.Problem) {
            switch try expression.result() {
            case .integer(let integer): return .integer(integer)
            case .real(let real) where type.integerRange != nil && real.isFinite && abs(real) >= 0x1p127:
                return .integer(real < 0 ? .min : .max)
            case .real(let real):
                let isRounded = type.integerRange != nil && expression.isCalculated
                return .double(isRounded ? real.rounded() : real)
            }
        } catch {
            guard let reason = error.reason else { return .string(text) }
            throw .notCalculable(self, given: TweakValue.string(text).quoted, reason: reason)
        }
    }

    private func admit(_ number: Double) throws(TweakValueError) -> Admission {
        guard number.isFinite else { throw .notFinite(self, given: "\(number)") }
        var clamped = number
        if type == .float {
            let largest = Double(Float.greatestFiniteMagnitude)
            clamped = Double(shortest: Float(min(max(number, -largest), largest)))
        }
        if case .double(let minimum)? = minimum, clamped < minimum { clamped = minimum }
        if case .double(let maximum)? = maximum, clamped > maximum { clamped = maximum }
        let rounded = type == .float ? Double(shortest: Float(number)) : number
        return Admission(value: .double(clamped), wasClamped: clamped != rounded)
    }

    private func admit(_ number: Int128) -> Admission {
        var clamped = number
        if let range = type.integerRange { clamped = min(max(clamped, range.lowerBound), range.upperBound) }
        // The smallest is the mark of no value.
        if clamped == Int128(Int64.min), isOptional { clamped += 1 }
        if case .integer(let minimum)? = minimum { clamped = max(clamped, minimum) }
        if case .integer(let maximum)? = maximum { clamped = min(clamped, maximum) }
        return Admission(value: .integer(clamped), wasClamped: clamped != number)
    }
}

extension Double {
    /// The Double with the Float's shortest decimal form, so that 0.1 stays 0.1; it converts back to the same
    /// Float.
    package init(shortest float: Float) {
        self = Double("\(float)") ?? Double(float)
    }
}

extension TweakChoice {
    /// Returns whether a text in lower case is the label, or the value if that is a string.
    fileprivate func isSpelled(_ text: String) -> Bool {
        if label?.lowercased() == text { return true }
        guard case .string(let string) = value else { return false }
        return string.lowercased() == text
    }
}
