// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `Tweaks are named with less than their whole names` {
    private let home: TemporaryDirectory
    private let object: String

    init() throws {
        home = try TemporaryDirectory()
        object = try AssembledTweak.object(
            ["Frame count", "Count", "count", "COUNT/2", "Größe", "Frame rate", "Speed", "Ink color"]
                .enumerated().map {
                    .integer($0.element, $0.offset, "at=a.c:1")
                }, home: home)
    }

    private func get(_ name: String) throws -> CommandResult {
        try run(Locations.product("tweak"), ["get", object, name], home: home)
    }

    /// Each tweak's value is its place in the list.
    @Test(arguments: [
        ("Test/Values/Count", 1), ("Values/Count", 1), ("Count", 1), ("count", 2), ("frame count", 0),
        ("COUNT%2F2", 3), ("count%2f2", 3), ("Frame c", 0), ("rate", 5), ("T/V/rate", 5),
        ("test/values/SPEED", 6),
        ("Val/Sp", 6), ("ues/eed", 6), ("größe", 4), ("sPEE", 6), ("ink colour", 7), ("Colour", 7),
    ])
    func `A name that is clear`(name: String, value: Int) throws {
        let result = try get(name)
        #expect(result.error.isEmpty)
        #expect(result.output == "\(value)\n")
    }

    @Test func `A name that is not is an error with those that are meant`() throws {
        let result = try get("Frame")
        #expect(result.status == 65)
        #expect(
            result.error == """
                tweak: Frame: 2 tweaks match; give more of the name
                  Test/Values/Frame count
                  Test/Values/Frame rate

                """)
        #expect(try get("CoUnT").error.contains("2 tweaks match"))
        #expect(try get("pee").status == 65)
    }

    @Test func `A name that nothing has is an error with similar ones`() throws {
        #expect(
            try get("Sped").error == "tweak: Sped: no such tweak; did you mean Test/Values/Speed?\n")
        #expect(
            try get("Values/Sped").error
                == "tweak: Values/Sped: no such tweak; did you mean Test/Values/Speed?\n")
        #expect(try get("").status == 65)
        #expect(try get("//").status == 65)
    }

    @Test func `A name with dots is told how to be written`() throws {
        let result = try get("Test.Values.Speed")
        #expect(result.status == 65)
        #expect(
            result.error
                == "tweak: Test.Values.Speed: the levels of a name have slashes between them; write Test/Values/Speed\n"
        )
        #expect(try get("nosuch").error == "tweak: nosuch: no such tweak; tweak list shows all\n")
    }

    @Test(arguments: ["Values", "values/", "Test/Values", "Test"])
    func `The name of a group gets all in it`(name: String) throws {
        let result = try get(name)
        #expect(result.status == 0)
        #expect(result.output.hasPrefix("Test/Values/Frame count = 0\nTest/Values/Count = 1\n"))
        #expect(result.output.split(separator: "\n").count == 8)
        let set = try run(Locations.product("tweak"), ["set", object, name, "1"], home: home)
        #expect(set.status == 65)
    }

    @Test func `A group that is set is refused with what is in it`() throws {
        let result = try run(Locations.product("tweak"), ["set", object, "Values", "1"], home: home)
        #expect(
            result.error.hasPrefix("tweak: Values: it is 8 tweaks; name one\n  Test/Values/Frame count\n"))
    }

    @Test func `A feature is named with its switch or without`() throws {
        let source = try home.write(
            "features.c",
            """
            #include <fbtweak.h>
            bool instant(void) { return FBTweakFeature("instant-search", false); }
            bool other(void) { return FBTweakFeature("other", false); }
            """)
        let features = home("features.o")
        try Compiler.gcc.compile([source], to: features, ["-DDEBUG", "-c"], home: home)
        for name in ["instant-search", "Features/instant-search", "instant-search/enabled", "instant"] {
            let result = try run(Locations.product("tweak"), ["set", features, name, "on"], home: home)
            #expect(result.status == 0, "\(name): \(result.error)")
            #expect(
                try run(Locations.product("tweak"), ["get", features, name], home: home).output == "true\n")
        }
    }

    @Test(arguments: ["A/Test/Values/Speed", "Spe%ed", "Values/%zz"])
    func `64 is for what cannot be a name`(name: String) throws {
        #expect(try get(name).status == 64)
    }
}
