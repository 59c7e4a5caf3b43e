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

    @Test func `A number outside the limits is moved to the nearest`() throws {
        #expect(try tweak(.int32, 0, 10).admit(11) == admitted(10, clamped: true))
        #expect(try tweak(.int32, 0, 10).admit(-1) == admitted(0, clamped: true))
        #expect(try tweak(.int32, 5).admit(-1) == admitted(5, clamped: true))
        #expect(try tweak(.double, nil, 1.5).admit(7.25) == admitted(1.5, clamped: true))
        #expect(try tweak(.double, -0.5, 1.5).admit(-7) == admitted(-0.5, clamped: true))
    }

    @Test(arguments: TweakType.allCases.compactMap { type in type.integerRange.map { (type, $0) } })
    func `An integer is moved into the range of its type`(type: TweakType, range: ClosedRange<Int128>) throws
    {
        let (least, greatest) = (TweakValue.integer(range.lowerBound), TweakValue.integer(range.upperBound))
        #expect(try tweak(type).admit(least) == admitted(least))
        #expect(try tweak(type).admit(greatest) == admitted(greatest))
        #expect(try tweak(type).admit(.integer(range.lowerBound - 1)) == admitted(least, clamped: true))
        #expect(try tweak(type).admit(.integer(range.upperBound + 1)) == admitted(greatest, clamped: true))
        #expect(try tweak(type).admit(.integer(.min)) == admitted(least, clamped: true))
        #expect(try tweak(type).admit(.integer(.max)) == admitted(greatest, clamped: true))
    }

    @Test func `A whole number is taken for an integer and an integer for a number`() throws {
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
    func `A number that is not finite is refused`(number: Double, type: TweakType) {
        #expect(throws: TweakValueError.self) { try tweak(type, 0, 1).admit(.double(number)) }
    }

    @Test func `A text with a NUL is refused`() {
        #expect(throws: TweakValueError.containsNUL(tweak(.string))) { try tweak(.string).admit("a\0b") }
    }

    @Test func `A Float keeps the number that was written`() throws {
        #expect(try tweak(.float).admit(0.1) == admitted(0.1))
        #expect(try tweak(.float, 0.1, 0.3).admit(0.3) == admitted(0.3))
    }

    @Test func `A Float is rounded to its precision, which is not a clamping`() throws {
        #expect(try tweak(.float).admit(0.123456789012) == admitted(0.12345679))
        #expect(try tweak(.float).admit(1e-300) == admitted(0.0))
    }

    @Test func `A number too large for a Float is moved to the largest one`() throws {
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
        "", "-", "+", "x", "1.5", "1e3", " 1", "1 ", "0x", "0xG", "--1", "+-1", "0x-5", "0x+5", "0b2", "٣",
        "true",
        "-0x-80000000000000000000000000000000", "170141183460469231731687303715884105728",
    ])
    func `Other text is not an integer`(text: String) {
        #expect(throws: TweakValueError.self) { try tweak(.int64).admit(text: text) }
    }

    @Test func `A typed integer is moved into the range`() throws {
        #expect(try tweak(.uint8).admit(text: "256") == admitted(255, clamped: true))
        #expect(try tweak(.uint8).admit(text: "-1") == admitted(0, clamped: true))
    }

    @Test(arguments: [("1", 1.0), ("-1.5", -1.5), ("1e3", 1000), (".5", 0.5), ("0.1", 0.1)])
    func `A number may have a fraction and an exponent`(text: String, value: Double) throws {
        #expect(try tweak(.double).admit(text: text) == admitted(.double(value)))
        #expect(try tweak(.float).admit(text: text) == admitted(.double(value)))
    }

    @Test(arguments: ["", "x", "1,5", " 1", "nan", "inf", "-infinity", "1e999", "true"])
    func `Other text is not a number`(text: String) {
        #expect(throws: TweakValueError.self) { try tweak(.double).admit(text: text) }
    }

    @Test(arguments: ["", "true", "1", "弹 ü", "\n"])
    func `A text tweak takes the text as it is`(text: String) throws {
        #expect(try tweak(.string).admit(text: text) == admitted(.string(text)))
    }
}
