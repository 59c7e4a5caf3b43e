// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc

/// A number as a person types it: `2*pi`, `+=10%`, `max/2`, `0x1F`, `0x1.8p3`, `300 ms`, `1:30`.
///
/// Integer arithmetic is exact within 128 bits. A percentage that is added or subtracted is one of the number before it,
/// and a factor otherwise; alone it is no number, because it could be meant as one of the current value. An integer that
/// begins with 0 is one only if it is the same in C, where it is octal, and in Swift, where it is decimal.
struct NumberExpression {
    /// The reason why a text is not a number, for people.
    struct Problem: Error {
        /// `nil` if the text is not an expression at all.
        let reason: String?
    }

    enum Number {
        case integer(Int128)
        case real(Double)

        var real: Double {
            switch self {
            case .integer(let integer): Double(integer)
            case .real(let real): real
            }
        }
    }

    private struct Operand {
        var number: Number
        /// Whether it is a percentage, and of what is not known yet.
        var isPercent = false
        /// Whether it has a unit of time, so that another one can follow: `2 min 5 s`.
        var isTime = false
    }

    private let text: [Unicode.Scalar]
    /// The unit of numbers without one.
    private let unit: String?
    /// The nanoseconds of the tweak's unit and of ``unit``, if they are different units of time.
    private let times: (own: Int128, written: Int128)?
    private let value: (String) -> TweakValue?
    private var next = 0
    private var depth = 0
    /// Whether there was any arithmetic.
    private(set) var isCalculated = false

    private static let longest = 500
    /// The program's stack may be small.
    private static let deepest = 8

    /// - Parameters:
    ///   - unit: The unit of the tweak, of the result and of named values.
    ///   - writtenUnit: The unit of numbers without one, if it is another unit of time than the tweak's.
    ///   - value: Returns the value of a name; `x` is the current value.
    init(
        _ text: String, unit: String?, writtenUnit: String? = nil, value: @escaping (String) -> TweakValue?
    ) {
        self.text = Array(text.unicodeScalars.prefix(Self.longest + 1))
        self.value = value
        if let unit, let writtenUnit, let own = Self.nanoseconds(in: unit),
            let written = Self.nanoseconds(in: writtenUnit), own != written
        {
            (self.unit, times) = (writtenUnit, (own, written))
        } else {
            (self.unit, times) = (unit, nil)
        }
    }

    /// Evaluates the expression, in the unit of the tweak.
    mutating func result() throws(Problem) -> Number {
        let number = try writtenResult()
        guard let times else { return number }
        return try convert(number, from: times.written, to: times.own)
    }

    private mutating func writtenResult() throws(Problem) -> Number {
        guard text.count <= Self.longest else { throw Problem(reason: "it is too long") }
        skipSpace()
        guard next + 1 < text.count, "+-*/".unicodeScalars.contains(text[next]), text[next + 1] == "=" else {
            let operand = try whole()
            guard !operand.isPercent else { throw advice(insteadOf: operand.number.real) }
            return operand.number
        }
        let sign = text[next]
        next += 2
        guard let current = try number(named: "x") else {
            throw Problem(reason: "there is no current value")
        }
        let operand = try whole()
        return sign == "+" || sign == "-"
            ? try add(sign, Operand(number: current), operand).number
            : try combine(sign, current, operand.number)
    }

    /// Adds or subtracts, a percentage as one of the left side.
    private mutating func add(
        _ sign: Unicode.Scalar, _ left: Operand, _ right: Operand
    ) throws(Problem) -> Operand {
        var right = right
        if right.isPercent, !left.isPercent {
            right = Operand(number: .real(left.number.real * right.number.real))
        }
        guard left.isPercent == right.isPercent else {
            throw Problem(reason: "write a percentage after the number that it refers to, as in 200+10%")
        }
        return Operand(number: try combine(sign, left.number, right.number), isPercent: left.isPercent)
    }

