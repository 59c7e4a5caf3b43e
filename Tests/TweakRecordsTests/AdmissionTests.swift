// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakRecords

private func tweak(_ type: TweakType, _ minimum: TweakValue? = nil, _ maximum: TweakValue? = nil)
    -> TweakDeclaration
{
    TweakDeclaration(
        key: TweakKey("A", "B", "C"), type: type, defaultValue: .integer(0), minimum: minimum,
        maximum: maximum)
}

/// What an admission should be; only the library makes real ones.
private struct Expected {
    var value: TweakValue
    var wasClamped: Bool

    static func == (admission: TweakDeclaration.Admission, expected: Expected) -> Bool {
        admission.value == expected.value && admission.wasClamped == expected.wasClamped
    }
}

private func admitted(_ value: TweakValue, clamped: Bool = false) -> Expected {
    Expected(value: value, wasClamped: clamped)
}

@Suite struct `Admitting values` {
    @Test func `A value within the limits stays as it is`() throws {
        #expect(try tweak(.int32, 0, 10).admit(10) == admitted(10))
        #expect(try tweak(.double, 0.0, 1.0).admit(0.0) == admitted(0.0))
        #expect(try tweak(.bool).admit(true) == admitted(true))
        #expect(try tweak(.string).admit("ü") == admitted("ü"))
    }

    @Test func `A number outside the limits is clamped`() throws {
        #expect(try tweak(.int32, 0, 10).admit(11) == admitted(10, clamped: true))
        #expect(try tweak(.int32, 0, 10).admit(-1) == admitted(0, clamped: true))
        #expect(try tweak(.int32, 5).admit(-1) == admitted(5, clamped: true))
        #expect(try tweak(.double, nil, 1.5).admit(7.25) == admitted(1.5, clamped: true))
        #expect(try tweak(.double, -0.5, 1.5).admit(-7) == admitted(-0.5, clamped: true))
    }

    @Test(arguments: TweakType.allCases.compactMap { type in type.integerRange.map { (type, $0) } })
    func `An integer is clamped to the range of its type`(type: TweakType, range: ClosedRange<Int128>) throws
    {
        let (least, greatest) = (TweakValue.integer(range.lowerBound), TweakValue.integer(range.upperBound))
        #expect(try tweak(type).admit(least) == admitted(least))
        #expect(try tweak(type).admit(greatest) == admitted(greatest))
        #expect(try tweak(type).admit(.integer(range.lowerBound - 1)) == admitted(least, clamped: true))
        #expect(try tweak(type).admit(.integer(range.upperBound + 1)) == admitted(greatest, clamped: true))
        #expect(try tweak(type).admit(.integer(.min)) == admitted(least, clamped: true))
        #expect(try tweak(type).admit(.integer(.max)) == admitted(greatest, clamped: true))
    }

    @Test func `A whole number is accepted for an integer, and an integer for a number`() throws {
        #expect(try tweak(.int32).admit(3.0) == admitted(3))
        #expect(try tweak(.double).admit(3) == admitted(3.0))
        #expect(try tweak(.float).admit(3) == admitted(3.0))
        #expect(try tweak(.int8).admit(1e30) == admitted(127, clamped: true))
    }

    @Test(arguments: TweakType.allCases)
    func `A Bool is not a number, and a number is not a Bool`(type: TweakType) {
        if type == .bool {
            #expect(throws: TweakValueError.self) { try tweak(.bool).admit(1) }
            #expect(throws: TweakValueError.self) { try tweak(.bool).admit(0.0) }
        } else {
            #expect(throws: TweakValueError.self) { try tweak(type).admit(true) }
        }
    }

    @Test func `A value of another type is refused`() {
        #expect(throws: TweakValueError.self) { try tweak(.int32).admit("1") }
        #expect(throws: TweakValueError.self) { try tweak(.int32).admit(1.5) }
        #expect(throws: TweakValueError.self) { try tweak(.string).admit(1) }
        #expect(throws: TweakValueError.self) { try tweak(.bool).admit("true") }
        #expect(throws: TweakValueError.self) { try tweak(.double).admit("1") }
    }

