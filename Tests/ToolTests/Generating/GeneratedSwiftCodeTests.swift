// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// Compiles Swift with the library as the package manager built it for these tests.
private func compileSwift(
    _ sources: [String], to program: String, _ flags: [String] = [], home: TemporaryDirectory
) throws {
    let objects = try Example.libraryObjects(linkedInto: Locations.product("tweak-setter"))
    let features = ["ExistentialAny", "InternalImportsByDefault", "MemberImportVisibility"].flatMap {
        ["-enable-upcoming-feature", $0]
    }
    let result = try run(
        Locations.program("swiftc"),
        ["-warnings-as-errors"] + Example.libraryFlags(Locations.product("")) + features + flags + sources
            + objects + ["-lelf", "-lstdc++", "-o", program] + (sanitizer.map { ["-sanitize=\($0)"] } ?? []),
        home: home, environment: ["TMPDIR": home.path])
    guard result.succeeded else { throw CompilationError(description: result.output + result.error) }
}

@Suite struct `Generated Swift` {
    private let generating: Generating

    init() throws { generating = try Generating(accessorsIn: "swift") }

    private func program(_ main: String, _ files: [String], _ flags: [String]) throws -> String {
        let sources =
            [try generating.write("main.swift", "import Tweaks\n" + main)] + files.map(generating.path)
        let program = generating.path("program")
        try compileSwift(sources, to: program, flags, home: generating.home)
        return program
    }

    private static let main = """
        func show() { print(Features.isAwesomeEnabled, Features.isSoundEnabled, Features.isStereoEnabled) }
        print(Features.isHTTPProxyV2Enabled, Features.isABEnabled, Features.is1stEnabled)
        print(Features.isClassEnabled, Features.is功能Enabled, Features.isYBetaEnabled, Features.isInitEnabled)
        show()
        Features.enableStereo()
        show()
        Features.disableAwesome()
        show()
        Features.setAwesomeEnabled(true)
        show()
        Features.resetStereo()
        show()
        Features.disableSound()
        Features.resetAll()
        show()
        print(Features.stereoKey, Features.xBetaKey, Features.tweaks.`self`.key, Features.tweaks.`class`.key)
        print(Features.tweaks.awesome.declaration?.description ?? "")
        """