    /// The error for a percentage of nothing.
    private func advice(insteadOf factor: Double) -> Problem {
        let words = text.drop { $0.isSpace }
        let sign: String? =
            switch words.first {
            case "+": "+="
            case "-", "−": "-="
            default: nil
            }
        let percentage = String(String.UnicodeScalarView(words.dropFirst(sign == nil ? 0 : 1)))
        let isLiteral = percentage.unicodeScalars.allSatisfy { !"+-−*/×÷·^(".unicodeScalars.contains($0) }
        if let sign, isLiteral {
            return Problem(
                reason: "write \(sign)\(percentage) to change the current value by that, or \(factor)")
        }
        let factorText = isLiteral ? percentage : "(\(String(String.UnicodeScalarView(words))))"
        return Problem(
            reason: "write x*\(factorText) for that much of the "
                + "current value, or \(factor)")
    }

    private mutating func whole() throws(Problem) -> Operand {
        let result = try sum()
        skipSpace()
        if next < text.count { throw misunderstood }
        return result
    }

    private mutating func sum() throws(Problem) -> Operand {
        var left = try product()
        while true {
            if let sign = take("+-−") {
                left = try add(sign == "−" ? "-" : sign, left, try product())
            } else if left.isTime, startsNumber {
                let right = try product()
                guard right.isTime else { throw misunderstood }
                left.number = try combine("+", left.number, right.number)
            } else {
                return left
            }
        }
    }

    private mutating func product() throws(Problem) -> Operand {
        var left = try signed()
        while let sign = take("*/×÷·") {
            // Python and JavaScript write powers like this.
            if sign == "*", next < text.count, text[next] == "*" {
                next += 1
                left = Operand(number: power(left.number, try signed().number))
            } else {
                let sign: Unicode.Scalar = sign == "/" || sign == "÷" ? "/" : "*"
                left = Operand(number: try combine(sign, left.number, try signed().number))
            }
        }
        return left
    }

    private mutating func signed() throws(Problem) -> Operand {
        guard let sign = take("+-−") else { return try raised() }
        let operand = try raised()
        guard sign != "+" else { return operand }
        let negative: Number
        switch operand.number {
        case .integer(let integer) where integer != .min: negative = .integer(-integer)
        default: negative = .real(-operand.number.real)
        }
        return Operand(number: negative, isPercent: operand.isPercent)
    }

    private mutating func raised() throws(Problem) -> Operand {
        let base = try operand()
        guard take("^") != nil else { return base }
        let exponent = try deeper { expression throws(Problem) in try expression.signed() }
        return Operand(number: power(base.number, exponent.number))
    }

    private mutating func operand() throws(Problem) -> Operand {
        var result = try plainOperand()
        if !result.isTime, take("%") != nil {
            isCalculated = true
            result = Operand(number: .real(result.number.real / 100), isPercent: true)
        }
        return result
    }

    private mutating func plainOperand() throws(Problem) -> Operand {
        if take("(") != nil { return try parenthesized() }
        guard next < text.count else { throw Problem(reason: "the expression is incomplete") }
        if startsNumber { return try numberWithUnit() }
        let word = self.word(at: next)
        guard !word.isEmpty else { throw misunderstood }
        next += word.unicodeScalars.count
        let name = word.lowercased()
        if let function = Self.function(named: name) {
            guard take("(") != nil else { throw Problem(reason: "\(name) is written \(name)(…)") }
            isCalculated = true
            return Operand(number: .real(function(try parenthesized().number.real)))
        }
        guard let number = try number(named: name) ?? Self.constant(named: name).map(Number.real) else {
            throw Problem(reason: nil)
        }
        isCalculated = true
        return Operand(number: number)
    }

    /// Evaluates up to the closing parenthesis. The opening one was consumed.
    private mutating func parenthesized() throws(Problem) -> Operand {
        let inner = try deeper { expression throws(Problem) in try expression.sum() }
        guard take(")") != nil else { throw Problem(reason: "a ) is missing") }
        return Operand(number: inner.number, isPercent: inner.isPercent)
    }

    private mutating func deeper(
        _ body: (inout Self) throws(Problem) -> Operand
    ) throws(Problem) -> Operand {
        depth += 1
        defer { depth -= 1 }
        guard depth <= Self.deepest else { throw Problem(reason: "it is nested too deeply") }
        return try body(&self)
    }

