internal import CLibELF
internal import Glibc

/// An open ELF object or an archive of them.
///
/// The file is read and never mapped, so that a file which shrinks while it is open is an error and no signal.
/// Use it on one thread at a time.
public final class ELFFile {
    /// The path it was opened by.
    public let path: String
    private let descriptor: CInt
    private let elf: OpaquePointer
    let byteCount: Int

    /// Opens a file.
    ///
    /// - Throws: ``ELFError`` if it cannot be read or is no regular file with an ELF object or an archive in it.
    public init(path: String) throws(ELFError) {
        // What is no file is not even opened: that alone does something to some devices.
        var status = stat()
        guard stat(path, &status) == 0 else { throw Self.cannotOpen(path) }
        try Self.checkType(status, path)
        // Non-blocking, in case it is a FIFO without a writer by now.
        let descriptor = Self.aboveStandard(open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY))
        guard descriptor >= 0 else { throw Self.cannotOpen(path) }
        do throws(ELFError) {
            guard fstat(descriptor, &status) == 0 else { throw Self.cannotOpen(path) }
            try Self.checkType(status, path)
        } catch {
            close(descriptor)
            throw error
        }
        guard status.st_size > 0 else {
            close(descriptor)
            throw .notELF(path: path, reason: "it is empty")
        }
        _ = elf_version(CUnsignedInt(EV_CURRENT))
        guard let elf = elf_begin(descriptor, ELF_C_READ, nil) else {
            let reason = Self.lastError()
            close(descriptor)
            throw .notELF(path: path, reason: reason)
        }
        guard elf_kind(elf) == ELF_K_ELF || elf_kind(elf) == ELF_K_AR else {
            elf_end(elf)
            close(descriptor)
            throw .notELF(path: path, reason: "it does not begin like one")
        }
        self.path = path
        self.descriptor = descriptor
        self.elf = elf
        self.byteCount = Int(status.st_size)
    }

    private static func cannotOpen(_ path: String) -> ELFError {
        .cannotOpen(path: path, reason: String(cString: strerror(errno)))
    }

    private static func checkType(_ status: stat, _ path: String) throws(ELFError) {
        switch status.st_mode & S_IFMT {
        case S_IFREG: break
        case S_IFDIR: throw .notELF(path: path, reason: "it is a directory")
        default: throw .notELF(path: path, reason: "it is no regular file")
        }
    }

    /// The same open file by another number than those of standard input, output and error, which belong to the program
    /// even if it has closed them.
    private static func aboveStandard(_ descriptor: CInt) -> CInt {
        guard 0...STDERR_FILENO ~= descriptor else { return descriptor }
        let moved = fcntl(descriptor, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        let error = errno
        close(descriptor)
        errno = error
        return moved
    }

    deinit {
        elf_end(elf)
        close(descriptor)
    }

    /// Calls `body` with the object in the file, or with each object in the archive, in the archive's order.
    ///
    /// Archive members that are no ELF objects are passed over. An object is valid only during the call.
    ///
    /// - Throws: ``ELFError/broken(path:reason:)`` for an object or archive that is, and what `body` throws.
    public func forEachObject(_ body: (ELFObject) throws(ELFError) -> Void) throws(ELFError) {
        guard elf_kind(elf) == ELF_K_AR else {
            return try body(ELFObject(elf: elf, path: path, byteCount: byteCount))
        }
        var command = ELF_C_READ
        // Where the next member begins. libelf does not tell the end of an archive from a broken one.
        var next = Int(SARMAG)
        while next < byteCount {
            guard command != ELF_C_NULL, let member = elf_begin(descriptor, command, elf) else {
                throw .broken(path: path, reason: Self.lastError())
            }
            defer { elf_end(member) }
            guard let header = elf_getarhdr(member) else {
                throw .broken(path: path, reason: Self.lastError())
            }
            let name = header.pointee.ar_name.map { String(cString: $0) } ?? "?"
            let size = Int(header.pointee.ar_size)
            let start = Int(elf_getaroff(member)) + MemoryLayout<ar_hdr>.size
            guard start > next, size >= 0, size <= byteCount - start else {
                throw .broken(
                    path: path, reason: "member \(name), \(size) bytes, is beyond its end at \(byteCount)")
            }
            next = start + size + size % 2
            if elf_kind(member) == ELF_K_ELF {
                try body(ELFObject(elf: member, path: "\(path)(\(name))", byteCount: size))
            }
            command = elf_next(member)
        }
    }

    /// Reads bytes of the file itself; fewer come back if it ends before.
    public func bytes(at offset: Int, count: Int) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: count) { buffer, initialized in
            initialized = max(0, pread(descriptor, buffer.baseAddress, count, off_t(offset)))
        }
    }

    static func lastError() -> String {
        String(cString: elf_errmsg(-1))
    }
}
