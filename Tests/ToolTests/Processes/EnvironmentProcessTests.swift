// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

@Suite struct `Tweaks in the environment` {
    private let program: SetterProgram

    init() throws { program = try SetterProgram() }

    private func shown(_ environment: [String: String]) throws -> CommandResult {
        try program.setter("show", environment: environment)
    }

    @Test func `A variable for one tweak is read by the tweak's type`() throws {
        let environment = [
            "TWEAK_SETTER__VALUES__COUNT": "0x10", "TWEAK_SETTER__VALUES__FLAG": "on",
            "TWEAK_SETTER__VALUES__TEXT": "a=b", "TWEAKISH": "1",
        ]
        let result = try shown(environment)
        #expect(result.output == "true 16 0.5 a=b\n")
        #expect(result.error.isEmpty)
    }

    @Test func `One variable sets many tweaks`() throws {
        let environment = ["TWEAKS": #"{"Setter": {"Values": {"Count": 7, "Ratio": 1}}}"#]
        #expect(try shown(environment).output == "false 7 1.0 hello\n")
    }

    @Test func `A variable that sets no tweak is reported once, with what was meant`() throws {
        let result = try shown([
            "TWEAK_SETTER__VALUES__CUONT": "7", "TWEAK_SETTER__VALUES__FLAG": "on", "TWEAK_": "1",
            "TWEAKS": #"{"Setter": {"Values": {"Ratoi": 1}}}"#,
        ])
        #expect(result.output == "true 5 0.5 hello\n")
        #expect(result.errorLines.count == 3, "\(result.error)")
        #expect(
            result.error.contains(
                "the environment variable TWEAK_SETTER__VALUES__CUONT sets no tweak; did you mean "
                    + "TWEAK_SETTER__VALUES__COUNT"), "\(result.error)")
        #expect(
            result.error.contains(
                "the environment variable TWEAKS: there is no tweak Setter/Values/Ratoi; did you mean "
                    + "Setter/Values/Ratio"), "\(result.error)")
    }

    @Test func `Many variables that set no tweak are few messages`() throws {
        let names = (0..<100).map { ("TWEAK_A__B__C\($0)", "1") }
        let result = try shown(Dictionary(uniqueKeysWithValues: names))
        #expect(result.errorLines.count == 6, "\(result.error)")
        #expect(result.errorLines.last?.contains("95 more environment variables set no tweak") == true)
    }

    @Test func `A running program reports its unknown variables, and explain shows them`() throws {
        let running = try RunningSetter(
            program, environment: ["TWEAK_SETTER__VALUES__CUONT": "7", "TWEAK_SETTER__VALUES__RATIO": "1"])
        let result = try running.tweak("explain", "Setter/Values/Count")
        #expect(result.succeeded)
        #expect(result.errorLines.count == 1, "\(result.error)")
        #expect(
            result.error.contains(
                "TWEAK_SETTER__VALUES__CUONT in its environment sets no tweak; did you mean "
                    + "TWEAK_SETTER__VALUES__COUNT"), "\(result.error)")
    }

    @Test func `A variable of a tweak that the program makes later is not unknown`() throws {
        let result = try run(
            Locations.product("making-program"), [], home: program.home,
            environment: ["TWEAK_MADE__VALUES__TEXT": "end", "TWEAK_NONE__OF__THEM": "1"])
        #expect(result.output == "end\n")
        #expect(result.errorLines.count == 1, "\(result.error)")
        #expect(result.error.contains("TWEAK_NONE__OF__THEM sets no tweak"), "\(result.error)")
    }

    @Test func `It takes precedence over an override, which is kept`() throws {
        #expect(try program.setter("set", "Setter/Values/Count", "6").succeeded)
        #expect(try shown(["TWEAK_SETTER__VALUES__COUNT": "7"]).output == "false 7 0.5 hello\n")
        #expect(try shown([:]).output == "false 6 0.5 hello\n")
    }

    @Test func `An invalid value is reported, and the next provider applies`() throws {
        #expect(try program.setter("set", "Setter/Values/Count", "6").succeeded)
        let result = try shown(["TWEAK_SETTER__VALUES__COUNT": "many", "TWEAK_SETTER__VALUES__RATIO": "7"])
        #expect(result.output == "false 6 1.0 hello\n")
        #expect(result.errorLines.count == 2)
        #expect(result.error.contains("environment ignored: Setter/Values/Count: \"many\" is not an int32"))
        #expect(
            result.error.contains(
                "Setter/Values/Ratio: the environment is outside the limits and clamped to 1")
        )
    }

    @Test(arguments: ["{", "[]", "", #"{"Setter": "#]) func `Broken JSON is reported and changes nothing`(
        json: String
    )
        throws
    {
        let result = try shown(["TWEAKS": json])
        #expect(result.output == "false 5 0.5 hello\n")
        #expect(result.errorLines.count == 1)
        #expect(result.error.contains("the environment variable TWEAKS: it "))
    }
}
