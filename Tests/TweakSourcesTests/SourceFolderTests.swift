// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakRecords
import TweakSources

/// Several copies of a source, of which one is that of the program.
@Suite struct `The file of a place` {
    private let sources: BakedSources
    private var home: TemporaryDirectory { sources.home }
    private static let key = TweakKey("A", "B", "C")

    init() throws { sources = try BakedSources() }

    private static func text(_ name: String = "C") -> String {
        "double d = FBTweakValue(\"A\", \"B\", \"\(name)\", 1.0);\n"
    }

    /// Bakes 2.0 into a tweak.
    ///
    /// - Parameters:
    ///   - place: The place in the record, and the folder of its unit.
    ///   - working: The working directory.
    /// - Returns: The files that changed, and the reasons why the tweak stays.
    private func baked(
        _ places: [(at: String, in: String?)], compiled: [String] = [], from given: String? = nil,
        working: String = "working", program: String? = nil, within limit: String? = nil
    ) throws -> (changed: [String], reasons: [String]) {
        try FileManager.default.createDirectory(
            atPath: home("working"), withIntermediateDirectories: true)
        let folders = SourceFolders(
            given: given.map { home($0) }, compiled: compiled.map { home($0) }, working: home(working),
            program: program.map { home($0) }, within: limit.map { home($0) })
        var baking = SourceBaking(folders: folders, isWriting: true)
        let declarations = places.map { place in
            CompiledDeclaration(
                BakedSources.tweak(.double, 1.0, at: place.at, Self.key),
                in: place.in.map { $0.isEmpty ? "." : home($0) })
        }
        baking.add(declarations) { (tweak) throws(TweakValueError) in try tweak.admit(2.0) }
        try baking.write()
        let start = home.path + "/"
        return (
            baking.changes.map { String($0.path.dropFirst(start.count)) }.sorted(),
            baking.staying.map { $0.reason.replacing(start, with: "") }
        )
    }

    @Test func `It is that of the unit of the record`() throws {
        for folder in ["a", "b"] { try home.write("\(folder)/util.c", Self.text()) }
        let one = try baked([("util.c:1", "a")], compiled: ["b", "a"])
        #expect(one.changed == ["a/util.c"] && one.reasons == [])
        try home.write("a/util.c", Self.text())
        let both = try baked([("util.c:1", "a"), ("util.c:1", "b")], compiled: ["a", "b"])
        #expect(both.changed == ["a/util.c", "b/util.c"] && both.reasons == [])
    }

    @Test func `Of units that are unknown it is the one file that declares the tweak`() throws {
        try home.write("a/util.c", Self.text("D"))
        try home.write("b/util.c", Self.text())
        #expect(try baked([("util.c:1", nil)], compiled: ["a", "b"]).changed == ["b/util.c"])
    }

    private static let doubt =
        "it may be declared in a/util.c or in b/util.c; give the source folder with --from"

    @Test func `If several may be it, none is changed`() throws {
        for folder in ["a", "b"] { try home.write("\(folder)/util.c", Self.text()) }
        let unknown = try baked([("util.c:1", nil)], compiled: ["a", "b"])
        #expect(unknown.changed == [] && unknown.reasons == [Self.doubt])
        // Another copy of the sources is the working directory, or has the program.
        for (working, program) in [("b", nil), ("working", "b/build/program")] {
            let result = try baked([("util.c:1", "a")], compiled: ["a"], working: working, program: program)
            #expect(result.changed == [] && result.reasons == [Self.doubt])
            let chosen = try baked(
                [("util.c:1", "a")], compiled: ["a"], from: "b", working: working, program: program)
            #expect(chosen.changed == ["b/util.c"])
            try home.write("b/util.c", Self.text())
        }
    }

