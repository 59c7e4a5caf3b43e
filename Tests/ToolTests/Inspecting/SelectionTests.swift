// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

@Suite struct `A selection of tweaks` {
    private let home: TemporaryDirectory
    private let object: String

    init() throws {
        home = try TemporaryDirectory()
        object = try AssembledTweak.object(
            [
                .integer("Count", 1, "at=/home/ada/game/a.c:7"),
                .double("Mass", 1, "at=/home/ada/game/physics/b.c:8"),
                .integer("a/b*", 1), .string("Größe", "x", "at=b.c:9"),
            ], home: home)
    }

    private func names(_ arguments: String...) throws -> [String] {
        let result = try dump(["--format", "csv"] + arguments + [object], home: home)
        #expect(result.status == 0)
        return result.output.split(separator: "\n").dropFirst().map {
            String($0.split(separator: ",")[3])
        }
    }

    @Test(arguments: [
        ("*", ["Count", "Größe", "Mass", "a/b*"]), ("Test/*", ["Count", "Größe", "Mass", "a/b*"]),
        ("Test/Values/Count", ["Count"]), ("*ount", ["Count"]), ("Count", []),
        ("*/[MG]*", ["Größe", "Mass"]),
        ("*/Values/[!MG]*", ["Count", "a/b*"]), ("*/Gr??e", ["Größe"]), ("*/a%2Fb*", ["a/b*"]),
        (#"*\*"#, ["a/b*"]),
        ("*/[A-D]ount", ["Count"]), ("test/*", []), ("*[", []), ("*/*/*/*", []),
    ]) func `A pattern is one of whole names`(pattern: String, expected: [String]) throws {
        #expect(try names("--name", pattern) == expected)
    }

    @Test func `Of several patterns one is enough`() throws {
        #expect(try names("--name", "*/Mass", "--name", "*/Count") == ["Count", "Mass"])
    }

    @Test func `A category is meant as it is written`() throws {
        #expect(try names("--category", "Test").count == 4)
        #expect(try names("--category", "test").isEmpty)
    }

    @Test func `Types are those of the table`() throws {
        #expect(try names("--type", "double", "--type", "string") == ["Größe", "Mass"])
    }

    @Test(arguments: [
        ("a.c", ["Count"]), ("a.c:7", ["Count"]), ("a.c:8", []), ("*.c", ["Count", "Größe", "Mass"]),
        ("physics/*", ["Mass"]), ("/home/*", ["Count", "Mass"]), ("c", []), ("b.c", ["Größe", "Mass"]),
    ]) func `A location is the end of a path, with the line or without`(
        pattern: String, expected: [String]
    ) throws {
        #expect(try names("--location", pattern) == expected)
    }

    @Test func `All that is said counts`() throws {
        #expect(
            try names("--name", "*s*", "--type", "double", "--location", "*.c", "--category", "Test") == [
                "Mass"
            ])
    }

    @Test func `A file without such tweaks says so`() throws {
        let result = try dump(["--category", "None", object], home: home)
        #expect(result.output == "\(object) (x86_64): no such tweaks\n")
        #expect(result.error.hasSuffix(" tweaks matches\n"))
    }

    @Test(
        arguments: [
            (["--name", "Mass"], "--name '*Mass*'"), (["--name", "*/mass"], "--name 'Test/"),
            (["--category", "test"], "--category 'Test'"),
        ])
    func `If no tweak matches, an option that would is named`(arguments: [String], option: String) throws {
        let result = try dump(arguments + [object], home: home)
        #expect(result.status == 0)
        #expect(result.error.contains(" tweaks matches; \(option)"), "\(result.error)")
        #expect(result.error.hasSuffix(" would\n"))
    }

    @Test func `An unknown type is a wrong command line that lists the types`() throws {
        let result = try dump(["--type", "integer", object], home: home)
        #expect(result.status == 64)
        #expect(result.error.contains("int32"))
    }
}