    @Test(arguments: [Double.nan, .infinity, -.infinity], [TweakType.float, .double, .int32, .uint64])
    func `A non-finite number is refused`(number: Double, type: TweakType) {
        #expect(throws: TweakValueError.self) { try tweak(type, 0, 1).admit(.double(number)) }
    }

    @Test func `A string with a NUL is refused`() {
        #expect(throws: TweakValueError.containsNUL(tweak(.string))) { try tweak(.string).admit("a\0b") }
    }

    @Test func `A Float keeps the number as written`() throws {
        #expect(try tweak(.float).admit(0.1) == admitted(0.1))
        #expect(try tweak(.float, 0.1, 0.3).admit(0.3) == admitted(0.3))
    }

    @Test func `Rounding to the precision of a Float does not count as clamping`() throws {
        #expect(try tweak(.float).admit(0.123456789012) == admitted(0.12345679))
        #expect(try tweak(.float).admit(1e-300) == admitted(0.0))
    }

    @Test func `A number too large for a Float is clamped to the largest one`() throws {
        let largest = TweakValue.double(Double("\(Float.greatestFiniteMagnitude)") ?? 0)
        #expect(try tweak(.float).admit(1e300) == admitted(largest, clamped: true))
    }

    @Test func `The message names the tweak, the value and what is allowed`() {
        let error = #expect(throws: TweakValueError.self) { try tweak(.int32, 0, 10).admit("x") }
        #expect(error?.description == "A/B/C: \"x\" is not an int32; allowed: an integer from 0 to 10")
    }
}

@Suite struct `Admitting text` {
    @Test(arguments: ["true", "on", "yes", "1", "TRUE", "On"])
    func `Words for true`(text: String) throws {
        #expect(try tweak(.bool).admit(text: text) == admitted(true))
    }

    @Test(arguments: ["false", "off", "no", "0", "FALSE", "Off"])
    func `Words for false`(text: String) throws {
        #expect(try tweak(.bool).admit(text: text) == admitted(false))
    }

    @Test(arguments: ["", "2", "tru", "y", "true ", "1.0"])
    func `Other words are not a Bool`(text: String) {
        #expect(throws: TweakValueError.self) { try tweak(.bool).admit(text: text) }
    }

    @Test(arguments: [
        ("42", 42), ("-42", -42), ("+42", 42), ("0x1F", 31), ("-0x1f", -31), ("0X1F", 31), ("0o17", 15),
        ("0b101", 5), ("007", 7), ("-0", 0),
    ])
    func `An integer may be decimal, hexadecimal, octal or binary`(text: String, value: Int) throws {
        #expect(try tweak(.int32).admit(text: text) == admitted(.integer(Int128(value))))
    }

    @Test(arguments: [
        "", "-", "+", "x", "1.5", "0x", "0xG", "--1", "+-1", "0x-5", "0b2", "٣", "true",
        "-0x-80000000000000000000000000000000",
    ])
    func `Other text is not an integer`(text: String) {
        #expect(throws: TweakValueError.self) { try tweak(.int64).admit(text: text) }
    }

    @Test func `A typed integer is clamped to the range`() throws {
        #expect(try tweak(.uint8).admit(text: "256") == admitted(255, clamped: true))
        #expect(try tweak(.uint8).admit(text: "-1") == admitted(0, clamped: true))
    }

    @Test(arguments: [("1", 1.0), ("-1.5", -1.5), ("1e3", 1000), (".5", 0.5), ("0.1", 0.1)])
    func `A number may have a fraction and an exponent`(text: String, value: Double) throws {
        #expect(try tweak(.double).admit(text: text) == admitted(.double(value)))
        #expect(try tweak(.float).admit(text: text) == admitted(.double(value)))
    }

    @Test(arguments: ["", "x", "1,5", "nan", "inf", "-infinity", "1e999", "true", "sqrt(-1)"])
    func `Other text is not a number`(text: String) {
        #expect(throws: TweakValueError.self) { try tweak(.double).admit(text: text) }
    }

