// SPDX-License-Identifier: BSD-3-Clause
import Glibc
import TestSupport
import Testing
import TweakSystem

@Suite struct `Paths` {
    @Test(
        arguments: [
            ("a/b/c", "a/b"), ("/a/b", "/a"), ("/a", "/"), ("a", "."), ("", "."),
            ("a/\u{301}b/\u{302}c", "a/\u{301}b"),
        ])
    func `The folder of a path`(path: String, folder: String) {
        #expect(containingFolder(of: path) == folder)
    }

    @Test(
        arguments: [
            ("b", "a/c", "a/b"), ("b", "c", "b"), ("b", "/c", "/b"), ("/b", "/a/c", "/b"),
            ("../b", "a/c", "a/../b"),
            ("/\u{301}b", "a/c", "/\u{301}b"), ("", "a/c", "a/"), ("b", "a/\u{301}c", "a/b"),
        ])
    func `A path in a file is relative to the file`(path: String, file: String, resolved: String) {
        #expect(resolvedPath(path, relativeTo: file) == resolved)
    }
}

@Suite struct `Looking for a program in PATH` {
    private let home: TemporaryDirectory

    init() throws {
        home = try TemporaryDirectory()
        for folder in ["first", "second"] { mkdir("\(home.path)/\(folder)", 0o700) }
    }

    private var folders: String { "\(home.path)/first:\(home.path)/second" }

    @Test func `A directory is not a program`() throws {
        mkdir("\(home.path)/first/tool", 0o700)
        #expect(throws: ProgramSearchError.self) { try findExecutable(named: "tool", in: folders) }
        symlink("/bin/sh", "\(home.path)/second/tool")
        #expect(try findExecutable(named: "tool", in: folders) == "\(home.path)/second/tool")
    }

    @Test func `Without PATH, the default folders of the C library count`() throws {
        #expect(try findExecutable(named: "sh", in: nil) == "/bin/sh")
    }

    @Test func `The error says which file cannot be executed`() throws {
        try home.write("second/tool", "")
        guard
            case .notExecutable(let reason)? = #expect(
                throws: ProgramSearchError.self,
                performing: { try findExecutable(named: "tool", in: folders) })
        else { return }
        #expect(reason == "\(home.path)/second/tool: it cannot be executed: Permission denied")
    }
}
