// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakSystem

@Suite struct `A file that cannot be replaced` {
    private let home: TemporaryDirectory
    private let path: String

    init() throws {
        home = try TemporaryDirectory()
        path = try home.write("file", "0123456789")
    }

    private var text: String { get throws { try String(contentsOfFile: path, encoding: .utf8) } }

    @Test func `A mount point is told from other files`() {
        #expect(isMountPoint("/proc"))
        #expect(isMountPoint("/"))
        for path in ["/proc/self", "/pro", "", path] { #expect(!isMountPoint(path), "\(path)") }
    }

    @Test(arguments: ["", "abc", "0123456789", "0123456789abcdef", String(repeating: "x", count: 100_000)])
    func `It is overwritten by shorter and longer content`(new: String) throws {
        let before = try #require(FileStatus(path))
        try overwrite(path, with: Array(new.utf8), limit: 10)
        #expect(try text == new)
        #expect(try #require(FileStatus(path)).inode == before.inode)
    }

    @Test func `It stays if it is larger than what could be restored`() throws {
        #expect(throws: FileError.self) { try overwrite(path, with: [1], limit: 9) }
        #expect(try text == "0123456789")
    }

    @Test func `A link and a missing file are errors`() throws {
        try #require(symlink("file", home("link")) == 0)
        #expect(throws: FileError.self) { try overwrite(home("link"), with: [1], limit: 100) }
        #expect(throws: FileError.self) { try overwrite(home("none"), with: [1], limit: 100) }
        #expect(try text == "0123456789")
    }
}
