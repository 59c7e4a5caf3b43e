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
                tweak: Frame: 2 tweaks could be meant; write more of the name
                  Test/Values/Frame count
                  Test/Values/Frame rate

                """)
        #expect(try get("CoUnT").error.contains("2 tweaks could be meant"))
        #expect(try get("pee").status == 65)
    }

    @Test func `A name that nothing has is an error with similar ones`() throws {
        #expect(
            try get("Sped").error == "tweak: Sped: there is no such tweak; did you mean Test/Values/Speed?\n")
        #expect(
            try get("Values/Sped").error
                == "tweak: Values/Sped: there is no such tweak; did you mean Test/Values/Speed?\n")
        #expect(try get("").status == 65)
        #expect(try get("//").status == 65)
    }

    @Test(arguments: ["A/Test/Values/Speed", "Spe%ed", "Values/%zz"])
    func `64 is for what cannot be a name`(name: String) throws {
        #expect(try get(name).status == 64)
    }
}
