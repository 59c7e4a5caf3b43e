// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakRecords

/// The values that array tweaks take.
@Suite struct `Values of an array` {
    private func tweak(_ element: String) -> TweakDeclaration {
        TweakDeclaration(
            key: TweakKey("A", "B", "C"), type: .string, defaultValue: "[]",
            attributes: [TweakDeclaration.Attribute(key: "element", value: element)])
    }

    @Test(arguments: [
        ("int64", "[]", "[]"),
        ("int64", " [ 80,\n443 ,-1]\t", "[80, 443, -1]"),
        ("int64 min=0 max=9", "[0, 9, 5.0]", "[0, 9, 5]"),
        ("int64 max=9", "[-100]", "[-100]"),
        ("double", "[1, 0.5, -2e3, 1E+2]", "[1.0, 0.5, -2000.0, 100.0]"),
        ("double min=0.5", "[0.5, 1e300]", "[0.5, 1e+300]"),
        (
            "string", #"["", "a,b]", "\"\\\/\b\f\n\r\t", "\u00e9\uD83D\ude00"]"#,
            #"["", "a,b]", "\"\\/\u0008\u000c\u000a\u000d\u0009", "é😀"]"#
        ),
        // What this version does not know of.
        ("int64 max=9 odd", "[1]", "[1]"),
        ("list", "no array", "no array"),
    ])
    func `are stored in one form`(element: String, given: String, stored: String) throws {
        let admission = try tweak(element).admit(.string(given))
        #expect(admission.value == .string(stored) && !admission.wasClamped)
        #expect(try tweak(element).admit(text: given).value == .string(stored))
        #expect(try tweak(element).admit(.string(stored)).value == .string(stored))
    }

    @Test(arguments: [
        "", "1, 2", "[1, 2", "[1, 2]]", "[1 2]", "[1,]", "[,1]", "[null]", "[true]", "[[1]]", "[\"1\"]",
        "[01]",
        "[.5]", "[5.]", "[+5]", "[--5]", "[0x10]", "[1e400]", "[0.5]", "[nan]", "[1_000]", "none",
    ])
    func `are arrays of integers`(given: String) {
        #expect(throws: TweakValueError.wrongType(tweak("int64"), given: TweakValue.string(given).quoted)) {
            try tweak("int64").admit(.string(given))
        }
    }

    @Test(arguments: [
        "[1]", #"["a]"#, #"["\x"]"#, #"["\u12"]"#, #"["\u+123"]"#, #"["\uD83D"]"#, #"["\uD83Dx"]"#,
        #"["\uDE00"]"#,
        "[\"\n\"]", #"["\u0000"]"#, #"["a" "b"]"#,
    ])
    func `are arrays of texts`(given: String) {
        #expect(throws: TweakValueError.wrongType(tweak("string"), given: TweakValue.string(given).quoted)) {
            try tweak("string").admit(.string(given))
        }
    }

    @Test(arguments: [
        (
            "int64 min=1 max=65535", "[80, 70000]",
            #"A/B/C: "[80, 70000]" is not an array: 70000 is outside the limits; allowed: a JSON array, each element an integer from 1 to 65535"#
        ),
        (
            "int64", "[9223372036854775808]",
            #"A/B/C: "[9223372036854775808]" is not an array: 9223372036854775808 is outside the limits; allowed: a JSON array, each element an integer from -9223372036854775808 to 9223372036854775807"#
        ),
        (
            "double max=1.0", "[1.5]",
            #"A/B/C: "[1.5]" is not an array: 1.5 is outside the limits; allowed: a JSON array, each element a number of at most 1.0"#
        ),
        ("string", "80", #"A/B/C: "80" is not an array; allowed: a JSON array, each element a text"#),
    ])
    func `are refused with one sentence`(element: String, given: String, sentence: String) {
        let error = #expect(throws: TweakValueError.self) { try tweak(element).admit(.string(given)) }
        #expect(error?.description == sentence)
    }

    @Test func `in a declaration are within the limits, which are in order`() {
        var declared = tweak("int64 min=1")
        #expect(declared.problem == nil)
        declared.defaultValue = "[0]"
        #expect(declared.problem == .badDefault(allowed: declared.allowed))
        declared.defaultValue = "0"
        #expect(declared.problem == .badDefault(allowed: declared.allowed))
        #expect(tweak("double min=2 max=1").problem == .limitsOutOfOrder)
        #expect(tweak("int64").agrees(with: tweak("int64")))
        #expect(!tweak("int64").agrees(with: tweak("double")))
    }
}
