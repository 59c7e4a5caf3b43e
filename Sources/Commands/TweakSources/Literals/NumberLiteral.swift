// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// A number in the notation of a source: base, digit separators, decimal point, exponent and suffix.
struct NumberLiteral {
    private enum Base: Int {
        case binary = 2
        case octal = 8
        case decimal = 10
        case hexadecimal = 16
    }

    private let language: SourceLanguage
    /// `-`, `+` or nothing, with the blanks behind it.
    private var sign: String
    /// `0x`, `0b`, `0o`, the `0` of an octal number in C, or nothing.
    private var prefix: String
    private var base: Base
    /// The digits before the point, with separators.
    private var whole: String
    /// The digits behind the point; `nil` if there is no point.
    private var fraction: String?
    /// The exponent with its letter, or nothing.
    private var exponent: String
    private var suffix: String

    private var separator: Character { language == .c ? "'" : "_" }

    /// Parses a literal.
    ///
    /// - Parameters:
    ///   - text: The text of the number, without a sign.
    ///   - sign: The sign before it, with the blanks between them.
    /// - Returns: `nil` if it has a suffix that C does not define, or is malformed.
    init?(_ text: String, sign: String = "", _ language: SourceLanguage) {
        (self.language, self.sign) = (language, sign)
        var rest = Substring(text)
        let start = rest.prefix(2).lowercased()
        let prefixes: [String: Base] =
            language == .c
            ? ["0x": .hexadecimal, "0b": .binary] : ["0x": .hexadecimal, "0b": .binary, "0o": .octal]
        base = prefixes[start] ?? .decimal
        prefix = base == .decimal ? "" : String(rest.prefix(2))
        rest = rest.dropFirst(prefix.count)
        let separator: Character = language == .c ? "'" : "_"
        func digits(_ base: Base) -> String {
            let digits = rest.prefix { $0 == separator || $0.isDigit(base.rawValue) }
            rest = rest.dropFirst(digits.count)
            return String(digits)
        }
        whole = digits(base)
        fraction = nil
        if rest.first == ".", base == .decimal || base == .hexadecimal {
            rest = rest.dropFirst()
            fraction = digits(base)
        }
        exponent = ""
        let letters = base == .hexadecimal ? "pP" : "eE"
        if let letter = rest.first, letters.contains(letter), base == .decimal || base == .hexadecimal {
            var length = 1
            if let sign = rest.dropFirst().first, "+-".contains(sign) { length += 1 }
            let power = rest.dropFirst(length).prefix { $0 == separator || $0.isDigit(10) }
            guard power.contains(where: { $0 != separator }) else { return nil }
            exponent = String(rest.prefix(length + power.count))
            rest = rest.dropFirst(length + power.count)
        }
        suffix = String(rest)
        guard (whole + (fraction ?? "")).contains(where: { $0 != separator }) else { return nil }
        let isReal = fraction != nil || !exponent.isEmpty
        guard isReal ? base != .hexadecimal || !exponent.isEmpty : true,
            Self.isKnown(suffix, isReal, language)
        else { return nil }
        if language == .c, base == .decimal, !isReal, whole.first == "0", whole.count > 1 {
            (prefix, base) = ("0", .octal)
            whole = String(whole.dropFirst())
            guard whole.allSatisfy({ $0 == separator || $0.isDigit(8) }) else { return nil }
        }
    }

    private static func isKnown(_ suffix: String, _ isReal: Bool, _ language: SourceLanguage) -> Bool {
        guard !suffix.isEmpty else { return true }
        guard language == .c else { return false }
        if isReal { return ["f", "l"].contains(suffix.lowercased()) }
        return ["u", "l", "ul", "lu", "ll", "ull", "llu", "z", "uz", "zu"].contains(suffix.lowercased())
    }

    /// The literal with its sign.
    var text: String {
        sign + prefix + whole + (fraction.map { "." + $0 } ?? "") + exponent + suffix
    }

    private var isNegative: Bool { sign.first == "-" }
    private var isReal: Bool { fraction != nil || !exponent.isEmpty }

    private func plain(_ digits: String) -> String { digits.filter { $0 != separator } }
}

