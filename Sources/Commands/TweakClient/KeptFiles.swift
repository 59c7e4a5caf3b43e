// SPDX-License-Identifier: BSD-3-Clause
package import CommandSupport
internal import Glibc
internal import TweakMemory
internal import TweakOverrides
internal import TweakProtocol
internal import TweakSystem

/// Everything that is kept for a program: the folder with its overrides, presets, panels and adopted variables.
package struct KeptFiles {
    /// A file in the folder. Scripts rely on its JSON keys.
    package struct File: Encodable {
        /// The path, relative to the folder.
        package let path: String
        /// In bytes.
        package let size: Int64
        /// The target of a symbolic link, which stays; `nil` if it is none.
        package let target: String?
    }

    /// The name under which the files are kept.
    package let application: String
    /// The folder's path, without symbolic links.
    package let folder: String
    /// The path of the program's executable, if it is known.
    private let executable: String?

    /// The names of all programs for which something is kept, sorted.
    package static var applications: [String] {
        guard let any = try? OverridesFile(application: "any").directory else { return [] }
        let folder = containingFolder(of: any)
        return directoryEntries(folder)
            .filter { !$0.hasPrefix(".") && stat(path: "\(folder)/\($0)")?.isDirectory == true }.sorted()
    }

    /// Finds the files of a program that does not run.
    ///
    /// - Parameters:
    ///   - name: The name of its folder, or else what ``ProgramSearch`` takes.
    ///   - warn: Called with problems in the files of the program.
    /// - Throws: ``Failure``; with `.busy` if the program runs, with `.missing` if nothing is kept.
    package init(named name: String, warn: @escaping (Warning) -> Void) throws(Failure) {
        if let folder = try Self.folder(of: name) {
            (application, self.folder, executable) = (name, folder, nil)
            return
        }
        let programs = try ProgramSearch(warn: warn).programs(named: name)
        if let running = programs.first(where: { $0.pid != nil }) { throw Self.isRunning(running.title) }
        guard let program = programs.first else { throw Failure("\(name): nothing is kept for it", .missing) }
        let description = try program.description
        guard let folder = try Self.folder(of: description.application) else {
            throw Failure("nothing is kept for it", about: program.title, .missing)
        }
        (application, self.folder) = (description.application, folder)
        executable = description.program
    }

    /// - Returns: `nil` if there is no such folder, or if the name cannot be that of one, as `..`.
    private static func folder(of application: String) throws(Failure) -> String? {
        guard ApplicationName.isUsable(application) else { return nil }
        let path = try failing { try OverridesFile(application: application).directory }
        var status = stat()
        guard withPath(path, { lstat($0, &status) }) == 0 else {
            guard errno == ENOENT || errno == ENOTDIR else {
                throw Failure("\(path): \(systemMessage())", .inputOutput)
            }
            return nil
        }
        let parent = try existingFolder(containingFolder(of: path))
        guard status.isDirectory else {
            throw Failure("\(path): it is not a folder, so it stays; remove it yourself", .forbidden)
        }
        guard status.st_uid == geteuid(), stat(path: parent)?.st_uid == geteuid() else {
            throw Failure("\(path): it does not belong to you", .forbidden)
        }
        return "\(parent)/\(application)"
    }

    /// The files, by path.
    ///
    /// - Throws: ``Failure`` with `.forbidden` if one of them belongs to another user, or is a mounted one.
    package func files() throws(Failure) -> [File] {
        let entries = try failing { try FolderTree(path: folder).entries() }
        let others = entries.filter { $0.status.st_uid != geteuid() || isMountPoint("\(folder)/\($0.path)") }
        guard others.isEmpty else {
            throw Failure(
                "\(folder): nothing was removed, because the folder contains files of other users or mount "
                    + "points",
                details: others.map(\.path).beginning, .forbidden)
        }
        return entries.filter { !$0.status.isDirectory }.map { entry in
            let isLink = entry.status.st_mode & S_IFMT == S_IFLNK
            return File(
                path: entry.path, size: Int64(entry.status.st_size),
                target: isLink ? readLink("\(folder)/\(entry.path)") ?? "" : nil)
        }
    }

    /// The folders in which an agent has written values for the program. They are not among the files.
    package var agentFolders: [String] {
        ProvidedFolders.all(isPrivileged: false).map { "\($0)/\(application)" }.filter { isAccessible($0) }
    }

    /// Throws with `.busy` if the program runs: its values would return to their defaults, and its next change would
    /// be kept again.
    package func checkIsNotRunning() throws(Failure) {
        for entry in Survey(of: RunningProgram.all(ofAllUsers: false)).entries
        where entry.description?.application == application { throw Self.isRunning(entry.running.title) }
        // A process that does not listen.
        var scan = ProcessScan()
        for process in ProcessEntry.all where process.user == geteuid() {
            guard let path = process.executable else { continue }
            let isOfName = executable.map { $0 == path } ?? (lastComponent(of: path) == application)
            if process.watches(folder)
                || isOfName && process.isOfSession
                    && [.library, .tweaks].contains(scan.content(of: process.pid))
            {
                throw Self.isRunning("\(lastComponent(of: path)) (\(process.pid))")
            }
        }
    }

    private static func isRunning(_ title: String) -> Failure {
        Failure(
            "nothing was removed, because it is running; stop it, or reset its tweaks", about: title, .busy)
    }

    /// Removes the folder with all files. From one moment on nothing is kept, also if the command is killed.
    ///
    /// - Throws: ``Failure``; either all files are there, or no program sees any.
    package func remove() throws(Failure) {
        // A command that was killed may have left one.
        let hidden = "\(containingFolder(of: folder))/.forgotten-\(application)"
        try failing {
            if withPath(hidden, { access($0, F_OK) }) == 0 { try FolderTree(path: hidden).remove() }
        }
        try failing {
            // Nobody writes overrides meanwhile.
            try KeptFile(path: folder + "/overrides.json").withLock { () throws(OverridesError) in
                guard withPath(folder, { from in withPath(hidden) { rename(from, $0) } }) == 0 else {
                    throw .system(action: "remove", path: folder, reason: systemMessage())
                }
            }
        }
        try failing { try FolderTree(path: hidden).remove() }
    }
}