    // MARK: Numbers

    private var startsNumber: Bool {
        mutating get {
            skipSpace()
            guard next < text.count else { return false }
            return text[next].isDigit || text[next] == "." && next + 1 < text.count && text[next + 1].isDigit
        }
    }

    private mutating func numberWithUnit() throws(Problem) -> Operand {
        let number = try literal()
        let ownTime = unit.flatMap(Self.nanoseconds)
        if let ownTime, next < text.count, text[next] == ":" {
            return Operand(number: try clock(number, in: ownTime), isTime: true)
        }
        let end = next
        skipSpace()
        if let unit = unit?.unicodeScalars, !unit.isEmpty, text[next...].starts(with: unit) {
            let behind = next + unit.count
            if behind == text.count || !(text[behind].isOfWord && unit.last?.isOfWord == true) {
                next = behind
                return Operand(number: number, isTime: ownTime != nil)
            }
        }
        let word = self.word(at: next)
        if let ownTime, let time = Self.nanoseconds(in: word) ?? Self.nanoseconds(in: word.lowercased()) {
            next += word.unicodeScalars.count
            return Operand(number: try convert(number, from: time, to: ownTime), isTime: true)
        }
        next = end
        return Operand(number: number)
    }

    /// Parses `minutes:seconds` or `hours:minutes:seconds` after the first number.
    private mutating func clock(_ first: Number, in ownTime: Int128) throws(Problem) -> Number {
        var seconds = first
        for _ in 0..<2 where next < text.count && text[next] == ":" {
            next += 1
            guard startsNumber else { throw misunderstood }
            seconds = try combine("+", try combine("*", seconds, .integer(60)), try literal())
        }
        return try convert(seconds, from: 1_000_000_000, to: ownTime)
    }

    private mutating func convert(
        _ number: Number, from unit: Int128, to other: Int128
    ) throws(Problem) -> Number {
        let wasCalculated = isCalculated
        defer { isCalculated = wasCalculated }
        return unit >= other
            ? try combine("*", number, .integer(unit / other))
            : try combine("/", number, .integer(other / unit))
    }

    private mutating func literal() throws(Problem) -> Number {
        let start = next
        let radix = text[next] != "0" || next + 1 == text.count ? nil : Self.radix(named: text[next + 1])
        if let radix {
            next += 2
            if radix == 16 { return try hexadecimal() }
            let digits = take(while: { $0.isOfWord }).filter { $0 != "_" }
            guard let integer = Int128(digits, radix: radix) else { throw Problem(reason: nil) }
            return .integer(integer)
        }
        if let problem = problemWithSeparators() { throw problem }
        var digits = take(while: { $0.isDigit || $0 == "_" })
        var isWhole = true
        if next < text.count, text[next] == "." {
            isWhole = false
            next += 1
            digits += "." + take(while: { $0.isDigit || $0 == "_" })
        }
        if let exponent = exponentDigits("eE") {
            isWhole = false
            digits += "e" + exponent
        }
        digits = digits.filter { $0 != "_" }
        if isWhole, let integer = Int128(digits) {
            let isOfClock = next < text.count && text[next] == ":" || start > 0 && text[start - 1] == ":"
            guard isOfClock || digits.first != "0" || Int128(digits, radix: 8) == integer else {
                let octal = Int128(digits, radix: 8).map { _ in "0o\(digits.drop { $0 == "0" }) or " } ?? ""
                throw Problem(reason: "a number that begins with 0 is octal in C; write \(octal)\(integer)")
            }
            return .integer(integer)
        }
        guard let real = Double(digits.hasSuffix(".") ? digits + "0" : digits) else {
            throw Problem(reason: nil)
        }
        return .real(real)
    }