// MARK: - Values

extension NumberLiteral {
    /// The value of an integer; `nil` for a floating-point number, or one of more than 127 bits.
    var integer: Int128? {
        guard !isReal else { return nil }
        let digits = plain(whole)
        return Int128((isNegative ? "-" : "") + (digits.isEmpty ? "0" : digits), radix: base.rawValue)
    }

    /// The value of a number, rounded once.
    private func real<Number: BinaryFloatingPoint & LosslessStringConvertible>(_: Number.Type) -> Number? {
        if let integer { return Number(integer) }
        guard isReal || base == .decimal else { return nil }
        let digits = plain(whole)
        let tail = fraction.map { $0.isEmpty ? "" : "." + plain($0) } ?? ""
        let text = prefix.lowercased() + (digits.isEmpty ? "0" : digits) + tail + plain(exponent)
        return Number(text).map { isNegative ? -$0 : $0 }
    }

    /// The value after conversion to a type; `nil` if the type has no such value.
    func value(of type: TweakType) -> TweakValue? {
        // Swift converts no literal to another kind of value.
        if language == .swift, type == .bool || isReal && type.integerRange != nil { return nil }
        switch type {
        case .bool:
            return real(Double.self).map { .bool($0 != 0) }
        case .float:
            // In C a literal without the suffix is a double, which is rounded a second time.
            let isSingle = language == .swift || suffix.lowercased() == "f"
            let number = isSingle ? real(Float.self) : real(Double.self).map { Float($0) }
            return number.map { .double(Double(shortest: $0)) }
        case .double:
            if suffix.lowercased() == "f" { return real(Float.self).map { .double(Double($0)) } }
            return real(Double.self).map { .double($0) }
        default:
            guard let range = type.integerRange else { return nil }
            guard let integer else {
                guard let number = real(Double.self), number.isFinite,
                    let whole = Int128(exactly: number.rounded(.towardZero)), range.contains(whole)
                else { return nil }
                return .integer(whole)
            }
            if language == .swift { return range.contains(integer) ? .integer(integer) : nil }
            // A cast wraps around.
            let width = Int128(1) << Int128(type.byteCount * 8)
            var wrapped = integer % width
            if wrapped < range.lowerBound { wrapped += width }
            if wrapped > range.upperBound { wrapped -= width }
            return .integer(wrapped)
        }
    }

    /// The type of the literal itself in C, where `long` has 64 bits; `nil` if no tweak has it.
    var ownType: TweakType? {
        guard language == .c else { return nil }
        let suffix = suffix.lowercased()
        if isReal { return suffix.isEmpty ? .double : suffix == "f" ? .float : nil }
        guard let integer else { return nil }
        let magnitude = isNegative ? -integer : integer
        let canBeSigned = !suffix.contains("u")
        // Only hexadecimal, octal and binary numbers become unsigned without a suffix.
        let canBeUnsigned = !canBeSigned || base != .decimal
        let canBeShort = !suffix.contains("l") && !suffix.contains("z")
        let types: [(TweakType, Bool)] = [
            (.int32, canBeShort && canBeSigned), (.uint32, canBeShort && canBeUnsigned),
            (.int64, canBeSigned), (.uint64, canBeUnsigned),
        ]
        return types.first { $0.1 && $0.0.integerRange?.contains(magnitude) == true }?.0
    }
}

// MARK: - Writing

extension NumberLiteral {
    /// The literal of another value in the same notation.
    ///
    /// - Parameters:
    ///   - type: The type of the tweak.
    ///   - decidesType: Whether the tweak has the type of its literal, because nothing converts it.
    /// - Returns: `nil` if no literal in this notation has the value.
    func written(_ value: TweakValue, of type: TweakType, decidesType: Bool) -> String? {
        let candidates: [String] =
            switch value {
            case .bool(let isOn): [written(Int128(isOn ? 1 : 0))]
            case .integer(let number) where isReal: written(Double(number), of: .double)
            case .integer(let number): integers(number, of: type, decidesType: decidesType)
            case .double(let number): written(number, of: type)
            case .string, .color, .nothing: []
            }
        return candidates.first { candidate in
            // A cast in front of it only keeps the type.
            let text =
                candidate.hasPrefix("(") ? candidate.drop { $0 != ")" }.dropFirst() : Substring(candidate)
            let sign = text.prefix { "+- ".contains($0) }
            let parsed = NumberLiteral(String(text.dropFirst(sign.count)), sign: String(sign), language)
            return parsed?.value(of: type) == value
        }
    }

