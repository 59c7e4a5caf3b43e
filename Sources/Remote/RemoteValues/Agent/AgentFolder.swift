// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import Dispatch
internal import Glibc
package import TweakOverrides
package import TweakRecords
internal import TweakSystem
internal import TweakTargeting

/// The directory that an agent writes and processes read.
///
/// Files are replaced atomically, so an agent killed at any moment leaves complete ones.
package final class AgentFolder: Sendable {
    package let path: String
    /// Held during the lifetime of this object, so that there is only one agent.
    private let lock: CInt

    /// Files that no process follows. A file beside those of an application would wake all its processes.
    private static let own = ".agent"
    private static let lockName = "lock"

    /// The default directory: that of the system for root and under systemd, otherwise the user's own.
    ///
    /// - Returns: `nil` if there is no home directory.
    package static var usual: String? {
        if let path = environment("STATE_DIRECTORY")?.split(separator: ":").first { return String(path) }
        return geteuid() == 0 ? ProvidedFolders.system : ProvidedFolders.own
    }

    /// Creates the directory if necessary.
    ///
    /// - Throws: ``OverridesError`` if it is not writable, or another agent uses it.
    package init(_ path: String) throws(OverridesError) {
        self.path = path
        let own = path + "/" + Self.own
        try Self.makeFolder(own)
        let file = own + "/" + Self.lockName
        lock = openFile(file, O_RDWR | O_CREAT | O_NOFOLLOW, mode: 0o600)
        guard lock >= 0 else { throw Self.failure("open", file) }
        // With all properties set, the deinitializer closes the descriptor.
        guard flock(lock, LOCK_EX | LOCK_NB) == 0 else {
            guard errno == EWOULDBLOCK else { throw Self.failure("lock", file) }
            throw .system(action: "lock", path: file, reason: "another tweak-agent writes into this folder")
        }
    }

    deinit { close(lock) }

    private static func failure(_ action: String, _ path: String, _ error: CInt = errno) -> OverridesError {
        .system(action: action, path: path, reason: systemMessage(error))
    }

    /// Creates a world-readable directory and its parents.
    private static func makeFolder(_ path: String) throws(OverridesError) {
        do throws(FileError) { try makeFolders(path, permissions: 0o755) } catch {
            throw OverridesError(error)
        }
    }

    private func file(_ application: String, _ provider: TweakSource) -> String {
        "\(path)/\(application)/\(provider).json"
    }

    /// The file last written for an application, or `nil`.
    ///
    /// - Throws: ``OverridesError`` if the file is corrupt.
    package func last(
        _ application: String, from provider: TweakSource
    ) throws(OverridesError) -> ProvidedFile? {
        let file = KeptFile(path: file(application, provider))
        guard let bytes = try file.read() else { return nil }
        return try ProvidedFile(json: bytes, path: file.path)
    }

    /// Writes files that processes follow.
    ///
    /// - Returns: The error of each file, or `nil`.
    package func write(_ updates: [KeptUpdate]) async -> [OverridesError?] {
        // Flushing blocks a thread, of which Swift has one for each processor.
        await withCheckedContinuation { continuation in
            DispatchQueue.global().async { [self] in
                let files = updates.map {
                    NewFile(path: file($0.application, $0.provider), bytes: $0.file.json())
                }
                let errors = FileReplacement.replaceAll(files, permissions: 0o644)
                continuation.resume(returning: errors.map { $0.map { OverridesError($0) } })
            }
        }
    }

    /// The directory for the times of an origin's checks. No application name starts with a dot.
    private func notes(_ provider: TweakSource) -> String {
        "\(path)/\(Self.own)" + (provider == .remote ? "" : "/.\(provider)")
    }

    /// Removes the files of applications that no longer have an origin; otherwise their values would apply for ever.
    ///
    /// Files that the agent did not write have no time of a check, and stay.
    ///
    /// - Returns: A message for each file that was removed, or could not be.
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
                ? (name, "its source \(provider) is no longer configured; \(file) was removed") : nil
        }
    }

    /// Records the time of a check of an application's origin, as the modification time of a file.
    package func noteCheck(of application: String, at provider: TweakSource) {
        let folder = notes(provider)
        let path = "\(folder)/\(application)"
        guard withPath(path, { utimensat(AT_FDCWD, $0, nil, AT_SYMLINK_NOFOLLOW) }) != 0 else { return }
        func create() -> CInt { openFile(path, O_WRONLY | O_CREAT | O_NOFOLLOW, mode: 0o644) }
        var descriptor = create()
        if descriptor < 0, errno == ENOENT {
            try? Self.makeFolder(folder)
            descriptor = create()
        }
        if descriptor >= 0 { close(descriptor) }
    }
}
#endif
