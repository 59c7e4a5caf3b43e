// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import Glibc
import TestSupport
import Testing
import TweakProtocol
import TweakJSON
import TweakOverrides

@testable import Tweaks

/// What somebody may have put where the library wants to have a file.
enum StrangeFile: String, CaseIterable, Sendable, CustomTestStringConvertible {
    case fifo = "a FIFO"
    case socket = "a socket"
    case device = "a device"
    case directory = "a directory"
    case link = "a symbolic link"
    case loop = "a loop of links"
    case hardLink = "a hard link"

    static let noFiles: [StrangeFile] = [.fifo, .socket, .device, .directory].filter(\.canBeMade)
    static let canBeMade = allCases.filter(\.canBeMade)

    var testDescription: String { rawValue }

    private var canBeMade: Bool { self != .device || geteuid() == 0 }

    func make(at path: String, linkingTo target: String) throws {
        switch self {
        case .fifo: try #require(mkfifo(path, 0o600) == 0)
        case .socket: try #require(mknod(path, S_IFSOCK | 0o600, 0) == 0)
        // The terminal of the process.
        case .device: try #require(mknod(path, S_IFCHR | 0o600, 5 << 8) == 0)
        case .directory: try #require(mkdir(path, 0o700) == 0)
        case .link: try #require(symlink(target, path) == 0)
        case .loop: try #require(symlink(path, path) == 0)
        case .hardLink: try #require(Glibc.link(target, path) == 0)
        }
    }
}

@Suite struct `Special files in place of files` {
    private let home: TemporaryDirectory
    private let file: OverridesFile
    private let precious: String
    private let key = TweakKey("A", "B", "C")

    init() throws {
        home = try TemporaryDirectory()
        file = OverridesFile(path: home("overrides.json"))
        precious = try home.write("precious", "precious")
    }

    private func expectPrecious() throws {
        #expect(try String(contentsOfFile: precious, encoding: .utf8) == "precious")
    }

    /// Such as /dev/zero, which root could replace.
    @Test func `The target of a link is replaced only if it is a file`() throws {
        try StrangeFile.fifo.make(at: home("fifo"), linkingTo: "")
        try StrangeFile.link.make(at: file.path, linkingTo: home("fifo"))
        #expect(throws: OverridesError.self) { try KeptFile(path: file.path).replace(with: [1]) }
        #expect(!FileManager.default.fileExists(atPath: home("fifo.tmp")))
        var status = stat()
        #expect(stat(home("fifo"), &status) == 0 && status.st_mode & S_IFMT == S_IFIFO)
    }

    @Test(arguments: StrangeFile.noFiles) func `What a link leads to stays where it is`(
        target: StrangeFile
    ) throws {
        try target.make(at: home("target"), linkingTo: "")
        let before = try #require(FileStatus(home("target")))
        let changes: [() throws -> Void] = [
            { _ = try self.file.update([self.key: 1], ifCorrupt: .replace(known: nil)) },
            { _ = try self.file.loadSettingAside() },
        ]
        for (number, change) in zip(1..., changes) {
            unlink(file.path)
            try StrangeFile.link.make(at: file.path, linkingTo: home("target"))
            try change()
            #expect(FileStatus(home("target"))?.inode == before.inode)
            #expect(FileStatus(home("target") + ".broken") == nil)
            #expect(FileStatus(file.path + ".broken" + (number == 1 ? "" : "-2"))?.isLink == true)
        }
    }

    @Test(arguments: StrangeFile.canBeMade.filter { $0 != .directory })
    func `The temporary file is always created anew`(intruder: StrangeFile) throws {
        try intruder.make(at: file.path + ".tmp", linkingTo: precious)
        try file.update([key: 1])
        #expect(try file.load()[key] == .scalar(1))
        #expect(FileStatus(file.path + ".tmp") == nil)
        #expect(FileStatus(file.path)?.mode == 0o600)
        try expectPrecious()
    }

    @Test func `A directory in place of the temporary file is an error that names it`() throws {
        try StrangeFile.directory.make(at: file.path + ".tmp", linkingTo: "")
        #expect(
            throws: OverridesError.system(
                action: "remove", path: file.path + ".tmp", reason: String(cString: strerror(EISDIR)))
        ) { try file.update([key: 1]) }
    }

    @Test(arguments: StrangeFile.noFiles + [.link, .loop])
    func `Only regular files are locked`(intruder: StrangeFile) throws {
        try intruder.make(at: file.path + ".lock", linkingTo: precious)
        #expect(
            throws: OverridesError.system(
                action: "lock", path: file.path + ".lock", reason: "it is not a regular file")
        ) { try file.update([key: 1]) }
        try expectPrecious()
    }

    @Test func `A hard-linked lock works, and is left alone`() throws {
        try StrangeFile.hardLink.make(at: file.path + ".lock", linkingTo: precious)
        try file.update([key: 1])
        #expect(try file.load()[key] == .scalar(1))
        try expectPrecious()
    }

    @Test(arguments: StrangeFile.noFiles) func `Only regular files hold overrides`(intruder: StrangeFile)
        throws
    {
        try intruder.make(at: file.path, linkingTo: precious)
        #expect(throws: OverridesError.corrupt(path: file.path, reason: "it is not a regular file")) {
            try file.load()
        }
        #expect(throws: OverridesError.self) { try file.update([key: 1]) }
        #expect(FileStatus(file.path + ".broken") == nil)
        _ = try file.update([key: 1], ifCorrupt: .replace(known: nil))
        #expect(try file.load()[key] == .scalar(1))
        #expect(FileStatus(file.path + ".broken") != nil)
    }

    @Test func `A file that cannot be read is never replaced`() throws {
        try StrangeFile.loop.make(at: file.path, linkingTo: "")
        #expect(
            throws: OverridesError.system(
                action: "read", path: file.path, reason: String(cString: strerror(ELOOP)))
        ) { try file.update([key: 1]) }
        #expect(FileStatus(file.path)?.isLink == true)
    }

    @Test(arguments: StrangeFile.noFiles) func `Only regular files hold values of a provider`(
        intruder: StrangeFile
    )
        throws
    {
        try intruder.make(at: home("values.json"), linkingTo: "")
        #expect(throws: ProviderFileError.self) { try VariablesProvider(files: [home("values.json")]) }
        #expect(throws: ProviderFileError.self) {
            try TweakStore().useProviders(listedIn: home("values.json"))
        }
    }

    @Test(arguments: StrangeFile.noFiles + [.link, .loop])
    func `Only directories hold sockets`(intruder: StrangeFile) throws {
        guard intruder != .directory else { return }
        let directory = ControlDirectory(path: home("tweaks"))
        try intruder.make(at: directory.path, linkingTo: home.path)
        #expect(throws: ControlDirectory.Problem.self) { try directory.prepare() }
        let opened = directory.open()
        defer { close(opened) }
        #expect(directory.withLock(of: opened) { !$0 })
    }
}