    /// A prefix map of the compiler makes its working directory relative, or that is gone.
    @Test(arguments: [(in: "", working: "a"), (in: "gone", working: "a"), (in: "a", working: "working")])
    func `A macro in a header may be that of another copy, too`(folder: String, working: String) throws {
        for copy in ["a", "b"] {
            try home.write("\(copy)/limits.h", "#define LIMIT FBTweakValue(\"A\", \"B\", \"C\", 1.0)\n")
            try home.write("\(copy)/util.c", "#include \"limits.h\"\ndouble d = LIMIT;\n")
        }
        func baked(_ program: String, from given: String? = nil) throws -> (
            changed: [String], reasons: [String]
        ) {
            try self.baked(
                [("util.c:2", folder)], compiled: folder == "a" ? ["a"] : [], from: given, working: working,
                program: program)
        }
        let doubtful = try baked("b/build/program")
        #expect(doubtful.changed == [] && doubtful.reasons == [Self.doubt])
        #expect(try baked("b/build/program", from: "b").changed == ["b/limits.h"])
        #expect(try baked("a/build/program").changed == ["a/limits.h"])
        // The program is in a folder with another file of that name.
        try home.write("c/util.c", "double e;\n")
        try home.write("a/limits.h", "#define LIMIT FBTweakValue(\"A\", \"B\", \"C\", 1.0)\n")
        #expect(try baked("c/program").changed == ["a/limits.h"])
    }

    @Test func `A file of the same name without the tweak raises no doubt`() throws {
        try home.write("a/util.c", Self.text())
        try home.write("b/util.c", Self.text("D"))
        let result = try baked([("util.c:1", "a")], compiled: ["a"], working: "b", program: "b/program")
        #expect(result.changed == ["a/util.c"] && result.reasons == [])
    }

    @Test func `In the folder of sources that were compiled elsewhere it is the longest end of the path`()
        throws
    {
        try home.write("top/util.c", Self.text())
        try home.write("top/a/util.c", Self.text())
        #expect(try baked([("util.c:1", "gone/a")], from: "top").changed == ["top/a/util.c"])
        #expect(try baked([("../b/util.c:1", "gone/a")], from: "top").changed == ["top/util.c"])
    }

    @Test func `It is below the working directory, a folder of the compiler or a named one`() throws {
        let path = try home.write("elsewhere/util.c", Self.text())
        let refused = try baked([(path + ":1", nil)])
        #expect(
            refused.reasons == [
                "the file elsewhere/util.c is neither below the working directory nor below one where the compiler ran; "
                    + "name its folder with --from"
            ])
        #expect(try baked([("../elsewhere/util.c:1", nil)]).changed == [])
        #expect(try baked([(path + ":1", nil)], working: "elsewhere").changed == ["elsewhere/util.c"])
        try home.write("elsewhere/util.c", Self.text())
        #expect(try baked([(path + ":1", nil)], compiled: ["elsewhere"]).changed == ["elsewhere/util.c"])
        try home.write("elsewhere/util.c", Self.text())
        #expect(try baked([(path + ":1", nil)], from: "elsewhere").changed == ["elsewhere/util.c"])
        try home.write("elsewhere/util.c", Self.text())
        #expect(try baked([(path + ":1", nil)], within: "working").changed == [])
        #expect(try baked([(path + ":1", nil)], within: "elsewhere").changed == ["elsewhere/util.c"])
    }

    @Test(arguments: [
        ".bashrc", ".config/app.c", "a/.hidden.c", "notes.txt", "Makefile", "run.sh", "page.html", "c", ".c",
    ])
    func `Hidden files and those that are no sources are never changed`(name: String) throws {
        try home.write("working/" + name, Self.text())
        let result = try baked([("\(name):1", nil)])
        #expect(result.changed == [] && result.reasons.count == 1)
        #expect(try sources.text("working/" + name) == Self.text())
    }

    @Test(arguments: ["a.c", "a.H", "a.cc", "a.CPP", "a.hxx", "part.inc", "list.def", "x/y.tcc"])
    func `Sources and headers have many names`(name: String) throws {
        try home.write("working/" + name, Self.text())
        #expect(try baked([("\(name):1", nil)]).changed == ["working/" + name])
    }
}
