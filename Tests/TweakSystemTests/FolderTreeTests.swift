// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakSystem

@Suite struct `A folder with everything in it` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    @Test func `is read and removed without following links`() throws {
        let outside = try home.write("outside/file", "text")
        try home.write("tree/b/c", "")
        try home.write("tree/a", "12345")
        try FileManager.default.createSymbolicLink(
            atPath: home("tree/link"), withDestinationPath: home("outside"))
        let tree = FolderTree(path: home("tree"))
        let entries = try tree.entries()
        #expect(entries.map(\.path) == ["a", "b/c", "b", "link"])
        #expect(entries.first?.status.st_size == 5)
        try tree.remove()
        #expect(!FileManager.default.fileExists(atPath: home("tree")))
        #expect(FileManager.default.fileExists(atPath: outside))
    }

    @Test func `is no link`() throws {
        let outside = try home.write("outside/file", "text")
        try FileManager.default.createSymbolicLink(
            atPath: home("link"), withDestinationPath: home("outside"))
        #expect(throws: FileError.self) { try FolderTree(path: home("link")).remove() }
        #expect(FileManager.default.fileExists(atPath: outside))
    }

    @Test func `is refused if it is nested too deeply`() throws {
        try home.write("tree/" + String(repeating: "d/", count: 40) + "file", "")
        #expect(throws: FileError.self) { try FolderTree(path: home("tree")).entries() }
    }
}
