// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import CommandSupport
import Glibc
import Synchronization
import TweakClient
import TweakSystem

/// Monitors and tweaks of the running applications, as a text file for node_exporter's textfile collector.
final class ProgramMetrics: Sendable {
    private let path: String
    private let state = Mutex<(applications: Set<String>, isProblemSaid: Bool)>(([], false))

    /// The collector reads the file every fifteen seconds.
    private static let period: UInt32 = 10

    init(path: String) { self.path = path }

    /// Sets the configured applications. Other programs are not asked.
    func keep(only applications: [String]) { state.withLock { $0.applications = Set(applications) } }

    /// Writes the file periodically, on a thread that may block.
    func start() throws(Failure) {
        let problem = startThread { [self] in
            while true {
                write()
                sleep(Self.period)
            }
        }
        if let problem { throw Failure("a thread: \(systemMessage(problem))", .system) }
    }

    /// Asks the applications, at most a second, and writes the file.
    func write() {
        let applications = state.withLock { $0.applications }
        let survey = Survey(of: RunningProgram.all(ofAllUsers: false).filter { $0.isOne(of: applications) })
        var metrics = TweakMetrics(.prometheus)
        for entry in survey.entries {
            guard let executable = entry.running.executable else { continue }
            metrics.add(lastComponent(of: executable), process: entry.running.pid, entry.tweaks)
        }
        let running = Set(survey.entries.compactMap { $0.running.executable.map { lastComponent(of: $0) } })
        for name in applications.subtracting(running).sorted() { metrics.add(name, nil) }
        var message: String?
        do throws(FileError) {
            try FileReplacement.replace(path, with: metrics.text, permissions: 0o644, isLocked: true)
        } catch {
            message = "\(error)"
        }
        let wasSaid = state.withLock { state in
            defer { state.isProblemSaid = message != nil }
            return state.isProblemSaid
        }
        if let message, !wasSaid { printMessage(message, of: "tweak-agent") }
    }
}

extension RunningProgram {
    /// Whether the executable has one of these names.
    fileprivate func isOne(of applications: Set<String>) -> Bool {
        executable.map { applications.contains(lastComponent(of: $0)) } ?? false
    }
}
#endif
