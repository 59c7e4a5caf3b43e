// SPDX-License-Identifier: BSD-3-Clause
#if Remote
import Dispatch
import Glibc
import RemoteValues
import TweakClient
import TweakSystem

/// Counts the processes that follow the files of the agent.
///
/// Processes do not register, so it looks for those with a socket for `tweak` whose executable has the name of the
/// application, or is one of its programs.
struct ProcessCount: Sendable {
    private struct Application {
        let name: String
        let programs: Set<String>
    }

    private let applications: [Application]

    /// The interval of searches, which read some files of each process.
    private static let interval: Duration = .seconds(30)

    init(_ fleet: [EtcdSettings]) {
        applications = fleet.map { settings in
            // Executables are found with links resolved.
            Application(
                name: settings.name, programs: Set(settings.programs.map { realPath($0) ?? $0 }))
        }
    }

    /// Counts until the task is cancelled.
    func count(for reporter: HostReporter) async {
        while !Task.isCancelled {
            // Reading blocks a thread, of which Swift has one for each processor.
            let found: [String: Int]? = await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: counts()) }
            }
            reporter.note(processes: found)
            try? await Task.sleep(for: Self.interval)
        }
    }

    /// The number of processes by application; `nil` if they cannot be seen.
    private func counts() -> [String: Int]? {
        guard RunningProgram.canSeeAll else { return nil }
        let executables = RunningProgram.all().filter { !$0.hasEnded }.compactMap(\.executable)
        let names = Dictionary(executables.map { (lastComponent(of: $0), 1) }, uniquingKeysWith: +)
        var counts: [String: Int] = [:]
        for application in applications {
            let others = executables.count {
                application.programs.contains($0) && lastComponent(of: $0) != application.name
            }
            counts[application.name] = (names[application.name] ?? 0) + others
        }
        return counts
    }
}
#endif
