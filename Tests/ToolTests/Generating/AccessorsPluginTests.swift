// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `The build plug-in for accessors` {
    private let home: TemporaryDirectory
    private let program: String

    init() throws {
        home = try TemporaryDirectory()
        program = try Example.path("switches")
    }

    @Test func `A program has the features and variables of the files in its folder`() throws {
        #expect(try run(program, home: home).output == "hello\n")
        let list = try run(Locations.product("tweak"), ["list", program], home: home)
        for name in ["Features / greeting", "by_name", "Says to whom", "repetitions"] {
            #expect(list.output.contains(name))
        }
        for arguments in [
            ["Features/greeting/text", "good morning"], ["Features/greeting/repetitions", "2"],
        ] {
            let result = try run(Locations.product("tweak"), ["set", program] + arguments, home: home)
            #expect(result.succeeded, "\(result.error)")
        }
        #expect(try run(program, home: home).output == "good morning\ngood morning\n")
        #expect(
            try run(
                Locations.product("tweak"), ["set", program, "Features/greeting/enabled", "off"], home: home
            )
            .succeeded)
        #expect(try run(program, home: home).output.isEmpty)
    }

    @Test(
        arguments: [
            (["features", "none.json", "out", "Features"], 66),
            (["features", "bad.json", "out", "Features"], 65),
            (["just-tweak", "bad.json", "out", "A"], 65), (["features", "bad.json", "out", "a b"], 64),
            ([], 64),
        ] as [([String], Int32)])
    func `What it runs says what is wrong, and writes nothing`(arguments: [String], status: Int32) throws {
        try home.write("bad.json", #"{"default": {"a": 1}}"#)
        let result = try run(Locations.product("tweak-accessors"), arguments, home: home, in: home.path)
        #expect(result.status == status)
        #expect(result.error.hasPrefix("error: ") && result.errorLines.count == 1)
        #expect(!FileManager.default.fileExists(atPath: home("out")))
    }
}
