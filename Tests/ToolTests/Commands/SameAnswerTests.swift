// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A value that a program with the library, a process without it and the overrides file get in the same way.
@Suite struct `The same words by the library, in memory and in the file` {
    private let live: BareProgram
    private let memory: BareProgram
    private let file: BareProgram

    init() throws {
        (live, memory, file) = (try BareProgram(), try BareProgram(), try BareProgram())
        try live.start(environment: ["LD_PRELOAD": Installation.path("lib/libtweaks.so")])
        try memory.start()
    }

    private static let words: [[String]] = [
        ["Count", "7"], ["Count=+=1"], ["Count+=1"], ["Count", "-=", "2"], ["Count=x*2"], ["Count=99"],
        ["Count=-5"],
        ["Count=max/2"], ["Count=def"], ["Count=+=50%"], ["Count=10%"], ["Count=abc"], ["Count=1e9"],
        ["Count=3.7"],
        ["Count=7/2"], ["Count=0x0a"], ["Count=007"], ["Count+=1", "Count+=1"],
        ["Count+=1", "Count=nothing"],
        ["Count+=1", "Nobody=2"], ["Values/Count=4"], ["bare/values/count=3"], ["Bare/Values/Coumt=1"],
        ["Bare.Values.Count=1"], ["a/b/c/d=1"], ["Values/=1"], ["Ratio=sqrt(2)"], ["Ratio*=2"], ["Ratio=1/0"],
        ["Ratio=nan"], ["Flag=toggle"], ["Flag=toggle", "Flag=toggle"], ["Flag=perhaps"], ["Flag", "off"],
        ["Mode=quick"], ["Mode=idle"], ["Mode="], ["Ink=teal"], ["Ink=#12345678"], ["Ink=nocolour"],
        ["Fixed=2"], ["Act=1"], ["=1"], ["Count"], ["Count+=1", "Ratio+=1", "Flag=on", "Ink=red"],
    ]

    /// The answer without what differs by way: the source, the process, and that nothing is kept.
    private func answer(_ words: [String], _ program: BareProgram) throws -> [String] {
        let name = program.process == nil ? program.path : "\(program.pid)"
        let result = try program.command(["set", name] + words + ["--format", "json"])
        let lines = result.error.split(separator: "\n")
        let warnings = lines.compactMap { line -> String? in
            guard let object = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
            else { return String(line) }
            let kind = object["kind"] as? String
            return kind == "other" ? nil : "\(kind ?? "none") \(object["tweak"] ?? "none")"
        }
        guard result.status == 0 else { return ["\(result.status)"] + warnings }
        let changes = try #require(result.json["changes"] as? [[String: Any]])
        let forms = changes.map { change in
            ["tweak", "oldValue", "newValue", "clampedTo"].map { "\(change[$0] ?? "none")" }.joined(
                separator: " ")
        }
        return warnings + forms
    }

    @Test func `get the same answers`() throws {
        for words in Self.words {
            let expected = try answer(words, live)
            #expect(try answer(words, memory) == expected, "\(words)")
            #expect(try answer(words, file) == expected, "\(words)")
        }
    }
}
