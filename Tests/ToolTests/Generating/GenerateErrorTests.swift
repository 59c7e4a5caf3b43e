// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `Failures of tweak generate` {
    private let generating: Generating

    init() throws { generating = try Generating() }

    private static let tweaks = #"{"f": {"v": {"Title": "T", "Group": "G", "Value": 1}}}"#

    @Test(arguments: [
        ["bogus"], ["plist", "extra"], ["plist", "--bogus"], ["plist", "-n"],
        ["accessors", "--language", "cobol"],
        ["accessors", "-a", "1st"], ["accessors", "-a", "class"], ["accessors", "-a", "a b"],
        ["accessors", "-c", "folder"], ["accessors", "-l", "t.json"],
        ["accessors", "-l", "t.json", "-a", "A", "-c", "folder"],
        ["accessors", "-l", "t.json", "-a", "A", "-i", "features.json"],
        ["accessors", "-l", "t.json", "-a", "A", "--language", "swift"],
    ])
    func `A wrong command line, also an unknown command, ends with status 64`(arguments: [String]) throws {
        let result = try run(
            Locations.product("tweak"), ["generate"] + arguments, home: generating.home,
            in: generating.directory)
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(!result.error.isEmpty)
        #expect(try generating.files().isEmpty)
    }

    @Test(arguments: ["plist", "settings", "accessors"])
    func `A mistake in the features ends with status 65, names the place, and nothing is written`(
        command: String
    ) throws {
        try generating.write("features.json", #"{"default": {"a": {"enabled": "yes"}}}"#)
        let result = try generating.generate(command)
        #expect(result.status == 65)
        #expect(
            result.error
                == "tweak: features.json: default.a.enabled: got \"yes\", expected true or false\n"
        )
        #expect(try generating.files() == ["features.json"])
    }

    @Test func `An unknown environment is an error that names the choices`() throws {
        try generating.write("features.json", #"{"default": {}, "beta": {}}"#)
        let result = try generating.generate("accessors", "-n", "gamma")
        #expect(result.status == 65)
        #expect(
            result.error == "tweak: features.json: unknown environment \"gamma\"; it has beta, default\n")
    }

    @Test(arguments: [["-i", "none.json"], ["-i", "folder"], []])
    func `A missing input ends with status 66, names the file, and nothing is written`(arguments: [String])
        throws
    {
        try FileManager.default.createDirectory(
            atPath: generating.path("folder"), withIntermediateDirectories: true)
        for command in ["plist", "settings", "accessors"] {
            let result = try run(
                Locations.product("tweak"), ["generate", command] + arguments, home: generating.home,
                in: generating.directory)
            #expect(result.status == 66)
            #expect(result.error.contains(": No such file or directory"))
        }
        #expect(try generating.files() == ["folder"])
    }

    @Test func `More than 16 MiB are not read`() throws {
        try generating.write("features.json", "")
        let file = try FileHandle(forWritingTo: URL(fileURLWithPath: generating.path("features.json")))
        try file.truncate(atOffset: 16 << 20 + 1)
        let result = try generating.generate("plist")
        #expect(result.status == 65)
    }

    @Test func `An output that cannot be created ends with status 73, and no file is written`() throws {
        try generating.write("features.json", #"{"default": {"a": {"enabled": true}}}"#)
        try generating.write("file", "")
        let before = try generating.files()
        for output in ["file/x", "/proc/none"] {
            for command in ["plist", "settings", "accessors"] {
                let result = try generating.generate(command, "-o", output)
                #expect(result.status == 73, "\(command) \(output)")
                #expect(result.output.isEmpty)
                // Only root opens a file that stands where a folder should, to see whose links lead there.
                let actions = ["make directory", "open"]
                #expect(
                    actions.contains { result.error.hasPrefix("tweak: cannot \($0) \(output)") },
                    "\(result.error)")
            }
        }
        #expect(try generating.files() == before)
    }

    @Test func `If the second of two files cannot be written, the first stays as it was`() throws {
        try generating.write("features.json", #"{"default": {"a": {"enabled": true}}}"#)
        try generating.write("Features.h", "old")
        try FileManager.default.createDirectory(
            atPath: generating.path("Features.swift"), withIntermediateDirectories: true)
        let result = try generating.generate("accessors")
        #expect(result.status == 73)
        #expect(result.error == "tweak: cannot replace Features.swift: it is not a regular file\n")
        #expect(try generating.text("Features.h") == "old")
        #expect(try generating.files() == ["Features.h", "Features.swift", "features.json"])
    }

    @Test(arguments: [
        (
            #"{"default": {"all": {"enabled": true}}}"#,
            "default.all: code would have resetAll for it, and for all features"
        ),
        (
            #"{"default": {"a_b": {"enabled": true}, "aB": {"enabled": true}}}"#,
            "default.a_b: code would have isABEnabled for it, and for aB too; rename it"
        ),
        (
            #"{"default": {"enable_foo": {"enabled": true}, "foo_key": {"enabled": true}}}"#,
            "default.foo_key: code would have enableFooKey for it, and for enable_foo too"
        ),
        (#"{"default": {"-": {"enabled": true}}}"#, "default.-: it has no letter or digit"),
    ])
    func `Features that code cannot tell apart are an error`(features: String, message: String) throws {
        try generating.write("features.json", features)
        let result = try generating.generate("accessors")
        #expect(result.status == 65)
        #expect(result.error.hasPrefix("tweak: features.json: \(message)"), "\(result.error)")
        #expect(try generating.files() == ["features.json"])
    }

    @Test(arguments: [
        ("<plist><array/></plist>", "got an array, expected a dictionary"),
        (
            "<plist><dict><key>PreferenceSpecifiers</key><string>x</string></dict></plist>",
            "PreferenceSpecifiers: got \"x\", expected an array"
        ),
        ("<plist><dict>", "it is not a property list: "),
        ("bplist00", "it is a binary property list; one in XML is needed"),
        (
            "<plist><dict><key>Preference&#83;pecifiers</key><array/></dict></plist>",
            "the end of its array PreferenceSpecifiers was not found"
        ),
    ])
    func `A Root.plist that is none is an error, and stays`(root: String, message: String) throws {
        try generating.write("features.json", #"{"default": {"a": {"enabled": true}}}"#)
        try generating.write("Settings.bundle/Root.plist", root)
        let result = try generating.generate("settings")
        #expect(result.status == 65)
        #expect(result.error.hasPrefix("tweak: Settings.bundle/Root.plist: \(message)"), "\(result.error)")
        #expect(try generating.text("Settings.bundle/Root.plist") == root)
        #expect(try generating.files().count == 3)
    }

    // MARK: - JustTweak

    @Test(arguments: [
        ("{", "it is not JSON: line 1, column 2: "),
        (#"{"f": {"v": {"Group": "G", "Value": 1}}}"#, "f.v: \"Title\" is missing"),
        (#"{"f": {"v": {"Title": "T", "Value": 1}}}"#, "f.v: \"Group\" is missing"),
        (#"{"f": {"v": {"Title": "T", "Group": "G"}}}"#, "f.v: \"Value\" is missing"),
        (#"{"f": {"v": {"Title": "T", "Group": "G", "Value": []}}}"#, "f.v.Value: got an array"),
        (
            #"{"f": {"v": {"Title": "T", "Group": "G", "Value": 18446744073709551615}}}"#,
            "f.v: 18446744073709551615 is not a value of Bool, Int, Double or String"
        ),
        (
            #"{"f": {"v": {"Title": "T", "Group": "G", "Value": 1, "GeneratedPropertyName": "a b"}}}"#,
            "f.v: \"a b\" cannot be a property"
        ),
        (
            #"{"f": {"v": {"Title": "T", "Group": "G", "Value": 1, "GeneratedPropertyName": "tweaks"}}}"#,
            "f.v: \"tweaks\" cannot be a property"
        ),
        (
            #"{"f": {"a_b": {"Title": "T", "Group": "G", "Value": 1}, "aB": {"Title": "T", "Group": "G", "Value": 1}}}"#,
            "f.a_b: its property would be aB, and that of f.aB too; give one another \"GeneratedPropertyName\""
        ),
        (
            #"{"f": {"v": {"Title": "T", "Group": "G", "Value": 1}}, "g": {"v": {"Title": "T", "Group": "G", "Value": 1}}}"#,
            "g.v: its property would be v, and that of f.v too"
        ),
        (
            #"{"f_g": {"v": {"Title": "T", "Group": "G", "Value": 1}}, "fG": {"w": {"Title": "T", "Group": "G", "Value": 1}}}"#,
            "f_g: its constant would be Features.fG, and that of \"fG\" too; rename one"
        ),
        (#"{"f": {"-": {"Title": "T", "Group": "G", "Value": 1}}}"#, "f.-: \"\" cannot be a property"),
    ])
    func
        `Errors for bad JSON, missing Title, Group or Value, unsupported type, duplicate property name, also by camel case`(
            tweaks: String, message: String
        ) throws
    {
        try generating.write("t.json", tweaks)
        let result = try generating.generate("accessors", "-l", "t.json", "-a", "A")
        #expect(result.status == 65)
        #expect(result.error.hasPrefix("tweak: t.json: \(message)"), "\(result.error)")
        #expect(try generating.files() == ["t.json"])
    }

    @Test(
        arguments: [
            ("{}", 65, "conf/config.json: \"accessorName\" is missing"),
            (
                #"{"accessorName": "1st"}"#, 65,
                "conf/config.json: accessorName: \"1st\" cannot be the name of an accessor"
            ),
            (nil, 66, "conf/config.json: No such file or directory"),
        ] as [(String?, Int32, String)])
    func `A configuration without a usable name is an error`(
        configuration: String?, status: Int32, message: String
    ) throws {
        try generating.write("t.json", Self.tweaks)
        if let configuration { try generating.write("conf/config.json", configuration) }
        let result = try generating.generate("accessors", "-l", "t.json", "-c", "conf")
        #expect(result.status == status)
        #expect(result.error.hasPrefix("tweak: \(message)"), "\(result.error)")
    }
}
