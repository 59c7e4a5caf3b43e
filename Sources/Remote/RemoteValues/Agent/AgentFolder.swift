#if Remote
internal import Glibc
package import TweakOverrides
package import TweakRecords
internal import TweakSystem
internal import TweakTargeting

/// The folder that an agent writes into, and processes read.
///
/// An agent that is killed at any moment leaves whole files.
package final class AgentFolder: Sendable {
    package let path: String
    /// Held as long as this is there, so that there is one agent.
    private let lock: CInt

    /// What no process follows. A file beside those of an application would wake all its processes.
    private static let own = ".agent"
    private static let lockName = "lock"

    /// The folder that is written into if none is named: that of the system for root and under systemd, otherwise the user's own.
    ///
    /// - Returns: `nil` if there is no home directory.
    package static var usual: String? {
        if let path = environment("STATE_DIRECTORY")?.split(separator: ":").first { return String(path) }
        return geteuid() == 0 ? ProvidedFolders.system : ProvidedFolders.own
    }

    /// Makes the folder.
    ///
    /// - Throws: ``OverridesError`` if it cannot be written into, or another agent does.
    package init(_ path: String) throws(OverridesError) {
        self.path = path
        let own = path + "/" + Self.own
        try Self.makeFolder(own)
        let file = own + "/" + Self.lockName
        lock = openFile(file, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
        guard lock >= 0 else { throw Self.failure("open", file) }
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            let error = errno
            close(lock)
            guard error == EWOULDBLOCK else { throw Self.failure("lock", file, error) }
            throw .system(action: "lock", path: file, reason: "another tweak-agent writes into this folder")
        }
    }

    deinit { close(lock) }

    private static func failure(_ action: String, _ path: String, _ error: CInt = errno) -> OverridesError {
        .system(action: action, path: path, reason: systemMessage(error))
    }

    /// Makes a folder and those above it, into which all may look.
    private static func makeFolder(_ path: String) throws(OverridesError) {
        do throws(FileError) { try makeFolders(path, permissions: 0o755) } catch {
            throw OverridesError(error)
        }
    }

    private func file(_ application: String, _ provider: TweakSource) -> String {
        "\(path)/\(application)/\(provider).json"
    }

    /// What was written for an application before; `nil` if there is nothing.
    ///
    /// - Throws: ``OverridesError`` if it is damaged.
    package func last(
        _ application: String, from provider: TweakSource
    ) throws(OverridesError) -> ProvidedFile? {
        let file = KeptFile(path: file(application, provider))
        guard let bytes = try file.read() else { return nil }
        return try ProvidedFile(json: bytes, path: file.path)
    }

    /// Writes what processes follow.
    package func write(
        _ provided: ProvidedFile, for application: String, from provider: TweakSource
    ) throws(OverridesError) {
        try Self.makeFolder("\(path)/\(application)")
        try provided.write(to: file(application, provider))
    }

    /// Where checks of a source are noted. No application has a name that begins with a dot.
    private func notes(_ provider: TweakSource) -> String {
        "\(path)/\(Self.own)" + (provider == .remote ? "" : "/.\(provider)")
    }

    /// Removes what an agent has written for applications that do not have a source any more. It would count for ever.
    ///
    /// What was put there by other means has no note of a check, and stays.
    ///
    /// - Returns: What was removed, or why not.
    package func removeAll(from provider: TweakSource, except applications: [String]) -> [(
        application: String, message: String
    )] {
        let applications = Set(applications)
        return directoryEntries(notes(provider)).sorted().compactMap { (name) -> (String, String)? in
            guard !name.hasPrefix("."), name != Self.lockName, !applications.contains(name) else {
                return nil
            }
            let file = file(name, provider)
            let isRemoved = unlink(file) == 0
            guard isRemoved || errno == ENOENT else { return (name, "\(Self.failure("remove", file))") }
            unlink("\(notes(provider))/\(name)")
            return isRemoved
                ? (name, "its source \(provider) is not configured any more; \(file) was removed") : nil
        }
    }

    /// Notes that an application's source was asked: the time of the file says when.
    package func noteCheck(of application: String, at provider: TweakSource) {
        let folder = notes(provider)
        try? Self.makeFolder(folder)
        let descriptor = openFile(
            "\(folder)/\(application)", O_WRONLY | O_CREAT | O_NOFOLLOW, mode: 0o644)
        guard descriptor >= 0 else { return }
        futimens(descriptor, nil)
        close(descriptor)
    }
}
#endif