    @Test(arguments: ["", "true", "1", "弹 ü", "\n"])
    func `A text tweak accepts the text unchanged`(text: String) throws {
        #expect(try tweak(.string).admit(text: text) == admitted(.string(text)))
    }
}

@Suite struct `Admitting calculated values` {
    private func admit(
        _ text: String, _ type: TweakType = .double, _ range: (TweakValue, TweakValue)? = nil,
        unit: String? = nil, writtenUnit: String? = nil, current: TweakValue? = nil
    ) throws -> TweakValue {
        var declaration = tweak(type, range?.0, range?.1)
        if let unit { declaration.attributes.append(.init(key: "unit", value: unit)) }
        return try declaration.admit(text: text, current: current, writtenUnit: writtenUnit).value
    }

    @Test(arguments: [
        ("2*pi", 2 * Double.pi), (" 1 + 2 * 3 ", 7), ("(1+2)*3", 9), ("2^3^2", 512), ("2**3", 8),
        ("-2^2", -4), ("7/2", 3.5),
        ("1_000", 1000), ("200*50%", 100), ("200 + 10%", 220), ("200-10%", 180), ("50%*(3-1)", 1),
        ("sqrt(25%)", 0.5),
        ("sqrt(2)*sqrt(2)", 2.0000000000000004), ("db(20)", 10),
        ("rad(180)", .pi),
        ("5 - -3", 8), ("6÷2×3", 9), ("tau÷π", 2), ("π×2−tau", 0), ("1e3", 1000), ("0x10", 16), (".5e1", 5),
        ("PI", .pi), ("1.", 1), ("0x1.8p3", 12), ("0X1P-2", 0.25), ("-0x.8p0 + 1", 0.5), ("007.5", 7.5),
        ("08e1", 80),
    ])
    func `Arithmetic`(text: String, value: Double) throws {
        #expect(try admit(text) == .double(value))
    }

    @Test func `Names stand for the value, the limits and the default`() throws {
        let range: (TweakValue, TweakValue) = (1.0, 9.0)
        #expect(try admit("max/2", .double, range) == 4.5)
        #expect(try admit("(max-min)/2", .double, range) == 4.0)
        #expect(try admit("x*2", .double, range, current: 3.0) == 6.0)
        #expect(try admit("def", .int32, (0, 9)) == 0)
        #expect(try admit("x", .int32, current: 7) == 7)
    }

    @Test func `A change is relative to the current value`() throws {
        #expect(try admit("+=10%", current: 200.0) == 220.0)
        #expect(try admit("x-10%", current: 200.0) == 180.0)
        #expect(try admit("-= 1", .int32, current: 3) == 2)
        #expect(try admit("*=1.5", current: 2.0) == 3.0)
        #expect(try admit("/=4", current: 1.0) == 0.25)
        #expect(throws: TweakValueError.self) { try admit("+=1") }
    }

    @Test func `The result of arithmetic is rounded to an integer, a literal is not`() throws {
        #expect(try admit("+=10%", .int32, current: 105) == 116)
        #expect(try admit("7/2", .int32) == 4)
        #expect(throws: TweakValueError.self) { try admit("3.5", .int32) }
        #expect(try admit("3.0", .int32) == 3)
    }

    @Test func `Whole numbers are exact`() throws {
        #expect(try admit("2^63-1", .int64) == .integer(Int128(Int64.max)))
        #expect(try admit("9223372036854775807 - 1", .int64) == .integer(Int128(Int64.max) - 1))
        #expect(try admit("2^200", .uint8) == 255)
        #expect(try admit("170141183460469231731687303715884105728", .uint8) == 255)
    }

    @Test(arguments: [
        ("300 ms", 0.3), ("300ms", 0.3), ("2 min 5 s", 125), ("1:30", 90), ("1:02:03", 3723), ("1.5h", 5400),
        ("2", 2), ("2 s", 2),
        ("1 d", 86400), ("500µs + 1 ms", 0.0015),
    ])
    func `A duration can be written in other units of time`(text: String, value: Double) throws {
        #expect(try admit(text, unit: "s") == .double(value))
    }