    /// Parses the digits after `0x`: an integer, or with a binary exponent a floating-point number as in C and Swift.
    private mutating func hexadecimal() throws(Problem) -> Number {
        let whole = take(while: { $0.isHexadecimalDigit || $0 == "_" }).filter { $0 != "_" }
        var fraction: String?
        if next + 1 < text.count, text[next] == ".", text[next + 1].isHexadecimalDigit {
            next += 1
            fraction = take(while: { $0.isHexadecimalDigit || $0 == "_" }).filter { $0 != "_" }
        }
        guard !whole.isEmpty || fraction != nil else { throw Problem(reason: nil) }
        if let exponent = exponentDigits("pP") {
            guard let real = Double("0x0\(whole).\(fraction ?? "0")p\(exponent)") else {
                throw Problem(reason: nil)
            }
            return .real(real)
        }
        guard fraction == nil else {
            throw Problem(reason: "a hexadecimal fraction has an exponent, as in 0x1.8p0")
        }
        guard let integer = Int128(whole, radix: 16) else { throw Problem(reason: nil) }
        return .integer(integer)
    }

    /// The error for a decimal comma, or for separated thousands, at the next number; `nil` if there are none.
    private func problemWithSeparators() -> Problem? {
        var end = next
        while end < text.count,
            text[end].isDigit
                || ",.".unicodeScalars.contains(text[end]) && end + 1 < text.count
                    && text[end + 1].isDigit
        {
            end += 1
        }
        let number = text[next..<end]
        let separators = number.filter { !$0.isDigit }
        guard separators.contains(",") || separators.count > 1, let last = separators.last else { return nil }
        let groups = number.split(omittingEmptySubsequences: false) { !$0.isDigit }.map {
            String(String.UnicodeScalarView($0))
        }
        func areThousands(_ groups: ArraySlice<String>) -> Bool {
            1...3 ~= groups.first?.count ?? 0 && groups.first?.first != "0"
                && groups.dropFirst().allSatisfy { $0.count == 3 }
        }
        let isOneSeparator = separators.allSatisfy { $0 == last }
        var readings: [String] = []
        if isOneSeparator, areThousands(groups[...]) { readings.append(groups.joined()) }
        if separators.count == 1 {
            readings.append(groups.joined(separator: "."))
        } else if separators.dropLast().allSatisfy({ $0 != last && $0 == separators.first }),
            areThousands(groups.dropLast())
        {
            readings.append(groups.dropLast().joined() + "." + (groups.last ?? ""))
        }
        return Problem(
            reason: readings.isEmpty
                ? "a number has one decimal point and no commas"
                : "write " + readings.joined(separator: " or ")
        )
    }

    /// An exponent after one of these letters, or `nil`.
    private mutating func exponentDigits(_ letters: String) -> String? {
        guard next < text.count, letters.unicodeScalars.contains(text[next]) else { return nil }
        let hasSign = next + 1 < text.count && (text[next + 1] == "-" || text[next + 1] == "+")
        let start = next + (hasSign ? 2 : 1)
        guard start < text.count, text[start].isDigit else { return nil }
        let sign = hasSign ? String(text[next + 1]) : ""
        next = start
        return sign + take { $0.isDigit }
    }

    private mutating func number(named name: String) throws(Problem) -> Number? {
        let number: Number
        switch value(name) {
        case .integer(let integer)?: number = .integer(integer)
        case .double(let real)?: number = .real(real)
        default: return nil
        }
        guard let times else { return number }
        return try convert(number, from: times.own, to: times.written)
    }

    // MARK: Arithmetic

    private mutating func combine(
        _ sign: Unicode.Scalar, _ left: Number, _ right: Number
    ) throws(Problem) -> Number {
        isCalculated = true
        if sign == "/", right.real == 0 { throw Problem(reason: "it divides by 0") }
        if case .integer(let left) = left, case .integer(let right) = right {
            let (exact, overflows) =
                switch sign {
                case "+": left.addingReportingOverflow(right)
                case "-": left.subtractingReportingOverflow(right)
                case "*": left.multipliedReportingOverflow(by: right)
                default: left.dividedReportingOverflow(by: right)
                }
            if !overflows, sign != "/" || exact * right == left { return .integer(exact) }
        }
        let (left, right) = (left.real, right.real)
        return switch sign {
        case "+": .real(left + right)
        case "-": .real(left - right)
        case "*": .real(left * right)
        default: .real(left / right)
        }
    }

