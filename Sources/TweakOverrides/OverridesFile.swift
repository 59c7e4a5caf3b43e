internal import Glibc
public import TweakRecords
internal import TweakSystem

/// The file that keeps an application's overrides.
///
/// It is replaced as a whole and never changed in place, so a reader sees the state before or after a write. Writers
/// take turns by a lock on a file beside it.
public struct OverridesFile: Hashable, Sendable {
    /// Where it is: `$XDG_CONFIG_HOME/tweaks/<application>/overrides.json` unless it was made with another path.
    public let path: String

    /// The directory that it is in, with what else is kept of the application.
    package var directory: String { path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "." }

    private var file: KeptFile { KeptFile(path: path) }

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

    /// The content; `nil` if there is no file.
    package func read() throws(OverridesError) -> [UInt8]? { try file.read() }

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
                return try file.withLock { () throws(OverridesError) in try loadOrSetAside() }
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
        try file.makeDirectories()
        return try file.withLock { () throws(OverridesError) in
            let (before, problem) = try loadOrSetAside()
            var after = before
            for (key, value) in changes { after.set(value, for: key) }
            if after != before { try file.replace(with: after.json()) }
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
            guard rename(path, aside) == 0 else { throw file.failure("rename") }
            return aside
        }
        throw .system(action: "rename", path: path, reason: "there are 1000 broken files beside it")
    }
}

/// Why overrides could not be read or written.
public enum OverridesError: Error, Hashable {
    /// No directory for settings is known: neither `XDG_CONFIG_HOME` nor `HOME` is an absolute path, or the
    /// process runs with more rights than its user.
    case noDirectory(reason: String)
    /// The file holds something else than overrides.
    case corrupt(path: String, reason: String)
    /// A file or directory could not be read, made, locked or written.
    case system(action: String, path: String, reason: String)
}

extension OverridesError: CustomStringConvertible {
    /// What failed, where, and why.
    public var description: String {
        switch self {
        case .noDirectory(let reason): "overrides cannot be kept: \(reason)"
        case .corrupt(let path, let reason): "\(path): \(reason)"
        case .system(let action, let path, let reason): "cannot \(action) \(path): \(reason)"
        }
    }
}
