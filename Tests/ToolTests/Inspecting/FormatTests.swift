// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `Formats of tweak-dump` {
    private let home: TemporaryDirectory
    private let object: String

    init() throws {
        home = try TemporaryDirectory()
        object = try AssembledTweak.object(
            [
                .integer(
                    "Level", 2, "doc=How \\\"hard\\\", from 1 | 2", "choice=", "label=easy", "choice=",
                    choices: [1, 2]),
                .double("Mass", 1.5, "unit=kg", "at=a.c:1").limits(".double 0", ".double 10"),
                .string("Text", "a\\nb=c"), .action("Run"), .integer("Fixed", 7, "read-only"),
                AssembledTweak(
                    kind: 8, values: [".8byte 0x7ff8000000000000"], name: "Free", attributes: ["optional"]),
            ], home: home)
    }

    private func output(_ format: String) throws -> String {
        let result = try dump(["--format", format, object], home: home)
        #expect(result.status == 0)
        return result.output.replacing(object, with: "object")
    }

    @Test func `CSV has a header and a line for each tweak, in the order of their names`() throws {
        #expect(
            try output("csv") == #"""
                path,category,collection,name,kind,type,value,default,minimum,maximum,step,choices,unit,precision,scale,pair,title,description,group,readOnly,needsRestart,optional,owner,expires,location,element
                object,Test,Values,Fixed,tweak,int64,,7,,,,,,,,,,,,true,,,,,,
                object,Test,Values,Free,tweak,double,,none,,,,,,,,,,,,,,true,,,,
                object,Test,Values,Level,tweak,int64,,2,,,,"1 (easy) | 2",,,,,,"How ""hard"", from 1 | 2",,,,,,,,
                object,Test,Values,Mass,tweak,double,,1.5,0.0,10.0,,,kg,,,,,,,,,,,,a.c:1,
                object,Test,Values,Run,action,action,,,,,,,,,,,,,,,,,,,,
                object,Test,Values,Text,tweak,string,,a\u{a}b=c,,,,,,,,,,,,,,,,,,

                """#)
    }

    @Test func `Markdown is a table in which every text means itself`() throws {
        #expect(
            try output("markdown") == #"""
                ## object

                x86\_64

                | Tweak | Type | Default | Limits | Description | Declared at |
                |---|---|---|---|---|---|
                | Test/Values/Fixed | int64 (read-only) | 7 |  |  |  |
                | Test/Values/Free | double? | none |  |  |  |
                | Test/Values/Level | int64 | 2 | 1 (easy) \| 2 | How "hard", from 1 \| 2 |  |
                | Test/Values/Mass | double | 1.5 kg | 0.0…10.0 |  | a.c:1 |
                | Test/Values/Run | action |  |  |  |  |
                | Test/Values/Text | string | "a\\u{a}b=c" |  |  |  |

                """#)
    }

    @Test func `Overrides are what can be set, with its defaults`() throws {
        #expect(
            try output("overrides") == #"""
                {
                  "Test" : {
                    "Values" : {
                      "Free" : "none",
                      "Level" : 2,
                      "Mass" : 1.5,
                      "Text" : "a\nb=c"
                    }
                  }
                }

                """#)
    }

    @Test func `Overrides are the file that a program keeps`() throws {
        let program = Locations.product("live-program")
        let document = try dump(["--format", "overrides", program], home: home).output
        try home.write("config/tweaks/live-program/overrides.json", document)
        let listed = try run(Locations.product("tweak"), ["list", "--format", "json", program], home: home)
        #expect(listed.status == 0 && listed.error == "", "\(listed.error)")
        #expect(listed.output.contains(#""source" : "override""#) || listed.output.contains(#""source""#))
    }

    @Test func `JSON is in the order of the names, wherever a linker put the records`() throws {
        let turned = try AssembledTweak.object(
            ["C", "A", "B"].map { .integer($0, 1) }, name: "turned", home: home)
        let sorted = try AssembledTweak.object(
            ["A", "B", "C"].map { .integer($0, 1) }, name: "sorted", home: home)
        #expect(try dumpedJSON([turned]).images[0].tweaks == dumpedJSON([sorted]).images[0].tweaks)
    }

    @Test(arguments: ["csv", "markdown", "overrides"])
    func `What is foreign is escaped`(format: String) throws {
        let evil = try AssembledTweak.object(
            [.string("\\033[2J", "\\302\\233", "at=\\r\\n| =1+1")], name: "evil", home: home)
        let output = try dump(["--format", format, evil], home: home).output
        #expect(output.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control })
    }

    @Test(arguments: [
        ["--lint", "--format", "csv"], ["--forbid", "--format", "overrides"], ["--lint", "--forbid"],
        ["--diff"], ["--ignore", "expired"], ["--lint", "--ignore", "nothing"],
        ["--lint", "--ignore", "forbiddenRecord"],
    ])
    func `What does not fit together is a wrong command line`(arguments: [String]) throws {
        let result = try dump(arguments + [object], home: home)
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
    }
}
