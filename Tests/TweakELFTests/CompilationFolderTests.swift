// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakCompilation
import TweakELF
import TweakRecords

@Suite struct `The folders where the compiler ran` {
    private let home: TemporaryDirectory

    init() throws {
        home = try TemporaryDirectory()
        try home.write("one/main.c", "int other(void); int main(void) { return other(); }\n")
        try home.write("two/other.c", "int other(void) { return 0; }\n")
    }

    private func folders(in path: String) throws -> [String] {
        var folders: [String] = []
        try ELFFile(path: path).forEachObject { (object) throws(ELFError) in
            folders += try object.compilationFolders().all
        }
        return folders
    }

    private func build(_ compiler: Compiler, _ flags: [String]) throws -> String {
        for (folder, name) in [("one", "main"), ("two", "other")] {
            let result = try run(
                compiler.path(for: .c), flags + ["-c", "\(name).c", "-o", home("\(name).o")], home: home,
                in: home(folder))
            try #require(result.succeeded, "\(result.error)")
        }
        let program = home("program")
        try compiler.compile([home("main.o"), home("other.o")], to: program, flags, home: home)
        return program
    }

    @Test(
        arguments: Compiler.allCases,
        [
            ["-g", "-gdwarf-4"], ["-g", "-gdwarf-5"], ["-g3", "-gdwarf-5", "-gz=zlib"], ["-g", "-gdwarf-2"],
            ["-g", "-gsplit-dwarf"],
        ])
    func `They are in the debug information`(compiler: Compiler, flags: [String]) throws {
        let found = try folders(in: build(compiler, flags))
        #expect(Set(found) == [home("one"), home("two")])
    }

    @Test(
        arguments: Compiler.allCases,
        [
            ["-g", "-gdwarf-4"], ["-g", "-gdwarf-5"], ["-g3", "-gz=zlib"], ["-g", "-gdwarf-2"],
            ["-O2", "-g"],
        ])
    func `They are those of the units of records`(compiler: Compiler, flags: [String]) throws {
        let found = try recordFolders(compiler, flags)
        #expect(found == ["one/main.c": home("one"), "two/other.c": home("two")])
    }

    /// The folders of the units of two records.
    private func recordFolders(_ compiler: Compiler, _ flags: [String]) throws -> [String: String] {
        for (name, text) in [
            ("one/main.c", "int other(void); int main(void)"), ("two/other.c", "int other(void)"),
        ] {
            try home.write(
                name, "#include <fbtweak.h>\n\(text) { return FBTweakValue(\"A\", \"B\", \"\(name)\", 1); }\n"
            )
        }
        let program = try build(compiler, flags + ["-DDEBUG", "-I", Locations.include])
        var found: [String: String] = [:]
        try ELFFile(path: program).forEachObject { (object) throws(ELFError) in
            for range in try object.recordRanges() {
                let records = try object.records(in: range).tweaks
                let addresses = records.map { range.address + UInt64($0.offset) }
                let folders = try object.compilationFolders(ofVariablesAt: Set(addresses)).ofVariables
                for (record, address) in zip(records, addresses) {
                    found[record.declaration.key.name] = folders[address]
                }
            }
        }
        return found
    }

    @Test func `With link-time optimization they are those of the compiler`() throws {
        let found = try recordFolders(.gcc, ["-O2", "-g", "-flto"])
        #expect(found == ["one/main.c": home("one"), "two/other.c": home("two")])
    }

    @Test func `Without debug information, and in an object file, there are none`() throws {
        #expect(try folders(in: build(.gcc, [])) == [])
        _ = try build(.gcc, ["-g"])
        #expect(try folders(in: home("main.o")) == [])
    }

    @Test func `Damaged debug information is read to its end`() throws {
        let whole = try Data(contentsOf: URL(fileURLWithPath: build(.gcc, ["-g"])))
        for bytes in damaged(Array(whole), count: isLong ? 3000 : 200) {
            let path = try home.write("damaged", Data(bytes))
            _ = try? folders(in: path)
            try? ELFFile(path: path).forEachObject { (object) throws(ELFError) in
                _ = try object.compilationFolders(ofVariablesAt: [0])
            }
        }
    }
}