    @Test(arguments: [
        ("100", 0.1), ("2*50", 0.1), ("1.5 s", 1.5), ("1:30", 90), ("max/2", 30), ("+=50", 0.3), ("*=2", 0.5),
        ("+=10%", 0.275), ("def", 0),
    ])
    func `Numbers can have another unit of time`(text: String, value: Double) throws {
        let range: (TweakValue, TweakValue) = (0.0, 60.0)
        #expect(
            try admit(
                text, .double, text == "1:30" ? nil : range, unit: "s", writtenUnit: "ms", current: 0.25)
                == .double(value))
        #expect(try admit("1500", .int32, unit: "ms", writtenUnit: "s") == 1_500_000)
        #expect(throws: TweakValueError.self) { try admit("1.5 ms", .int32, unit: "s", writtenUnit: "ms") }
        #expect(try admit("5", .int32, unit: "kg", writtenUnit: "ms") == 5)
    }

    @Test func `The unit may stand behind the number`() throws {
        #expect(try admit("50 1/s", unit: "1/s") == 50.0)
        #expect(try admit("50%", unit: "%") == 50.0)
        #expect(try admit("5kg", .int32, unit: "kg") == 5)
        #expect(try admit("2 s", .int64, unit: "ms") == 2000)
        #expect(throws: TweakValueError.self) { try admit("1.5 ms", .int64, unit: "ms") }
        #expect(throws: TweakValueError.self) { try admit("5 ms") }
        #expect(throws: TweakValueError.self) { try admit("5 mm", unit: "m") }
        #expect(throws: TweakValueError.self) { try admit("2 min 5", unit: "s") }
    }

    @Test(arguments: [
        ("1/0", "it divides by 0"), ("(1", "a ) is missing"),
        ("+10%", "write +=10% to change the current value by that, or 0.1"),
        ("- 10%", "write -= 10% to change the current value by that, or -0.1"),
        ("120%", "write x*120% for that much of the current value, or 1.2"),
        ("-(5%+5%)", "write x*(-(5%+5%)) for that much of the current value, or -0.1"),
        ("10%+200", "write a percentage after the number that it refers to, as in 200+10%"),
        ("0644", "a number that begins with 0 is octal in C; write 0o644 or 644"),
        ("-010", "a number that begins with 0 is octal in C; write 0o10 or 10"),
        ("2*089", "a number that begins with 0 is octal in C; write 89"),
        ("0x1.8", "a hexadecimal fraction has an exponent, as in 0x1.8p0"),
        ("1+", "the expression is incomplete"),
        ("2 3", "\"3\" is not understood"), ("sqrt 2", "sqrt is written sqrt(…)"),
        (String(repeating: "(", count: 400), "it is nested too deeply"),
        (String(repeating: "1+", count: 400) + "1", "it is too long"),
    ])
    func `An error names the mistake`(text: String, reason: String) {
        let error = #expect(throws: TweakValueError.self) { try admit(text) }
        #expect(
            error?.description.contains(" is not a double: \(reason); allowed: a number") == true,
            "\(error as Any)")
    }

    @Test(arguments: [
        ("1,5", [1.5]), ("0,5", [0.5]), ("1,000", [1000, 1.0]), ("-1,000", [1000, 1.0]),
        ("12,3456", [12.3456]),
        ("1.234,5", [1234.5]), ("1,234.5", [1234.5]), ("1.234.567", [1_234_567]), ("1,234,567", [1_234_567]),
        ("1.234.567,8", [1_234_567.8]), ("2*1,5", [1.5]), ("0,125", [0.125]), ("12,34,56", []), ("1.2.3", []),
        ("1,234,5.6", []), ("1,2.3,4", []),
    ])
    func `The advice for a comma is a number`(text: String, numbers: [Double]) throws {
        let error = #expect(throws: TweakValueError.self) { try admit(text) }
        let advice = numbers.isEmpty ? "a number has one decimal point and no commas" : "write "
        let reason = try #require(error?.reason)
        #expect(reason.hasPrefix(advice))
        guard !numbers.isEmpty else { return }
        let advised = reason.dropFirst(advice.count).replacing(" or ", with: " ").split(separator: " ")
        #expect(try advised.map { try admit(String($0)) } == numbers.map { .double($0) })
    }

    @Test(arguments: [("01:30", 90.0), ("1:05", 65), ("00:08:09", 489)])
    func `The parts of a clock time may begin with 0`(text: String, value: Double) throws {
        #expect(try admit(text, unit: "s") == .double(value))
        #expect(throws: TweakValueError.self) { try admit("010 s", unit: "s") }
    }

    @Test func `A percentage is a value of a tweak in percent`() throws {
        #expect(try admit("+10%", unit: "%", current: 50.0) == 10.0)
        #expect(try admit("120 %", unit: "%") == 120.0)
    }

    @Test func `Enclosing quotation marks are distinguished from those of the text`() {
        let error = #expect(throws: TweakValueError.self) { try admit(#""much""#) }
        #expect(error?.description.contains(#""\"much\"" is not a double"#) == true, "\(error as Any)")
    }

    @Test func `A Bool can be toggled`() throws {
        #expect(try admit("toggle", .bool, current: true) == false)
        #expect(try admit("Toggle", .bool, current: false) == true)
        #expect(throws: TweakValueError.self) { try admit("toggle", .bool) }
    }

    @Test func `A label takes precedence over other meanings`() throws {
        let declaration = TweakDeclaration(
            key: TweakKey("A", "B", "C"), type: .int32, defaultValue: 1,
            choices: [TweakChoice(1, label: "e"), TweakChoice(2, label: "max"), TweakChoice(3, label: "7-5")])
        #expect(try declaration.admit(text: "e").value == 1)
        #expect(try declaration.admit(text: "max").value == 2)
        #expect(try declaration.admit(text: "7-5").value == 3)
        #expect(try declaration.admit(text: "7-4").value == 3)
    }

    @Test func `A label in another case is meant if no other label is, and nothing else`() throws {
        let declaration = TweakDeclaration(
            key: TweakKey("A", "B", "C"), type: .int32, defaultValue: 1,
            choices: [
                TweakChoice(1, label: "Easy"), TweakChoice(2, label: "hard"), TweakChoice(3, label: "HARD"),
                TweakChoice(4, label: "0X2"), TweakChoice(6, label: "Größe"),
            ])
        #expect(try declaration.admit(text: "EASY").value == 1)
        #expect(try declaration.admit(text: "hard").value == 2)
        #expect(try declaration.admit(text: "HARD").value == 3)
        #expect(try declaration.admit(text: "größe").value == 6)
        #expect(try declaration.admit(text: "0X2").value == 4)
        #expect(try declaration.admit(text: "0x2").value == 2)
        for text in ["Hard", "eas", "Easy ", "", "5"] {
            #expect(throws: TweakValueError.self, "\(text)") { try declaration.admit(text: text) }
        }
    }

    @Test func `A string in another case is a choice if it is the only one`() throws {
        let declaration = TweakDeclaration(
            key: TweakKey("A", "B", "C"), type: .string, defaultValue: "easy",
            choices: [TweakChoice("easy"), TweakChoice("hard", label: "Difficult"), TweakChoice("Easy")])
        #expect(try declaration.admit(text: "HARD").value == "hard")
        #expect(try declaration.admit(text: "difficult").value == "hard")
        #expect(try declaration.admit(text: "Easy").value == "Easy")
        #expect(throws: TweakValueError.self) { try declaration.admit(text: "EASY") }
    }

    @Test(arguments: [
        ("#ff8000", "#ff8000"), ("ff8000", "#ff8000"), ("F80", "#ff8800"), ("ff800080", "#ff800080"),
        ("RebeccaPurple", "#663399"),
        ("transparent", "#00000000"),
    ])
    func `A colour is written as digits or a name`(text: String, colour: String) throws {
        #expect(try admit(text, .color) == TweakColor(colour).map { .color($0) })
    }

    @Test(arguments: ["", "#", "ff", "fffff", "blu", "#blue", "# fff", "ff8000 "])
    func `Other text is no colour`(text: String) {
        #expect(throws: TweakValueError.self) { try admit(text, .color) }
    }
}
