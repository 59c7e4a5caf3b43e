// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing
import TweakRecords
import TweakSources

@Suite struct `Initializers of variables` {
    private let sources: BakedSources

    init() throws { sources = try BakedSources() }

    /// Bakes a value into the declaration of the variable `gain`, or another one, in the line with `HERE`, which is left
    /// out.
    ///
    /// - Returns: The new source, and the reasons why the variable stays.
    private func baked(
        _ text: String, as file: String = "app.cpp", _ type: TweakType, _ former: TweakValue,
        _ value: TweakValue, variable: String = "gain", choices: [TweakChoice] = []
    ) throws -> (text: String, reasons: [String]) {
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        let line = (lines.firstIndex { $0.contains("HERE") } ?? 0) + 1
        try sources.home.write(file, text.replacing("HERE", with: ""))
        let tweak = BakedSources.tweak(type, former, at: "\(file):\(line)", choices: choices)
        var baking = SourceBaking(
            folders: SourceFolders(given: nil, working: sources.home.path), isWriting: true)
        baking.add([tweak], variable: variable) { (tweak) throws(TweakValueError) in try tweak.admit(value) }
        try baking.write()
        return (try sources.text(file), baking.staying.map(\.reason))
    }

    @Test(arguments: [
        ("double gain = 2.5;", "double gain = 3.25;"),
        ("static volatile double gain = 2.5;", "static volatile double gain = 3.25;"),
        ("double other = 2.5, gain = 2.5; // gain", "double other = 2.5, gain = 3.25; // gain"),
        ("std::vector<int> v; double gain{2.5};", "std::vector<int> v; double gain{3.25};"),
        ("double gain = { 25e-1 };", "double gain = { 32.5e-1 };"),
        ("double ns::Type::gain = 2.5;", "double ns::Type::gain = 3.25;"),
        ("alignas(8) double gain = +2.5;", "alignas(8) double gain = +3.25;"),
        ("std::atomic<double> gain{2.5};", "std::atomic<double> gain{3.25};"),
        (
            "void f() { static double gain = 2.5; gain = 7; }",
            "void f() { static double gain = 3.25; gain = 7; }"
        ),
        ("double one = gain, two;double gain = 2.5;", "double one = gain, two;double gain = 3.25;"),
        (
            "#if 0\ndouble gain = 2.5;\n#else\nHEREdouble gain = 2.5;\n#endif",
            "#if 0\ndouble gain = 2.5;\n#else\ndouble gain = 3.25;\n#endif"
        ),
        ("double\n  HEREgain =\n  2.5;", "double\n  gain =\n  3.25;"),
    ])
    func `change alone`(text: String, expected: String) throws {
        let result = try baked(text, .double, 2.5, 3.25)
        #expect(result.reasons.isEmpty && result.text == expected)
    }

    @Test func `keep their notation`() throws {
        #expect(try baked("unsigned gain = 0xFFu;", .uint32, 255, 16).text == "unsigned gain = 0x10u;")
        #expect(try baked("int gain = -7;", .int32, -7, 8).text == "int gain = 8;")
        #expect(try baked("bool gain = true;", .bool, true, false).text == "bool gain = false;")
        #expect(try baked("float gain = 1.5f;", .float, 1.5, 0.1).text == "float gain = 0.1f;")
        #expect(try baked("char gain = 'a';", .int8, 97, 98).text == "char gain = 'b';")
    }

    @Test func `of enumerations are other enumerators`() throws {
        let choices = [TweakChoice(0, label: "SLOW"), TweakChoice(5, label: "FAST")]
        let plain = try baked("enum gain gain = SLOW;", .int32, 0, 5, choices: choices)
        #expect(plain.reasons.isEmpty && plain.text == "enum gain gain = FAST;")
        let scoped = try baked("ns::Mode gain = ns::Mode::SLOW;", .int32, 0, 5, choices: choices)
        #expect(scoped.text == "ns::Mode gain = ns::Mode::FAST;")
    }

    @Test(arguments: [
        ("double gain = BASE;", "its default is the constant BASE"),
        ("#define BASE 2.5\nHEREdouble gain = BASE;", "its default is the macro BASE"),
        ("double gain = 2 * 1.25;", "its default is an expression: 2 * 1.25"),
        ("double gain;", "the variable gain has no initializer there"),
        ("double gain[] = { 2.5 };", "the declaration of the variable gain there cannot be read"),
        ("double *gain = 2.5;", "the declaration of the variable gain there cannot be read"),
        ("MAKE(gain, 2.5)", "the declaration of the variable gain there cannot be read"),
        ("other.gain = 2.5;", "the declaration of the variable gain there cannot be read"),
        ("gain = 2.5;", "the declaration of the variable gain there cannot be read"),
        ("void f() { other = 1, gain = 2.5; }", "the declaration of the variable gain there cannot be read"),
        ("double other = 2.5;", "the variable gain is not declared there any more"),
        ("\ndouble gain = 2.5;", "the variable gain is not declared there any more"),
        (
            "double gain = 2.5; void f() { double gain = 2.5; }",
            "the variable gain is declared 2 times in that line"
        ),
        ("double gain = 4;", "its default is 4 there and 2.5 in the program; build it again"),
        ("double gain = 2.5", "the initializer of the variable gain there has no end"),
        ("double gain = (2.5", "the initializer of the variable gain there has no end"),
    ])
    func `stay if they are anything else`(text: String, reason: String) throws {
        let result = try baked(text, .double, 2.5, 3.25)
        #expect(result.reasons == [reason])
        #expect(result.text == text.replacing("HERE", with: ""))
    }

    @Test func `are those of whole variables in C and C++`() throws {
        #expect(
            try baked("P gain = { 2.5 };", .double, 2.5, 3.25, variable: "app.cpp:gain.kp").reasons
                == ["app.cpp:gain.kp is a part of a variable"])
        #expect(
            try baked("var gain = 2.5", as: "app.swift", .double, 2.5, 3.25).reasons
                == ["only initializers of variables in C and C++ can be changed"])
        #expect(
            try baked("double gain = 2.5;", .double, 2.5, 3.25, variable: "app.cpp:ns::gain").text
                == "double gain = 3.25;")
    }
}