    /// The literal of an integer, with a suffix or a cast if it would have another type than before without it.
    private func integers(_ number: Int128, of type: TweakType, decidesType: Bool) -> [String] {
        let text = written(number)
        var literal = self
        guard decidesType, ownType == type else {
            // Without a sign these are none of a signed type.
            guard language == .c, base == .decimal, Int64(exactly: number.magnitude) == nil else {
                return [text]
            }
            guard number > 0 else { return [Self.smallest] }
            if !suffix.lowercased().contains("u") { literal.suffix += "u" }
            return [literal.written(number)]
        }
        for suffix in [suffix, "u", "LL", "ULL"] {
            literal.suffix = suffix
            let text = literal.written(number)
            let sign = text.hasPrefix("-") ? "-" : ""
            if NumberLiteral(String(text.drop { "+- ".contains($0) }), sign: sign, language)?.ownType == type
            {
                return [text]
            }
        }
        // The magnitude of the smallest integer is none of the type.
        switch type {
        case .int32: return ["(int)" + text]
        case .int64: return [Self.smallest]
        default: return [text]
        }
    }

    /// The smallest integer in C, whose magnitude is too large for its type.
    private static let smallest = "(int64_t)0x8000000000000000"

    private func sign(isNegative: Bool) -> String {
        if isNegative { return self.isNegative ? sign : "-" }
        return self.isNegative ? "" : sign
    }

    private func written(_ number: Int128) -> String {
        var digits = String(number.magnitude, radix: base.rawValue, uppercase: isUppercase)
        // The digits of an octal zero in C are its prefix.
        if prefix == "0", number == 0 { digits = "" }
        if plain(whole).first == "0", plain(whole).count > 1 {
            digits = String(repeating: "0", count: max(0, plain(whole).count - digits.count)) + digits
        }
        // The negative of an unsigned number is another one.
        let suffix = number < 0 ? suffix.filter { !"uU".contains($0) } : suffix
        return sign(isNegative: number < 0) + prefix + separated(digits) + suffix
    }

    private var isUppercase: Bool {
        let letters = (whole + (fraction ?? "")).filter(\.isLetter)
        return letters.isEmpty ? prefix == "0X" : letters.contains(where: \.isUppercase)
    }

    /// The digits with separators at the distances that the literal has.
    private func separated(_ digits: String) -> String {
        guard let last = whole.split(separator: separator).last, whole.contains(separator) else {
            return digits
        }
        var groups: [Substring] = []
        var rest = Substring(digits)
        while rest.count > last.count {
            groups.insert(rest.suffix(last.count), at: 0)
            rest = rest.dropLast(last.count)
        }
        return ([rest] + groups).joined(separator: String(separator))
    }

    /// Literals of a floating-point number, the best one first.
    private func written(_ number: Double, of type: TweakType) -> [String] {
        if !isReal, abs(number) < 1e15, let whole = Int128(exactly: number) { return [written(whole)] }
        let start = sign(isNegative: number.sign == .minus)
        guard isReal, base != .decimal else { return decimals(number, of: type, start) }
        return [suffix, ""].map { start + hexadecimal(number, of: type) + $0 }
    }

    private func decimals(_ number: Double, of type: TweakType, _ start: String) -> [String] {
        let shortest = Decimal(type == .float ? Float(number).description : number.description)
        let exact = Decimal(number.description)
        let long = Decimal(Double(Float(number)).description)
        let suffixes = suffix.isEmpty || !isReal ? [""] : [suffix, ""]
        return suffixes.flatMap { suffix in
            [shortest, exact, long].map { start + written($0) + suffix }
        }
    }

