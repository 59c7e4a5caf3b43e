// SPDX-License-Identifier: BSD-3-Clause
package import CommandSupport
internal import Glibc
internal import TweakMemory
internal import TweakOverrides
internal import TweakSystem

/// A running process of a program that has not got a change. Scripts rely on its JSON keys.
package struct MissedProcess: Encodable, Sendable {
    /// The reason why it has not got the change.
    package enum Kind: String, Encodable, Sendable {
        /// It belongs to another user.
        case otherUser
        /// It has the Tweaks library, but does not follow the overrides file, and was not asked.
        case unreachable
        /// It runs another build of the program, without tweaks.
        case noTweaks
        /// The Tweaks library is not in it, and other processes of the program have it.
        case noLibrary
        /// It was asked and failed, for example because it is stopped.
        case failed
    }

    package let pid: Int32
    package let kind: Kind
    /// The name of its user.
    package let user: String?
    /// The failure to report, which ends the command with its status.
    package let failure: Failure

    /// What happened, for people.
    package let message: String

    private enum CodingKeys: CodingKey { case pid, kind, user, message }

    fileprivate init(_ process: ProcessEntry, _ name: String, _ kind: Kind, isKept: Bool) {
        (pid, self.kind) = (process.pid, kind)
        let user = userName(process.user)
        self.user = user
        let reason =
            switch kind {
            case .otherUser: "it belongs to \(user)"
            case .unreachable where !process.socketPaths.isEmpty:
                "it does not follow the overrides file; use --all-processes"
            case .unreachable where isKept:
                "it neither accepts connections nor follows the overrides file"
            case .unreachable: "it does not accept connections"
            case .noTweaks: "its build has no tweaks"
            case .noLibrary: "the Tweaks library is not in it"
            case .failed: "it cannot be queried"
            }
        message = "it is running but did not receive the change: \(reason)"
        failure = Failure(
            message, about: "\(name) (\(process.pid))", kind == .otherUser ? .forbidden : .unavailable)
    }

    fileprivate init(_ fork: LiveProgram, _ problem: Failure) {
        (pid, kind, user) = (fork.running.pid, .failed, fork.running.user)
        message = "it is running but did not receive the change: \(problem.message)"
        failure = Failure(message, details: problem.details, about: fork.title, problem.kind)
    }
}

