internal import Glibc
public import TweakRecords

/// The file that keeps an application's overrides.
///
/// It is replaced as a whole and never changed in place, so a reader sees the state before or after a write. Writers
/// take turns by a lock on a file beside it.
public struct OverridesFile: Hashable, Sendable {
    /// Where it is: `$XDG_CONFIG_HOME/tweaks/<application>/overrides.json` unless it was made with another path.
    public let path: String

    /// No person edits more; a larger file is somebody else's and is treated as corrupt. 16 MiB.
    static let largestSize = 16 << 20

    /// Names a file.
    public init(path: String) { self.path = path }

    /// The file of an application, which is the last component of its executable's path.
    ///
    /// - Throws: ``OverridesError/noDirectory(reason:)``.
    public init(application: String) throws(OverridesError) {
        self.path = try "\(Self.configurationDirectory())/tweaks/\(application)/overrides.json"
    }

    /// The base directory of the XDG Base Directory Specification, which says to ignore relative paths.
    private static func configurationDirectory() throws(OverridesError) -> String {
        if let path = getenv("XDG_CONFIG_HOME"), path.pointee == CChar(UInt8(ascii: "/")) {
            return String(cString: path)
        }
        if let path = getenv("HOME"), path.pointee == CChar(UInt8(ascii: "/")) {
            return String(cString: path) + "/.config"
        }
        throw .noDirectory(reason: "neither XDG_CONFIG_HOME nor HOME is set to an absolute path")
    }

    /// Reads the overrides. A file that does not exist holds none.
    ///
    /// - Throws: ``OverridesError``.
    public func load() throws(OverridesError) -> OverridesDocument {
        guard let bytes = try read() else { return OverridesDocument() }
        return try OverridesDocument(json: bytes, path: path)
    }

    /// Reads the overrides and renames a corrupt file, so that it is neither used nor lost.
    ///
    /// - Returns: The overrides, none if the file was corrupt, and in that case what was wrong and where it is now.
    /// - Throws: ``OverridesError`` if the file could not be read.
    public func loadSettingAside() throws(OverridesError) -> (document: OverridesDocument, problem: String?) {
        do throws(OverridesError) {
            return (try load(), nil)
        } catch .corrupt(let path, let reason) {
            do throws(OverridesError) {
                return try withLock { () throws(OverridesError) in try loadOrSetAside() }
            } catch {
                return (OverridesDocument(), "\(path): \(reason); it stays there: \(error)")
            }
        }
    }

    /// Changes the given overrides and leaves all others as they are in the file at this moment.
    ///
    /// When this returns the change is on disk. Nothing is written if nothing changes.
    ///
    /// - Parameter changes: The new values; `nil` removes an override.
    /// - Returns: What was wrong with the file that was there, if it was corrupt and had to be renamed.
    /// - Throws: ``OverridesError``; the file is as it was before.
    @discardableResult
    public func update(_ changes: [TweakKey: TweakValue?]) throws(OverridesError) -> String? {
        try makeDirectories()
        return try withLock { () throws(OverridesError) in
            let (before, problem) = try loadOrSetAside()
            var after = before
            for (key, value) in changes { after.set(value, for: key) }
            if after != before { try replace(with: after) }
            return problem
        }
    }

    /// Call with the lock held.
    private func loadOrSetAside() throws(OverridesError) -> (document: OverridesDocument, problem: String?) {
        do throws(OverridesError) {
            return (try load(), nil)
        } catch .corrupt(let path, let reason) {
            let aside = try setAside()
            return (OverridesDocument(), "\(path): \(reason); it is now \(aside)")
        }
    }

    private func setAside() throws(OverridesError) -> String {
        for number in 1...1000 {
            let aside = "\(path).broken" + (number == 1 ? "" : "-\(number)")
            guard access(aside, F_OK) != 0 else { continue }
            guard rename(path, aside) == 0 else { throw failure("rename") }
            return aside
        }
        throw .system(action: "rename", path: path, reason: "there are 1000 broken files beside it")
    }

    /// The content; `nil` if there is no file.
    func read() throws(OverridesError) -> [UInt8]? {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else {
            if errno == ENOENT { return nil }
            throw failure("read")
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else { throw failure("read") }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw .corrupt(path: path, reason: "it is no regular file")
        }
        guard status.st_size <= Self.largestSize else {
            throw .corrupt(
                path: path, reason: "it has \(status.st_size) bytes, at most \(Self.largestSize) are read")
        }
        return try readAll(descriptor, expecting: Int(status.st_size))
    }

    private func readAll(_ descriptor: CInt, expecting count: Int) throws(OverridesError) -> [UInt8] {
        var bytes = [UInt8](repeating: 0, count: count)
        var filled = 0
        while filled < count {
            let result = bytes.withUnsafeMutableBytes { buffer in
                Glibc.read(descriptor, buffer.baseAddress.map { $0 + filled }, count - filled)
            }
            if result < 0, errno == EINTR { continue }
            guard result >= 0 else { throw failure("read") }
            if result == 0 { break }
            filled += result
        }
        return Array(bytes.prefix(filled))
    }

    func failure(_ action: String, _ path: String? = nil) -> OverridesError {
        .system(action: action, path: path ?? self.path, reason: String(cString: strerror(errno)))
    }
}