    /// A decimal number in the notation of this one.
    private func written(_ number: Decimal) -> String {
        if !exponent.isEmpty, base == .decimal {
            let power = Int(plain(exponent).dropFirst().drop { $0 == "+" }) ?? 0
            // Few digits before the point, and few zeros behind it.
            let isNear = number.digits.isEmpty || -2...4 ~= number.point - power
            let used = isNear ? power : number.point - 1
            let point = number.digits.isEmpty ? 1 : number.point - used
            return positional(number.digits, point) + exponent(used, was: power)
        }
        // An integer type has fewer digits than a floating-point number.
        guard -9...(isReal ? 21 : 18) ~= number.point else {
            let power = number.point - 1
            return positional(number.digits, 1) + "e" + (power < 0 ? "" : "+") + "\(power)"
        }
        return positional(number.digits, number.point)
    }

    /// Digits with a point behind the first `point` of them.
    private func positional(_ digits: String, _ point: Int) -> String {
        let zeros = String(repeating: "0", count: max(0, point - digits.count))
        let before = point <= 0 ? "" : String(digits.prefix(point)) + zeros
        let behind = String(repeating: "0", count: max(0, -point)) + digits.dropFirst(max(0, point))
        guard !behind.isEmpty || fraction != nil else { return separated(before) }
        // As in `.5` and `5.`.
        let hasWhole = !plain(whole).isEmpty || behind.isEmpty
        let hasFraction = fraction?.isEmpty == false
        let start = before.isEmpty ? (hasWhole ? "0" : "") : separated(before)
        return start + "." + (behind.isEmpty && hasFraction ? "0" : behind)
    }

    /// The exponent with the letter, sign and width of this one.
    private func exponent(_ power: Int, was former: Int) -> String {
        guard power != former else { return exponent }
        let letter = String(exponent.prefix(1))
        let digits = plain(exponent).dropFirst().drop { "+-".contains($0) }
        let width = digits.first == "0" ? digits.count : 1
        let sign = power < 0 ? "-" : exponent.dropFirst().first == "+" ? "+" : ""
        let text = "\(abs(power))"
        return letter + sign + String(repeating: "0", count: max(0, width - text.count)) + text
    }

    /// `0x1.8p3`, with the letters of this one.
    private func hexadecimal(_ number: Double, of type: TweakType) -> String {
        let number = type == .float ? Double(Float(number)) : number
        let letter = exponent.first == "P" ? "P" : "p"
        let emptyFraction = fraction.map { $0.isEmpty ? "." : ".0" } ?? ""
        guard number != 0 else { return prefix + "0" + emptyFraction + letter + "0" }
        let bits = number.significand.significandBitPattern
        var digits = String(bits, radix: 16, uppercase: isUppercase)
        digits = String(repeating: "0", count: 13 - digits.count) + digits
        while digits.last == "0" { digits.removeLast() }
        let sign = number.exponent >= 0 && exponent.dropFirst().first == "+" ? "+" : ""
        return prefix + "1" + (digits.isEmpty ? emptyFraction : "." + digits) + letter + sign
            + "\(number.exponent)"
    }
}

/// The digits of a decimal number, without zeros at either end, and the place of its point: 0.25 is 25 with 0, 1200 is
/// 12 with 4.
private struct Decimal {
    private(set) var digits: String
    private(set) var point: Int

    /// Parses the description of a floating-point number; its sign is left out.
    init(_ description: String) {
        let parts = description.drop { $0 == "-" }.split(separator: "e", maxSplits: 1)
        let mantissa = parts.first ?? "0"
        let power = parts.count > 1 ? Int(parts[1]) ?? 0 : 0
        let halves = mantissa.split(separator: ".", omittingEmptySubsequences: false)
        let all = halves.joined()
        digits = String(all.drop { $0 == "0" })
        point = (halves.first?.count ?? 0) + power - (all.count - digits.count)
        while digits.last == "0" { digits.removeLast() }
        if digits.isEmpty { point = 1 }
    }
}

extension Character {
    fileprivate func isDigit(_ radix: Int) -> Bool {
        isASCII && hexDigitValue.map { $0 < radix } == true
    }
}
