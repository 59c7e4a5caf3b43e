// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakELF

@Suite struct `Files that are not ELF files` {
    @Test func `A missing file cannot be opened`() throws {
        let path = try TemporaryDirectory()("missing")
        #expect(throws: ELFError.cannotOpen(path: path, reason: "No such file or directory")) {
            try ELFFile(path: path)
        }
    }

    @Test func `A directory is not an ELF file`() throws {
        let directory = try TemporaryDirectory()
        #expect(throws: ELFError.notELF(path: directory.path, reason: "it is a directory")) {
            try ELFFile(path: directory.path)
        }
    }

    @Test func `An empty file is not an ELF file`() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("empty", "")
        #expect(throws: ELFError.notELF(path: path, reason: "it is empty")) { try ELFFile(path: path) }
    }

    @Test func `A script is not an ELF file, and may be one of libtool`() throws {
        let home = try TemporaryDirectory()
        let path = try home.write("game", "#!/bin/sh\nexec .libs/game\n")
        #expect(throws: ELFError.notELF(path: path, reason: "it is a script")) { try ELFFile(path: path) }
        let program = try home.write(".libs/game", "")
        let reason = "it is a script; the program is \(program)"
        #expect(throws: ELFError.notELF(path: path, reason: reason)) { try ELFFile(path: path) }
    }

    @Test func `A FIFO without a writer is refused without waiting`() throws {
        let directory = try TemporaryDirectory()
        let path = directory("fifo")
        try #require(mkfifo(path, 0o600) == 0)
        #expect(throws: ELFError.notELF(path: path, reason: "it is not a regular file")) {
            try ELFFile(path: path)
        }
    }

    @Test(arguments: ["/dev/null", "/dev/zero"])
    func `A device is not an ELF file`(path: String) {
        #expect(throws: ELFError.notELF(path: path, reason: "it is not a regular file")) {
            try ELFFile(path: path)
        }
    }

    @Test(arguments: ["x", "#!/bin/sh\n", "\u{7F}EL", "!<arch", "!<thin>", "!<thin>\nx"])
    func `Other content is not an ELF file`(content: String) throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("file", content)
        let error = #expect(throws: ELFError.self) { try Inspection(path) }
        #expect(error?.description.hasPrefix("\(path): ") == true)
    }

    @Test func `Random bytes are not an ELF file`() throws {
        let directory = try TemporaryDirectory()
        var generator = SystemRandomNumberGenerator()
        for _ in 0..<50 {
            // The first byte is not the beginning of an ELF file or an archive.
            let bytes = [0] + (0..<999).map { _ in UInt8.random(in: 0...255, using: &generator) }
            let path = try directory.write("file", Data(bytes))
            #expect(throws: ELFError.self) { try Inspection(path) }
        }
    }

    @Test func `Errors are one line that begins with the path`() {
        let errors: [ELFError] = [
            .cannotOpen(path: "/a", reason: "why"), .notELF(path: "/a", reason: "why"),
            .broken(path: "/a", reason: "why"),
        ]
        for error in errors {
            #expect(error.description.hasPrefix("/a: ") && error.description.hasSuffix("why"))
        }
    }
}