    @Test(arguments: [
        ["-swift-version", "6", "-DDEBUG"], ["-swift-version", "6", "-O"],
        ["-swift-version", "5", "-default-isolation", "MainActor", "-DFB_TWEAK_ENABLED"],
    ])
    func `Features are read, switched and reset, and sub-features are gated by their parents`(
        flags: [String]
    ) throws {
        let program = try program(Self.main, ["Features.swift"], flags)
        let result = try run(program, home: generating.home)
        #expect(result.error.isEmpty)
        #expect(
            result.output == """
                false true true
                true true false true
                true true false
                true true true
                false false false
                true true true
                true true false
                true true false
                Features/awesome/sound%2Fstereo Features/x/beta Features/self/enabled Features/class/enabled
                Ends */ and /* begins // "quotes" ??/ and \\(x) \\ in lines.

                """)
    }

    @Test func `Commands know the features of a program that does not run, except in a release build`() throws
    {
        var program = try program(
            "print(Features.isStereoEnabled, Features.isAwesomeEnabled)", ["Features.swift"], ["-DDEBUG"])
        let list = try run(Locations.product("tweak"), ["list", program], home: generating.home)
        #expect(list.output.contains("Features / awesome"))
        #expect(list.output.contains("Ends */ and /* begins"))
        for arguments in [["Features/awesome/sound%2Fstereo", "on"], ["Features/功能/enabled", "off"]] {
            let result = try run(
                Locations.product("tweak"), ["set", program] + arguments, home: generating.home)
            #expect(result.succeeded, "\(result.error)")
        }
        #expect(try run(program, home: generating.home).output == "true true\n")
        let lint = try run(
            Locations.product("tweak-dump"), ["--lint", "--ignore", "noDescription", program],
            home: generating.home)
        #expect(lint.status == 0, "\(lint.output)\(lint.error)")

        program = try self.program("print(Features.isStereoEnabled)", ["Features.swift"], ["-O"])
        let dump = try run(Locations.product("tweak-dump"), [program], home: generating.home)
        #expect(dump.output.contains("no tweaks"))
        #expect(try run(program, home: generating.home).output == "true\n")
    }

    @Test func `A feature and a variable of one name are one tweak`() throws {
        try generating.write("t.json", #"{"x": {"beta": {"Title": "T", "Group": "G", "Value": true}}}"#)
        #expect(try generating.generate("accessors", "-l", "t.json", "-a", "Acc").succeeded)
        let program = try program(
            """
            let accessor = Acc()
            accessor.beta = false
            print(Features.isXBetaEnabled)
            """, ["Features.swift", "Acc.swift", "Acc+Constants.swift"], ["-DDEBUG"])
        let result = try run(program, home: generating.home)
        #expect(result.output == "false\n")
        #expect(result.error.isEmpty)
    }

    @Test func `A tweak of another type is reported once, and the accessor has its default`() throws {
        try generating.write("t.json", #"{"f": {"v": {"Title": "T", "Group": "G", "Value": true}}}"#)
        #expect(try generating.generate("accessors", "-l", "t.json", "-a", "Acc").succeeded)
        let program = try program(
            """
            try TweakStore.shared.make("Features", "f", "v", default: 5)
            let accessor = Acc()
            accessor.v = false
            print(accessor.v, accessor.v)
            """, ["Acc.swift", "Acc+Constants.swift"], [])
        let result = try run(program, home: generating.home)
        #expect(result.output == "true true\n")
        #expect(result.errorLines.count == 1)
        #expect(result.error.contains("Features/f/v: it is of type int64, not bool"))
    }

    // MARK: - JustTweak

    private static let tweaks = #"""
        {
          "general": {
            "answer_to_the_universe": {
              "Title": "Answer", "Description": "Two\nlines */ \"q\"", "Group": "G", "Value": 42,
              "GeneratedPropertyName": "meaningOfLife"
            },
            "greet_now": { "Title": "Greet", "Group": "G", "Value": true },
            "secret": { "Title": "Secret", "Group": "G", "Value": "cipher", "Encrypted": true },
            "same": { "Title": "Same", "Group": "G", "Value": "a" }
          },
          "ui_customization": {
            "HTTPProxy_v2": { "Title": "P", "Group": "G", "Value": 1.0 },
            "a-b": { "Title": "AB", "Group": "G", "Value": -5 },
            "class": { "Title": "Class", "Group": "G", "Value": true },
            "1st": { "Title": "1st", "Group": "G", "Value": 1e-7 },
            "名字": { "Title": "", "Group": "", "Value": "say \"\\(x)\"\n\u202e你好" },
            "same": { "Title": "Same", "Group": "G", "Value": "b", "GeneratedPropertyName": "otherSame" }
          }
        }
        """#

    @Test(arguments: [["-a", "Acc"], ["-c", "conf"]])
    func `JustTweak: an accessor and its constants, with properties of the right types`(name: [String]) throws
    {
        try generating.write("conf/config.json", #"{"accessorName": "Acc"}"#)
        try generating.write("LocalTweaks.json", Self.tweaks)
        let result = try run(
            Locations.product("tweak"),
            ["generate", "accessors", "-l", "LocalTweaks.json", "-o", "."] + name, home: generating.home,
            in: generating.directory)
        #expect(result.output == "Acc.swift: written\nAcc+Constants.swift: written\n", "\(result.error)")
        #expect(
            try generating.text("Acc+Constants.swift") == """
                // Generated by tweak generate from LocalTweaks.json. Changes in this file are lost.
                nonisolated extension Acc {
                    enum Features {
                        static let general = "general"
                        static let uiCustomization = "ui_customization"
                    }

                    enum Variables {
                        static let _1st = "1st"
                        static let aB = "a-b"
                        static let answerToTheUniverse = "answer_to_the_universe"
                        static let `class` = "class"
                        static let greetNow = "greet_now"
                        static let hTTPProxyV2 = "HTTPProxy_v2"
                        static let same = "same"
                        static let secret = "secret"
                        static let 名字 = "名字"
                    }
                }

                """)
        let accessor = try generating.text("Acc.swift")
        #expect(
            accessor.contains(
                """
                    /// Answer
                    ///
                    /// Two
                    /// lines */ "q"
                    var meaningOfLife: Int {
                        get { tweaks.meaningOfLife.value }
                        nonmutating set { tweaks.meaningOfLife.value = newValue }
                    }
                """))
        #expect(!accessor.contains("cipher"))

        let program = try program(
            """
            let a = Acc()
            let types: (Int, Bool, String, String, Double, Int, Double, String, String) = (
                a.meaningOfLife, a.greetNow, a.secret, a.same, a.hTTPProxyV2, a.aB, a._1st, a.名字, a.otherSame)
            print(types, a.class)
            a.same = "c"
            a.meaningOfLife += 1
            print(a.same, a.otherSame, a.meaningOfLife, a.tweaks.aB.key)
            """, ["Acc.swift", "Acc+Constants.swift"], ["-DDEBUG"])
        let output = try run(program, home: generating.home)
        #expect(output.error.isEmpty)
        #expect(
            output.output == """
                (42, true, "", "a", 1.0, -5, 1e-07, "say \\"\\\\(x)\\"\\n\u{202E}你好", "b") true
                c b 43 Features/ui_customization/a-b

                """)
    }

    @Test(arguments: ["-DDEBUG", "-O"])
    func `JustTweak: title, description and group are those of the file`(flag: String) throws {
        try generating.write("LocalTweaks.json", Self.tweaks)
        #expect(try generating.generate("accessors", "-l", "LocalTweaks.json", "-a", "Acc").succeeded)
        let program = try program(
            """
            if let tweak = Acc().tweaks.meaningOfLife.declaration {
                print(tweak.title ?? "", tweak.description ?? "", tweak.group ?? "")
            }
            """, ["Acc.swift", "Acc+Constants.swift"], [flag])
        #expect(try run(program, home: generating.home).output == "Answer Two lines */ \"q\" G\n")
        let listed = try run(
            Locations.product("tweak"), ["list", "--by", "group", program], home: generating.home)
        #expect(listed.output.contains(" G\n") == (flag == "-DDEBUG"), "\(listed.output)")
    }

    @Test
    func
        `JustTweak: a property is called GeneratedPropertyName, or the variable in camel case, also for a-b`()
        throws
    {
        try generating.write("conf/config.json", #"{"accessorName": "Acc"}"#)
        try generating.write("LocalTweaks.json", Self.tweaks)
        let result = try generating.generate(
            "accessors", "--local-tweaks-file-path", "LocalTweaks.json", "--output-folder", "out",
            "--configuration-folder", "conf")
        #expect(result.succeeded, "\(result.error)")
        let accessor = try generating.text("out/Acc.swift")
        for property in [
            "meaningOfLife: Int", "greetNow: Bool", "hTTPProxyV2: Double", "aB: Int", "_1st: Double",
            "`class`: Bool",
            "名字: String", "same: String", "otherSame: String",
        ] {
            #expect(accessor.contains("    var \(property) {\n"), "\(property)")
        }
    }

    @Test func `JustTweak: files are rewritten only if different`() throws {
        try generating.write("t.json", Self.tweaks)
        let generate = {
            try generating.generate("accessors", "-l", "t.json", "--output-folder", "out", "-a", "Acc")
        }
        #expect(try generate().output == "out/Acc.swift: written\nout/Acc+Constants.swift: written\n")
        #expect(try generate().output == "out/Acc.swift: unchanged\nout/Acc+Constants.swift: unchanged\n")
        try generating.write("t.json", Self.tweaks.replacing("42", with: "43"))
        #expect(try generate().output == "out/Acc.swift: written\nout/Acc+Constants.swift: unchanged\n")
    }

    @Test func `JustTweak: a property may be called like a keyword`() throws {
        let words = [
            "Any", "Protocol", "Self", "Type", "as", "await", "case", "class", "default", "do", "extension",
            "false",
            "func", "get", "if", "in", "init", "is", "let", "nil", "open", "repeat", "self", "set", "static",
            "store",
            "subscript", "super", "throws", "true", "try", "value", "var", "where",
        ]
        let variables = words.enumerated().map { index, word in
            #""v\#(index)": {"Title": "T", "Group": "G", "Value": 1, "GeneratedPropertyName": "\#(word)"}"#
        }
        try generating.write("t.json", "{\"f\": {\(variables.joined(separator: ", "))}}")
        #expect(try generating.generate("accessors", "-l", "t.json", "-a", "Acc").succeeded)
        let sum = words.map { "a.`\($0)`" }
        let program = try program(
            "let a = Acc()\nlet all: [Int] = [\(sum.joined(separator: ", "))]\nprint(all.count)",
            ["Acc.swift", "Acc+Constants.swift"], ["-DDEBUG"])
        #expect(try run(program, home: generating.home).output == "\(words.count)\n")
    }
}
