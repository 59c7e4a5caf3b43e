// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakSystem

@Suite struct `A replaced file` {
    private let home: TemporaryDirectory
    private let path: String

    init() throws {
        home = try TemporaryDirectory()
        path = try home.write("file", "old")
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
    private var names: [String] {
        get throws { try FileManager.default.contentsOfDirectory(atPath: home.path).sorted() }
    }

    /// Runs Python, whose standard library has the calls for extended attributes.
    private func python(_ code: String, _ arguments: String...) throws -> CommandResult {
        try run(Locations.program("python3"), ["-c", "import os, sys\n" + code] + arguments, home: home)
    }

    /// An access list: the user 4711 may read. Source of the format: `linux/posix_acl_xattr.h`.
    private static let accessList =
        "import struct\nacl = struct.pack('<I', 2) + b''.join(struct.pack('<HHI', *entry) for entry in "
        + "[(1, 6, 0xffffffff), (2, 4, 4711), (4, 4, 0xffffffff), (16, 4, 0xffffffff), (32, 0, 0xffffffff)])\n"

    private static let hasAttributes: Bool = {
        guard let home = try? TemporaryDirectory(), let path = try? home.write("file", "") else {
            return false
        }
        let code = "import os, sys; os.setxattr(sys.argv[1], 'user.test', b'1')"
        return (try? run(Locations.program("python3"), ["-c", code, path], home: home).succeeded) == true
    }()

    @Test(.enabled(if: hasAttributes), arguments: [nil, 0o600 as mode_t])
    func `Extended attributes and access lists are kept`(permissions: mode_t?) throws {
        let set = try python(
            Self.accessList
                + "os.setxattr(sys.argv[1], 'user.origin', b'a\\0b')\nos.setxattr(sys.argv[1], 'system.posix_acl_access', acl)",
            path)
        try #require(set.succeeded, "\(set.error)")
        try FileReplacement.replace(path, with: Array("new".utf8), permissions: permissions)
        let kept = try python(
            Self.accessList
                + "print(os.getxattr(sys.argv[1], 'user.origin') == b'a\\0b', os.getxattr(sys.argv[1], 'system.posix_acl_access') == acl)",
            path)
        #expect(kept.output == "True True\n", "\(kept.error)")
        #expect(try text(path) == "new")
    }

    @Test(.enabled(if: hasAttributes)) func `An access list that the folder gives to new files is not added`()
        throws
    {
        let set = try python(
            Self.accessList + "os.setxattr(sys.argv[1], 'system.posix_acl_default', acl)", home.path)
        try #require(set.succeeded, "\(set.error)")
        chmod(path, 0o640)
        try FileReplacement.replace(path, with: Array("new".utf8))
        #expect(try python("print(os.listxattr(sys.argv[1]))", path).output == "[]\n")
        #expect(FileStatus(path)?.mode == 0o640)
    }

    @Test func `One of several names is not replaced`() throws {
        try #require(link(path, home("other")) == 0)
        let error = #expect(throws: FileError.self) {
            try FileReplacement.replace(path, with: Array("new".utf8))
        }
        #expect(error?.number == EMLINK)
        #expect(
            error?.description
                == "cannot replace \(path): it has 2 hard links, and only one of them would get the new "
                + "content"
        )
        #expect(try text(path) == "old")
        #expect(try names == ["file", "other"])
    }

    @Test(.enabled(if: geteuid() == 0)) func `Its owner and group are kept`() throws {
        try #require(chown(path, 4711, 4712) == 0)
        chmod(path, 0o640)
        try FileReplacement.replace(path, with: Array("new".utf8))
        let owner = try run("/usr/bin/stat", ["-c", "%u %g %a", path], home: home)
        #expect(owner.output == "4711 4712 640\n")
    }

    @Test(.enabled(if: geteuid() == 0)) func `Root follows links of root, and none of others`() throws {
        try home.write("folder/file", "old")
        for (name, owner) in [("own", 0), ("foreign", 4711)] {
            try #require(symlink("folder", home(name)) == 0)
            try #require(lchown(home(name), uid_t(owner), 0) == 0)
        }
        try FileReplacement.replace(home("own/file"), with: Array("new".utf8))
        #expect(try text(home("folder/file")) == "new")
        let error = #expect(throws: FileError.self) {
            try FileReplacement.replace(home("foreign/file"), with: Array("newer".utf8))
        }
        #expect(
            error?.reason == "root does not follow a symbolic link that belongs to another user")
        try #require(symlink("folder/file", home("last")) == 0)
        #expect(try linkTarget(of: home("last")) == home("folder/file"))
        #expect(try linkTarget(of: home("new/file")) == home("new/file"))
        for target in ["folder/none", "none/file"] {
            try #require(symlink(target, home("dangling")) == 0)
            #expect(try linkTarget(of: home("dangling")) == home(target))
            #expect(followedPath(home("dangling")) == home(target))
            try #require(lchown(home("dangling"), 4711, 0) == 0)
            #expect(followedPath(home("dangling")) == home("dangling"))
            unlink(home("dangling"))
        }
        try #require(lchown(home("last"), 4711, 0) == 0)
        #expect(throws: FileError.self) { try linkTarget(of: home("last")) }
        #expect(try text(home("folder/file")) == "new")
        #expect(directoryEntries(home("folder")).filter { !$0.hasPrefix(".") } == ["file"])
    }

    @Test func `A link that came into a path without links is not followed`() throws {
        try home.write("folder/file", "old")
        try #require(symlink("folder", home("link")) == 0)
        let error = #expect(throws: FileError.self) {
            try FileReplacement(of: home("link/file"), with: [], following: .none)
        }
        #expect(error?.number == ELOOP)
        try FileReplacement(of: home("folder/file"), with: Array("new".utf8), following: .none).commit()
        #expect(try text(home("folder/file")) == "new")
    }

    @Test func `A link to a pipe is not replaced`() throws {
        try #require(mkfifo(home("pipe"), 0o600) == 0)
        try #require(symlink("pipe", home("link")) == 0)
        #expect(throws: FileError.self) { try FileReplacement.replace(home("link"), with: []) }
        #expect(try names == ["file", "link", "pipe"])
        #expect(FileStatus(home("link"))?.isLink == true)
    }

    @Test func `A file that is not the expected one is not replaced`() throws {
        let error = #expect(throws: FileError.self) {
            try FileReplacement(of: path, with: [], expecting: Array("other".utf8))
        }
        #expect(error?.number == ESTALE)
        let replacement = try FileReplacement(
            of: path, with: Array("new".utf8), expecting: Array("old".utf8))
        try home.write("file", "changed")
        #expect(throws: FileError.self) { try replacement.checkExpected() }
        replacement.discard()
        #expect(try names == ["file"])
    }

    @Test func `A new file goes into the folder that was opened, also after it was moved`() throws {
        try home.write("folder/file", "old")
        try home.write("elsewhere/file", "other")
        let replacement = try FileReplacement(of: home("folder/file"), with: Array("new".utf8))
        try #require(rename(home("folder"), home("moved")) == 0)
        try #require(symlink("elsewhere", home("folder")) == 0)
        try replacement.commit()
        #expect(try text(home("moved/file")) == "new")
        #expect(try text(home("elsewhere/file")) == "other")
        #expect(directoryEntries(home("moved")).filter { !$0.hasPrefix(".") } == ["file"])
    }

    @Test func `The reason of a folder that cannot be made is that of making it`() throws {
        // Nobody can make folders there, and it does not exist.
        let error = #expect(throws: FileError.self) {
            try makeFolders("/sys/tweaks-test/folder", permissions: 0o700)
        }
        #expect(error.map { [EPERM, EACCES, EROFS].contains($0.number) } == true)
        #expect(error.map { $0.reason == systemMessage($0.number) } == true)
    }
}
