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
    let byteCount: Int
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
        let start = bytes(of: descriptor, at: 0, count: ThinArchive.start.utf8.count)
        guard !start.elementsEqual(ThinArchive.start.utf8) else { return nil }
        _ = elf_version(CUnsignedInt(EV_CURRENT))
        guard let elf = elf_begin(descriptor, ELF_C_READ, nil) else {
            throw .notELF(path: path, reason: lastError())
        }
        guard elf_kind(elf) == ELF_K_ELF || elf_kind(elf) == ELF_K_AR else {
            elf_end(elf)
            throw .notELF(path: path, reason: "it does not begin like one")
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
    /// Archive members that are not ELF objects are skipped. The members of a thin archive are separate files, with
    /// paths relative to its directory. An object is valid only during the call.
    ///
    /// - Parameters:
    ///   - note: Called for skipped parts of an archive: nested archives, and members of a thin archive that cannot be
    ///     opened or are listed twice.
    ///   - body: Called with each object.
    /// - Throws: ``ELFError/broken(path:reason:)`` for a broken object or archive, and errors of `body`.
    package func forEachObject(
        noting note: (ELFError) -> Void = { _ in }, _ body: (ELFObject) throws(ELFError) -> Void
    ) throws(ELFError) {
        switch kind {
        case .object(let elf):
            try body(ELFObject(elf: elf, file: self, path: path, start: 0, byteCount: byteCount))
        case .archive(let archive):
            var next = Int(SARMAG)
            while next < byteCount {
                next = try withMember(of: archive, at: next) { (member) throws(ELFError) in
                    try member.visit("\(path)(\(member.name))", noting: note, body)
                }
            }
        case .thinArchive:
            try forEachThinMember { (member, members) throws(ELFError) in
                try members.visit(member, of: self, noting: note, body)
            }
        }
    }

    /// Reads bytes of the file; fewer are returned at its end.
    package func bytes(at offset: Int, count: Int) -> [UInt8] {
        Self.bytes(of: descriptor, at: offset, count: count)
    }

    private static func bytes(of descriptor: CInt, at offset: Int, count: Int) -> [UInt8] {
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

// MARK: - Members of an archive

/// A member of a regular archive.
struct ArchiveMember {
    let elf: OpaquePointer
    let file: ELFFile
    let name: String
    /// The offset of its content in the file.
    let start: Int
    let byteCount: Int

    /// Calls `body` with the member's object; other members are skipped.
    func visit(
        _ path: String, noting note: (ELFError) -> Void, _ body: (ELFObject) throws(ELFError) -> Void
    ) throws(ELFError) {
        let isTable = ThinArchive.tables.contains(name)
        if elf_kind(elf) == ELF_K_ELF {
            try body(ELFObject(elf: elf, file: file, path: path, start: start, byteCount: byteCount))
        } else if !isTable, elf_kind(elf) == ELF_K_AR || ThinArchive.begins(file, at: start, byteCount) {
            note(.skipped(path: path, reason: "an archive in an archive"))
        }
    }
}

extension ELFFile {
    /// Calls `body` with the member whose header is at an offset.
    ///
    /// - Returns: The offset of the next header. libelf does not distinguish the end of an archive from a broken one.
    @discardableResult
    func withMember(
        of archive: OpaquePointer, at offset: Int, _ body: (ArchiveMember) throws(ELFError) -> Void
    ) throws(ELFError) -> Int {
        guard offset >= Int(SARMAG), offset <= byteCount - MemoryLayout<ar_hdr>.size,
            elf_rand(archive, offset) == offset,
            let member = elf_begin(descriptor, ELF_C_READ, archive)
        else {
            throw .broken(path: path, reason: "no member begins at \(offset): \(Self.lastError())")
        }
        defer { elf_end(member) }
        guard let header = elf_getarhdr(member), let name = header.pointee.ar_name else {
            throw .broken(path: path, reason: Self.lastError())
        }
        // Many members may share a name, which can be long.
        guard strnlen(name, ThinArchive.longestName + 1) <= ThinArchive.longestName else {
            throw .broken(path: path, reason: "the name of the member at \(offset) is too long")
        }
        let size = Int(clamping: header.pointee.ar_size)
        let start = offset + MemoryLayout<ar_hdr>.size
        let text = String(cString: name)
        guard size >= 0, size <= byteCount - start else {
            throw .broken(
                path: path, reason: "member \(text), \(size) bytes, is beyond its end at \(byteCount)")
        }
        try body(ArchiveMember(elf: member, file: self, name: text, start: start, byteCount: size))
        // The member ends inside the file, so this does not overflow.
        return start + size + size % 2
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
    /// A member of an archive is skipped, or a file that contains only the debug information of another one.
    case skipped(path: String, reason: String)
}

extension ELFError: CustomStringConvertible {
    /// The file and the reason, on one line.
    package var description: String {
        switch self {
        case .cannotOpen(let path, let reason): "\(path): \(reason)"
        case .notELF(let path, let reason): "\(path): not an ELF file: \(reason)"
        case .broken(let path, let reason): "\(path): broken ELF file: \(reason)"
        case .skipped(let path, let reason): "\(path): skipped: \(reason)"
        }
    }
}
