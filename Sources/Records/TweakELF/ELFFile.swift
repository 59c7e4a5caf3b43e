// SPDX-License-Identifier: BSD-3-Clause
internal import CLibELF
internal import Glibc
internal import TweakSystem

/// An open ELF object or an archive of them.
///
/// The file is read and never mapped, so that a file that shrinks while it is open causes an error instead of a signal.
/// Use it on one thread at a time.
package final class ELFFile {
    /// The path used to open it.
    package let path: String
    private let descriptor: CInt
    /// The libelf handle; `nil` for a thin archive, which libelf does not support.
    private let elf: OpaquePointer?
    package let byteCount: Int
    /// The table of long names of a thin archive, once read.
    var thinNameTable: [UInt8]?
    /// The file's identity, independent of the path.
    package let identity: Identity

    package struct Identity: Hashable {
        let device: UInt64
        let inode: UInt64
    }

    /// Opens a file.
    ///
    /// - Throws: ``ELFError`` if it cannot be read or is not a regular file with an ELF object or an archive.
    package convenience init(path: String) throws(ELFError) {
        // Only regular files are opened, because opening some devices has side effects.
        guard let status = stat(path: path) else { throw Self.cannotOpen(path) }
        try Self.checkType(status, path)
        let descriptor = openFile(path, O_RDONLY)
        guard descriptor >= 0 else { throw Self.cannotOpen(path) }
        try self.init(descriptor: descriptor, path: path)
    }

    /// Takes ownership of an open descriptor, which it closes even if it throws.
    ///
    /// - Parameter path: The path for messages.
    package init(descriptor: CInt, path: String) throws(ELFError) {
        do throws(ELFError) {
            var status = stat()
            guard fstat(descriptor, &status) == 0 else { throw Self.cannotOpen(path) }
            try Self.checkType(status, path)
            guard status.st_size > 0 else { throw .notELF(path: path, reason: "it is empty") }
            elf = try Self.begin(descriptor, path)
            byteCount = Int(status.st_size)
            identity = Identity(device: UInt64(status.st_dev), inode: UInt64(status.st_ino))
        } catch {
            close(descriptor)
            throw error
        }
        self.path = path
        self.descriptor = descriptor
    }

    /// Creates the libelf handle; `nil` for a thin archive.
    private static func begin(_ descriptor: CInt, _ path: String) throws(ELFError) -> OpaquePointer? {
        let start = bytes(of: descriptor, at: 0, count: Content.startSize)
        let content = Content(start: start)
        switch content {
        case .thinArchive: return nil
        case .bitcode: throw .unread(path: path, reason: Content.uncompiled("LLVM bitcode"))
        case .other where start.starts(with: "#!".utf8):
            // Libtool writes such a script where it links a program with libraries that are not installed yet.
            let program = containingFolder(of: path) + "/.libs/" + lastComponent(of: path)
            let advice = access(program, F_OK) == 0 ? "; the program is \(program)" : ""
            throw .notELF(path: path, reason: "it is a script" + advice)
        case .empty, .other: throw .notELF(path: path, reason: "it does not begin like one")
        case .object, .archive: break
        }
        _ = elf_version(CUnsignedInt(EV_CURRENT))
        guard let elf = elf_begin(descriptor, ELF_C_READ, nil) else {
            throw .broken(path: path, reason: lastError())
        }
        guard elf_kind(elf) == (content == .object ? ELF_K_ELF : ELF_K_AR) else {
            elf_end(elf)
            throw .broken(path: path, reason: "it is truncated")
        }
        return elf
    }

    private static func cannotOpen(_ path: String) -> ELFError {
        .cannotOpen(path: path, reason: systemMessage())
    }

    private static func checkType(_ status: stat, _ path: String) throws(ELFError) {
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw .notELF(path: path, reason: "it is a directory")
        default: throw .notELF(path: path, reason: "it is not a regular file")
        }
    }

    deinit {
        elf_end(elf)
        close(descriptor)
    }

    /// The content of the file.
    enum Kind {
        case object(OpaquePointer)
        case archive(OpaquePointer)
        case thinArchive
    }

    var kind: Kind {
        guard let elf else { return .thinArchive }
        return elf_kind(elf) == ELF_K_AR ? .archive(elf) : .object(elf)
    }

    /// Calls `body` with the object in the file, or with each object in the archive, in the archive's order.
    ///
    /// The members of a thin archive are separate files, with paths relative to its directory. An object is valid only
    /// during the call.
    ///
    /// - Parameters:
    ///   - note: Called for parts that are not read, after which the others are: members of an archive that are broken,
    ///     not ELF objects or archives themselves, members of a thin archive that cannot be opened or are listed twice,
    ///     and objects that are not compiled yet. By default, all but members listed twice are thrown.
    ///   - body: Called with each object.
    /// - Throws: ``ELFError/broken(path:reason:)`` for a broken file, and errors of `note` and `body`.
    package func forEachObject(
        noting note: (ELFError) throws(ELFError) -> Void = ELFFile.throwUnread,
        _ body: (ELFObject) throws(ELFError) -> Void
    ) throws(ELFError) {
        switch kind {
        case .object(let elf):
            let object = try ELFObject(elf: elf, file: self, path: path, start: 0, byteCount: byteCount)
            try object.visit(noting: note, body)
        case .archive(let archive): try forEachMember(of: archive, noting: note, body)
        case .thinArchive:
            try forEachThinMember { (member, members) throws(ELFError) in
                try members.visit(member, of: self, noting: note, body)
            }
        }
    }

    /// Throws errors about unread parts of a file.
    package static func throwUnread(_ error: ELFError) throws(ELFError) {
        if case .skipped = error { return }
        throw error
    }

    /// Reads bytes of the file; fewer are returned at its end.
    package func bytes(at offset: Int, count: Int) -> [UInt8] {
        Self.bytes(of: descriptor, at: offset, count: count)
    }

    /// The libelf handle of a member at an offset of the archive.
    func begin(memberOf archive: OpaquePointer) -> OpaquePointer? {
        elf_begin(descriptor, ELF_C_READ, archive)
    }

    /// Reads bytes of an open file; fewer are returned at its end.
    static func bytes(of descriptor: CInt, at offset: Int, count: Int) -> [UInt8] {
        guard offset >= 0, count > 0 else { return [] }
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            while initialized < count {
                let result = pread(
                    descriptor, buffer.baseAddress.map { $0 + initialized }, count - initialized,
                    off_t(offset) &+ off_t(initialized))
                if result < 0, errno == EINTR { continue }
                guard result > 0 else { return }
                initialized += result
            }
        }
    }

    static func lastError() -> String {
        // elf_errmsg returns null if there was no error.
        elf_errmsg(-1).map { String(cString: $0) } ?? "unknown error"
    }
}