/// The running processes of a program after a change. They are looked for when they are asked for, because only then is it
/// known whether they follow the overrides file.
package final class ChangedProcesses {
    private let programs: [any Program]
    private let named: Int32?
    /// Whether something has changed.
    package private(set) var areChanged = false
    /// Whether the overrides file has the change.
    package private(set) var isKept = true
    private var found: (following: [Int32], missed: [MissedProcess])?

    /// The time in which a process notices that the folder of the overrides file is there.
    private static let patience: Duration = .milliseconds(500)

    /// - Parameters:
    ///   - programs: The programs that are changed.
    ///   - named: The process that the user named; `nil` if all processes of the program are meant.
    package init(of programs: [any Program], named: Int32?) {
        (self.programs, self.named) = (programs, named)
    }

    /// Notes a change.
    ///
    /// - Parameter isKept: Whether the overrides file has it.
    package func noteChange(isKept: Bool = true) { (areChanged, self.isKept) = (true, isKept) }

    /// The processes that follow the overrides file, but do not accept connections. They have got what is kept.
    package var following: [Int32] { search().following }

    /// The processes that have not got the change.
    package var missed: [MissedProcess] {
        let forks = programs.flatMap { ($0 as? LiveProgram)?.missedForks ?? [] }
        return forks.map { MissedProcess($0.fork, $0.problem) } + search().missed
    }

    /// The processes that were asked, of all programs.
    private var asked: [Int32] {
        programs.flatMap { program in
            let live = program as? LiveProgram
            let forks = (live?.reachedForks ?? []) + (live?.missedForks.map(\.fork) ?? [])
            return (program.pid.map { [$0] } ?? []) + forks.map(\.running.pid)
        }
    }

    private func search() -> (following: [Int32], missed: [MissedProcess]) {
        if let found { return found }
        let result = find()
        found = result
        return result
    }

    private func find() -> (following: [Int32], missed: [MissedProcess]) {
        let asked = Set(asked)
        guard let program = programs.first, named.map({ !asked.contains($0) }) ?? true,
            // Its description takes a request.
            let path = (program as? LiveProgram)?.running.executable ?? (try? program.description)?.program
        else { return ([], []) }
        let name = lastComponent(of: path)
        // An interpreter runs without tweaks in other processes. A running process may have an older build than the file.
        lazy var hasTweaks = ([path] + asked.map { "/proc/\($0)/exe" }).contains {
            ProcessScan.content(ofFile: $0).map { $0 != .nothing } ?? false
        }
        lazy var folder = isKept ? (try? program.description)?.overrides.map(folder(of:)) : nil
        var scan = ProcessScan()
        var (following, missed): ([Int32], [MissedProcess]) = ([], [])
        func miss(_ process: ProcessEntry, _ kind: MissedProcess.Kind) {
            missed.append(MissedProcess(process, name, kind, isKept: isKept))
        }
        for process in ProcessEntry.everybodys
        where !asked.contains(process.pid) && named ?? process.pid == process.pid && process.isOfSession {
            let isOthers = process.user != geteuid()
            guard let executable = process.executable else {
                // Another user's executable is not shown, but its name.
                if isOthers, asked.isEmpty, hasTweaks, process.isProbably(path, named: name) {
                    miss(process, .otherUser)
                }
                continue
            }
            guard executable == path else { continue }
            switch scan.content(of: process.pid) {
            case .library:
                if isOthers {
                    miss(process, .otherUser)
                } else if let folder, soon({ process.watches(folder) }) {
                    following.append(process.pid)
                } else {
                    miss(process, .unreachable)
                }
            case .tweaks: miss(process, .noLibrary)
            case .nothing where hasTweaks: miss(process, .noTweaks)
            case .nothing, nil: continue
            }
        }
        // A process that ends shows no executable, while its other threads may still be there.
        let remaining = missed.filter { process in
            executablePath(of: "\(process.pid)") == path
                || process.kind == .otherUser && !hasEnded(process: process.pid)
        }
        return (following, remaining)
    }

    private func soon(_ condition: () -> Bool) -> Bool {
        let end = ContinuousClock.now + Self.patience
        while !condition() {
            guard .now < end else { return false }
            usleep(10_000)
        }
        return true
    }
}

private func folder(of path: String) -> String {
    path.lastIndex(of: "/").map { String(path[..<$0]) } ?? "."
}

extension ProcessEntry {
    /// Whether it runs this executable as far as is shown to everybody: it has its name, and no other absolute path.
    fileprivate func isProbably(_ path: String, named name: String) -> Bool {
        // Kernel threads have no arguments.
        let first = read("cmdline").prefix { $0 != 0 }
        // The kernel keeps 15 bytes of the name.
        guard !first.isEmpty, read("comm").dropLast().elementsEqual(name.utf8.prefix(15)) else {
            return false
        }
        guard first.first == UInt8(ascii: "/") else { return true }
        let started = String(decoding: first, as: UTF8.self)
        return (realPath(started) ?? started) == path
    }

    /// Whether it is meant: if `XDG_RUNTIME_DIR` leads outside of /run/user, the user's processes with another one are not.
    var isOfSession: Bool {
        guard RunningProgram.isConfined, user == geteuid(), let environment = readEnvironment() else {
            return true
        }
        let variable = "XDG_RUNTIME_DIR"
        return Self.variable(variable, in: environment) == TweakSystem.environment(variable)
    }

    /// Whether it watches a folder with inotify(7). Source: proc_pid_fdinfo(5).
    func watches(_ folder: String) -> Bool {
        guard let node = stat(path: folder)?.st_ino else { return false }
        return openFiles.contains { number in
            read("fdinfo/\(number)").split(separator: UInt8(ascii: "\n")).contains { line in
                let fields = line.split(separator: UInt8(ascii: " "))
                return fields.first?.elementsEqual("inotify".utf8) == true
                    && fields.contains { $0.elementsEqual("ino:\(String(node, radix: 16))".utf8) }
            }
        }
    }
}
