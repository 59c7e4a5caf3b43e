// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `The command tweak generate` {
    private static let features = """
        {
          "default": {
            "first_feature": {
              "enabled": true, "description": "The first",
              "part": { "enabled": false }
            },
            "HTTPProxy_v2": { "enabled": false }
          },
          "beta": { "inherits_from": "default", "HTTPProxy_v2": { "enabled": true } }
        }
        """
    private let generating: Generating

    init() throws { generating = try Generating(features: Self.features) }

    @Test func `The commands are plist, settings and category, and accessors for C and Swift`() throws {
        for (command, files) in [
            ("plist", ["Features.plist"]), ("accessors", ["Features.h", "Features.swift"]),
            ("settings", ["Settings.bundle/Root.plist", "Settings.bundle/Features.plist"]),
            ("category", ["FTSFlipTheSwitch+Features.h", "FTSFlipTheSwitch+Features.m"]),
        ] {
            let result = try generating.generate(command)
            #expect(result.output == files.map { "\($0): written\n" }.joined(), "\(result.error)")
        }
    }

    // MARK: - Input and output

    @Test
    func `-i is a file, or a directory that holds features.json, and the default is the working directory`()
        throws
    {
        try generating.write("in/features.json", Self.features)
        try generating.write("other.json", Self.features)
        for input in [[], ["-i", "in"], ["--input", "in/"], ["-i", "other.json"]] {
            let result = try run(
                Locations.product("tweak"), ["generate", "plist"] + input, home: generating.home,
                in: generating.directory)
            #expect(result.status == 0, "\(result.error)")
            #expect(try generating.propertyList("Features.plist")?.count == 3)
            try FileManager.default.removeItem(atPath: generating.path("Features.plist"))
        }
    }

    @Test func `-n is the environment, and the default is default`() throws {
        for (arguments, isEnabled) in [
            ([], false), (["-n", "beta"], true), (["--environment", "beta"], true),
        ] {
            _ = try run(
                Locations.product("tweak"), ["generate", "plist"] + arguments, home: generating.home,
                in: generating.directory)
            let proxy = try generating.propertyList("Features.plist")?["HTTPProxy_v2"] as? [String: Bool]
            #expect(proxy == ["enabled": isEnabled])
        }
    }

    @Test func `-o is a file or a folder, which is made`() throws {
        for (output, file) in [
            ("out", "out/Features.plist"), ("a/b/", "a/b/Features.plist"), ("my.plist", "my.plist"),
        ] {
            #expect(try generating.generate("plist", "-o", output).output == "\(file): written\n")
            #expect(try generating.propertyList(file)?.count == 3)
            #expect(
                try generating.generate("plist", "--output", output).output == "\(file): unchanged\n")
        }
    }

    @Test func `What is there already is left alone`() throws {
        #expect(
            try generating.generate("accessors").output == "Features.h: written\nFeatures.swift: written\n")
        let (header, time) = (try generating.text("Features.h"), try generating.changeTime("Features.h"))
        try generating.write("Features.swift", "other")
        #expect(
            try generating.generate("accessors").output == "Features.h: unchanged\nFeatures.swift: written\n")
        #expect(try generating.text("Features.h") == header)
        #expect(try generating.changeTime("Features.h") == time)
        #expect(try generating.text("Features.swift").contains("nonisolated enum Features"))
        #expect(try generating.files() == ["Features.h", "Features.swift", "features.json"])
    }

    @Test func `Whatever the order of what is in the files, the same is made`() throws {
        let tweaks = (
            #"{"f": {"a-b": {"Title": "T", "Group": "G", "Value": 1}, "v": {"Group": "H", "Title": "U", "Value": ""}}, "#
                + #""g": {"w": {"Title": "T", "Group": "G", "Value": true}}}"#,
            #"{"g": {"w": {"Value": true, "Group": "G", "Title": "T"}}, "#
                + #""f": {"v": {"Value": "", "Title": "U", "Group": "H"}, "a-b": {"Title": "T", "Value": 1, "Group": "G"}}}"#
        )
        let commands = [
            ["plist"], ["settings"], ["accessors"], ["category"],
            ["accessors", "-l", "t.json", "-a", "Accessor"],
        ]
        let generate = { (command: [String]) in
            try run(
                Locations.product("tweak"), ["generate"] + command, home: generating.home,
                in: generating.directory)
        }
        try generating.write("t.json", tweaks.0)
        for command in commands { #expect(try generate(command).succeeded) }
        try generating.write("t.json", tweaks.1)
        try generating.write(
            "features.json",
            """
            {
              "beta": { "HTTPProxy_v2": { "enabled": true }, "inherits_from": "default" },
              "default": {
                "HTTPProxy_v2": { "enabled": false },
                "first_feature": { "part": { "enabled": false }, "description": "The first", "enabled": true }
              }
            }
            """)
        for command in commands {
            let result = try generate(command)
            #expect(!result.output.contains("written"), "\(result.output)")
            #expect(result.output.contains("unchanged"), "\(result.error)")
        }
    }

    @Test func `A file keeps its mode, and a link to it stays one`() throws {
        try generating.write("elsewhere/Features.plist", "old")
        try FileManager.default.setAttributes(
            [.posixPermissions: 0o600], ofItemAtPath: generating.path("elsewhere/Features.plist"))
        try FileManager.default.createSymbolicLink(
            atPath: generating.path("Features.plist"), withDestinationPath: "elsewhere/Features.plist")
        #expect(try generating.generate("plist").succeeded)
        #expect(
            try FileManager.default.destinationOfSymbolicLink(atPath: generating.path("Features.plist"))
                == "elsewhere/Features.plist")
        let attributes = try FileManager.default.attributesOfItem(
            atPath: generating.path("elsewhere/Features.plist"))
        #expect(attributes[.posixPermissions] as? Int == 0o600)
        #expect(try generating.files().filter { $0.contains("tmp") } == [])
    }

    // MARK: - Formats

    @Test func `plist: Features.plist has name, description and enabled, with sub-features flattened`() throws
    {
        #expect(try generating.generate("plist").succeeded)
        #expect(
            try generating.propertyList("Features.plist") == [
                "first_feature": ["enabled": true, "description": "The first"] as NSDictionary,
                "part": ["enabled": false], "HTTPProxy_v2": ["enabled": false],
            ])
    }

    @Test func `settings: Features.plist has one toggle for each top-level feature`() throws {
        let result = try generating.generate("settings")
        #expect(
            result.output
                == "Settings.bundle/Root.plist: written\nSettings.bundle/Features.plist: written\n")
        #expect(
            try generating.propertyList("Settings.bundle/Features.plist") == [
                "PreferenceSpecifiers": [
                    [
                        "Key": "FTS_FEATURE_HTTPProxy_v2", "Title": "HTTPProxy v2", "DefaultValue": false,
                        "Type": "PSToggleSwitchSpecifier",
                    ],
                    [
                        "Key": "FTS_FEATURE_first_feature", "Title": "First feature", "DefaultValue": true,
                        "Type": "PSToggleSwitchSpecifier",
                    ],
                ] as NSArray
            ])
    }

    @Test(arguments: [
        nil, "<dict/>", "<dict></dict>", "<dict><key>PreferenceSpecifiers</key><array/></dict>",
        "<dict><key>PreferenceSpecifiers</key><array></array></dict>",
    ])
    func `settings: Root.plist gets, once, a group and a child pane titled Features`(root: String?) throws {
        if let root {
            try generating.write(
                "Settings.bundle/Root.plist", "<?xml version=\"1.0\"?><plist>\(root)</plist>")
        }
        for _ in 1...2 {
            #expect(try generating.generate("settings").succeeded)
            #expect(
                try generating.propertyList("Settings.bundle/Root.plist")
                    == [
                        "PreferenceSpecifiers": [
                            ["Type": "PSGroupSpecifier", "Title": "Features"],
                            ["Type": "PSChildPaneSpecifier", "Title": "Features", "File": "Features"],
                        ] as NSArray
                    ])
        }
    }

    @Test func `settings: Root.plist keeps what it has, byte for byte`() throws {
        let before = """
            <?xml version="1.0" encoding="UTF-8"?>
            <plist version="1.0">
            <!-- <array> ours -->
            <dict>
            \t<key>StringsTable</key>
            \t<string>Root</string>
            \t<key>PreferenceSpecifiers</key>
            \t<array>
            \t\t<dict><key>Type</key><string>PSSliderSpecifier</string><key>Values</key><array/>
            \t\t\t<key>MinimumValue</key><real>1.0</real></dict>
            \t\t<dict><key>Title</key><string>Features</string><key>Type</key><string>PSGroupSpecifier</string></dict>

            """
        let after = """
            \t</array>
            \t<key>Later</key>
            \t<array><date>2026-01-01T00:00:00Z</date></array>
            </dict>
            </plist>

            """
        try generating.write("Settings.bundle/Root.plist", before + after)
        let pane = """
            \t\t<dict>
            \t\t\t<key>File</key>
            \t\t\t<string>Features</string>
            \t\t\t<key>Title</key>
            \t\t\t<string>Features</string>
            \t\t\t<key>Type</key>
            \t\t\t<string>PSChildPaneSpecifier</string>
            \t\t</dict>

            """
        for _ in 1...2 {
            #expect(try generating.generate("settings").succeeded)
            #expect(try generating.text("Settings.bundle/Root.plist") == before + pane + after)
        }
    }

    @Test func `category and accessors: descriptions are comments`() throws {
        for command in ["category", "accessors"] { #expect(try generating.generate(command).succeeded) }
        for (file, comment) in [
            ("Features.h", "/* The first */\nstatic inline bool Features_isFirstFeatureEnabled"),
            ("Features.swift", "    /// The first\n    static var isFirstFeatureEnabled"),
            ("FTSFlipTheSwitch+Features.h", "/* The first */\n+ (BOOL)isFirstFeatureEnabled;"),
        ] {
            #expect(try generating.text(file).contains(comment), "\(file)")
        }
    }

    // MARK: - .flip.yml

    @Test func `.flip.yml in the working directory gives defaults, and the command line wins`() throws {
        try generating.write("in/features.json", Self.features)
        try generating.write(
            ".flip.yml",
            """
            # Where things are.
            input: in
            environment: 'beta'
            plist_output: out/my.plist
            settings_output: settings
            category_output: "code"
            """)
        try FileManager.default.removeItem(atPath: generating.path("features.json"))
        #expect(try generating.generate("plist").output == "out/my.plist: written\n")
        let proxy = try generating.propertyList("out/my.plist")?["HTTPProxy_v2"] as? [String: Bool]
        #expect(proxy == ["enabled": true])
        #expect(try generating.generate("settings").output.hasPrefix("settings/Settings.bundle/Root.plist: "))
        #expect(try generating.generate("accessors").output.hasPrefix("code/Features.h: written"))
        #expect(try generating.generate("category").output.hasPrefix("code/FTSFlipTheSwitch+Features.h: "))

        #expect(
            try generating.generate("plist", "-i", "in", "-n", "default", "-o", "here").output
                == "here/Features.plist: written\n")
        let other = try generating.propertyList("here/Features.plist")?["HTTPProxy_v2"] as? [String: Bool]
        #expect(other == ["enabled": false])
    }

    @Test func `A name in .flip.yml that is not known is a warning`() throws {
        try generating.write(".flip.yml", "inputs: x\nenvironment: beta\n")
        let result = try generating.generate("plist")
        #expect(result.succeeded)
        #expect(
            result.error.hasPrefix(
                "tweak: warning: .flip.yml: \"inputs\" in line 1 is unknown; the known names are input, "))
    }

    @Test(arguments: [
        ("- a", "names and values are expected"), ("input: [a]", "input: a text is expected"),
        ("input: {", "it is not YAML"), ("input:", "input: a text is expected"), ("\u{0}", "it is not YAML"),
        ("input: a\ninput: b", "input: it is repeated"), ("a:\n\tb: 1", "it is not YAML: line 2: "),
        (String(repeating: "[", count: 10_000), "it is not YAML"),
        (String(repeating: "[", count: 100_000), "it has 100000 bytes, and at most 16384 are read"),
    ])
    func `A .flip.yml with a mistake is an error`(yaml: String, reason: String) throws {
        try generating.write(".flip.yml", yaml)
        let result = try generating.generate("plist")
        #expect(result.status == 65)
        #expect(result.error.hasPrefix("tweak: .flip.yml: \(reason)"), "\(result.error.prefix(200))")
        #expect(try generating.files() == [".flip.yml", "features.json"])
    }

    @Test func `An empty .flip.yml is none`() throws {
        try generating.write(".flip.yml", "# nothing\n")
        #expect(try generating.generate("plist").succeeded)
    }
}