/// The kind of a file or a member of an archive, by its first bytes.
enum Content {
    case object, archive, thinArchive, bitcode, empty, other

    /// The number of bytes that tell.
    static let startSize = 8

    init(start: [UInt8]) {
        self =
            if start.isEmpty {
                .empty
            } else if start.starts(with: [0x7F, 0x45, 0x4C, 0x46]) {
                .object
            } else if start.starts(with: "!<arch>\n".utf8) {
                .archive
            } else if start.starts(with: ThinArchive.start.utf8) {
                .thinArchive
            } else if start.starts(with: [0x42, 0x43, 0xC0, 0xDE])
                || start.starts(with: [0xDE, 0xC0, 0x17, 0x0B])
            {
                // The second begins a wrapper. Source: LLVM Bitcode File Format.
                .bitcode
            } else {
                .other
            }
    }

    /// The reason why code for a later compilation is not read.
    static func uncompiled(_ code: String) -> String {
        "not compiled yet: it holds \(code), in which records cannot be found; inspect the linked file"
    }
}

/// An error in inspecting a file.
package enum ELFError: Error, Hashable {
    /// The file is missing or unreadable. The reason is the system's.
    case cannotOpen(path: String, reason: String)
    /// The file is neither an ELF object nor an archive of them.
    case notELF(path: String, reason: String)
    /// The file starts like an ELF object but is truncated or inconsistent.
    case broken(path: String, reason: String)
    /// The content is not what can be read, but may become tweaks: code that is not compiled yet, an archive in an
    /// archive, or a member of an archive that is not an ELF object.
    case unread(path: String, reason: String)
    /// The file contains only the debug information of another one.
    case debugOnly(path: String)
    /// The file is a core, which has the memory of a process.
    case core(path: String)
    /// A member of an archive is skipped because it was read already.
    case skipped(path: String, reason: String)
}

extension ELFError: CustomStringConvertible {
    /// The file and the reason, on one line.
    package var description: String {
        switch self {
        case .cannotOpen(let path, let reason): "\(path): \(reason)"
        case .notELF(let path, let reason): "\(path): not an ELF file: \(reason)"
        case .broken(let path, let reason): "\(path): broken ELF file: \(reason)"
        case .unread(let path, let reason): "\(path): not read: \(reason)"
        case .debugOnly(let path):
            "\(path): skipped: a separate debug file; the tweaks are in the file that it belongs to"
        case .core(let path): "\(path): a core, and no binary; tweak-dump --core shows its tweaks"
        case .skipped(let path, let reason): "\(path): skipped: \(reason)"
        }
    }
}