    private mutating func power(_ base: Number, _ exponent: Number) -> Number {
        isCalculated = true
        if case .integer(let base) = base, case .integer(let exponent) = exponent, 0...127 ~= exponent {
            var (result, overflows): (Int128, Bool) = (1, false)
            for _ in 0..<exponent where !overflows {
                (result, overflows) = result.multipliedReportingOverflow(by: base)
            }
            if !overflows { return .integer(result) }
        }
        return .real(pow(base.real, exponent.real))
    }

    // Dictionaries would be more code, and are built before they are searched.

    private static func function(named name: String) -> ((Double) -> Double)? {
        switch name {
        case "sqrt": { $0.squareRoot() }
        case "abs": { abs($0) }
        case "round": { $0.rounded() }
        case "floor": { $0.rounded(.down) }
        case "ceil": { $0.rounded(.up) }
        case "exp": { exp($0) }
        case "ln": { log($0) }
        case "log": { log10($0) }
        case "log2": { log2($0) }
        case "sin": { sin($0) }
        case "cos": { cos($0) }
        case "tan": { tan($0) }
        case "rad": { $0 * .pi / 180 }
        case "deg": { $0 * 180 / .pi }
        case "db": { pow(10, $0 / 20) }
        default: nil
        }
    }

    private static func constant(named name: String) -> Double? {
        switch name {
        case "pi", "π": .pi
        case "tau": 2 * .pi
        case "e": M_E
        case "inf", "infinity": .infinity
        default: nil
        }
    }

    private static func radix(named letter: Unicode.Scalar) -> Int? {
        switch letter {
        case "x", "X": 16
        case "o", "O": 8
        case "b", "B": 2
        default: nil
        }
    }

    private static func nanoseconds(in unit: String) -> Int128? {
        let second: Int128 = 1_000_000_000
        return switch unit {
        case "ns": 1
        case "µs", "μs", "us": 1000
        case "ms": 1_000_000
        case "s", "sec", "second", "seconds": second
        case "min", "minute", "minutes": 60 * second
        case "h", "hour", "hours": 3600 * second
        case "d", "day", "days": 86400 * second
        default: nil
        }
    }

    // MARK: Text

    /// The error for unexpected text.
    private var misunderstood: Problem {
        let rest = String(String.UnicodeScalarView(text[min(next, text.count)...]))
        return Problem(reason: next == 0 ? nil : "\(TweakValue.string(rest).quoted) is not understood")
    }

    private mutating func skipSpace() {
        while next < text.count, text[next].isSpace { next += 1 }
    }

    private mutating func take(_ characters: String) -> Unicode.Scalar? {
        skipSpace()
        guard next < text.count, characters.unicodeScalars.contains(text[next]) else { return nil }
        next += 1
        return text[next - 1]
    }

    private mutating func take(while isMeant: (Unicode.Scalar) -> Bool) -> String {
        let start = next
        while next < text.count, isMeant(text[next]) { next += 1 }
        return String(String.UnicodeScalarView(text[start..<next]))
    }

    /// A letter, and the rest of its word.
    private func word(at start: Int) -> String {
        guard start < text.count, text[start].isOfWord, !text[start].isDigit else { return "" }
        return String(String.UnicodeScalarView(text[start...].prefix { $0.isOfWord }))
    }
}

extension Unicode.Scalar {
    fileprivate var isDigit: Bool { "0"..."9" ~= self }
    fileprivate var isHexadecimalDigit: Bool { isDigit || "a"..."f" ~= self || "A"..."F" ~= self }
    fileprivate var isSpace: Bool { self == " " || "\t"..."\r" ~= self || self == "\u{a0}" }
    fileprivate var isOfWord: Bool {
        "a"..."z" ~= self || "A"..."Z" ~= self || isDigit || self == "_"
            || value > 0xa0 && !"−×÷·".unicodeScalars.contains(self)
    }
}
