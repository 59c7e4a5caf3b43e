extension TweakDeclaration {
    /// The form in which a tweak takes a given value.
    public struct Admission: Hashable, Sendable {
        /// The value to store: of the tweak's type and within its limits.
        public var value: TweakValue
        /// Whether the given value was outside the limits and was moved to the nearest one.
        public var wasClamped: Bool
    }

    /// Checks a value against the type and the limits or choices.
    ///
    /// An integer is taken for a floating-point tweak, a floating-point number without a fraction for an integer
    /// one, and a text for a colour if it is one. Everything else of another type is refused, and what is not among
    /// the choices. A number outside the limits is clamped.
    ///
    /// - Throws: ``TweakValueError`` if the value is refused.
    public func admit(_ value: TweakValue) throws(TweakValueError) -> Admission {
        guard type != .action else { throw .isAction(self) }
        guard !isReadOnly else { throw isMonitor ? .isMonitor(self) : .readOnly(self) }
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
            return Admission(value: value, wasClamped: false)
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

    /// Reads a value that a person typed, by the tweak's type, and checks it as ``admit(_:)`` does.
    ///
    /// A Bool is `true` or `false`, also `on`, `off`, `yes`, `no`, `1` and `0`, in any case. An integer may be
    /// hexadecimal (`0x1F`), octal (`0o17`) or binary (`0b101`). A choice is also its label, unless that is the text
    /// of another choice's value.
    ///
    /// - Throws: ``TweakValueError`` if the text is no such value.
    public func admit(text: String) throws(TweakValueError) -> Admission {
        do throws(TweakValueError) {
            return try admit(value(of: text))
        } catch {
            guard let choice = choices.first(where: { $0.label == text }) else { throw error }
            return try admit(choice.value)
        }
    }

    /// What a text stands for; the text itself if it is nothing else.
    private func value(of text: String) -> TweakValue {
        switch (type, text.lowercased()) {
        case (.bool, "true"), (.bool, "on"), (.bool, "yes"), (.bool, "1"): return true
        case (.bool, "false"), (.bool, "off"), (.bool, "no"), (.bool, "0"): return false
        case (.float, _), (.double, _): return Double(text).map { .double($0) } ?? .string(text)
        case _ where type.isNumeric: return Self.integer(text).map { .integer($0) } ?? .string(text)
        default: return .string(text)
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
        if case .integer(let minimum)? = minimum { clamped = max(clamped, minimum) }
        if case .integer(let maximum)? = maximum { clamped = min(clamped, maximum) }
        return Admission(value: .integer(clamped), wasClamped: clamped != number)
    }

    private static func integer(_ text: String) -> Int128? {
        let isNegative = text.hasPrefix("-")
        let digits = isNegative || text.hasPrefix("+") ? text.dropFirst() : text[...]
        let (magnitude, radix): (Substring, Int) =
            switch digits.prefix(2).lowercased() {
            case "0x": (digits.dropFirst(2), 16)
            case "0o": (digits.dropFirst(2), 8)
            case "0b": (digits.dropFirst(2), 2)
            default: (digits, 10)
            }
        // Int128 would take a second sign, and the negative of its smallest value does not exist.
        guard magnitude.first?.isHexDigit == true else { return nil }
        return Int128(magnitude, radix: radix).map { isNegative ? -$0 : $0 }
    }
}

extension Double {
    /// The number that is written like the Float, so that 0.1 stays 0.1; it converts back to the same Float.
    package init(shortest float: Float) {
        self = Double("\(float)") ?? Double(float)
    }
}
