// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakSystem

@Suite struct `Replacing a file` {
    private let home: TemporaryDirectory
    private let path: String

    init() throws {
        home = try TemporaryDirectory()
        path = home("file")
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: home.path).sorted() }
    }

    @Test(arguments: [false, true]) func `A file appears complete when it is committed`(isLocked: Bool)
        throws
    {
        try home.write("file", "old")
        let replacement = try FileReplacement(of: path, with: Array("new".utf8), isLocked: isLocked)
        #expect(try text(path) == "old")
        try replacement.commit()
        #expect(try text(path) == "new")
        #expect(try names == ["file"])
    }

    @Test func `A discarded replacement leaves nothing behind`() throws {
        try home.write("file", "old")
        try FileReplacement(of: path, with: []).discard()
        #expect(try text(path) == "old")
        #expect(try names == ["file"])
    }

    @Test func `Permissions are kept unless others are given`() throws {
        try home.write("file", "old")
        chmod(path, 0o640)
        try FileReplacement.replace(path, with: [])
        #expect(FileStatus(path)?.mode == 0o640)
        try FileReplacement.replace(path, with: [], permissions: 0o600)
        #expect(FileStatus(path)?.mode == 0o600)
    }

    @Test(arguments: [false, true]) func `A path need not be UTF-8`(isLocked: Bool) throws {
        // Stands for the byte 0xE9, as in the names that `directoryEntries` gives.
        let name = "caf\u{10FEE9}"
        try makeFolders(home(name), permissions: 0o700)
        let path = home("\(name)/\(name)")
        for text in ["old", "new"] {
            try FileReplacement.replace(path, with: Array(text.utf8), isLocked: isLocked)
        }
        #expect(directoryEntries(home.path).filter { !$0.hasPrefix(".") } == [name])
        #expect(directoryEntries(home(name)).filter { !$0.hasPrefix(".") } == [name])
        #expect(stat(path: path)?.st_size == 3)
    }

    @Test func `A link is replaced, and its target stays`() throws {
        try home.write("other", "other")
        symlink("other", path)
        try FileReplacement.replace(path, with: Array("new".utf8))
        #expect(try text(path) == "new")
        #expect(try text(home("other")) == "other")
    }

    @Test func `A pipe is not replaced, and nothing is left beside it`() throws {
        try #require(mkfifo(path, 0o600) == 0)
        let error = #expect(throws: FileError.self) { try FileReplacement.replace(path, with: []) }
        #expect(error?.description == "cannot replace \(path): it is not a regular file")
        #expect(try names == ["file"])
    }

    @Test func `A folder in place of the file is an error, and nothing is left`() throws {
        #expect(throws: FileError.self) { try FileReplacement.replace(home.path, with: []) }
        #expect(throws: FileError.self) { try FileReplacement.replace(home("missing/file"), with: []) }
        #expect(try names.isEmpty)
    }

    @Test(arguments: [3, 100]) func `Many files are replaced, each as if alone`(count: Int) throws {
        try home.write("folder1/file", "old")
        try home.write("folder2", "not a folder")
        let files = (0..<count).map {
            NewFile(path: home("folder\($0)/file"), bytes: Array("new \($0)".utf8))
        }
        let errors = FileReplacement.replaceAll(files, permissions: 0o644)
        #expect(errors.count == count)
        for index in 0..<count where index != 2 {
            #expect(errors[index] == nil)
            #expect(try text(files[index].path) == "new \(index)")
        }
        #expect(errors[2]?.path.hasPrefix(home("folder2")) == true)
        #expect(try FileManager.default.contentsOfDirectory(atPath: home("folder1")) == ["file"])
    }

    @Test func `Folders are created, and only the new ones are returned`() throws {
        #expect(try makeFolders(home("a"), permissions: 0o700) == [home("a")])
        #expect(try makeFolders(home("a/b/c"), permissions: 0o700) == [home("a/b"), home("a/b/c")])
        #expect(try makeFolders(home("a/b/c"), permissions: 0o700) == [])
        try home.write("file", "")
        #expect(throws: FileError.self) { try makeFolders(home("file/x"), permissions: 0o700) }
    }
}
