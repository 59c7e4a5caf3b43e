// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Dispatch
import TweakFleet

/// Answers requests to a fleet as `tweak fleet` does, with its checks and messages.
final class FleetClient: Sendable {
    /// The configuration whose `etcd` names the cluster; `nil` for the agent's.
    private let configuration: String?
    /// Others wait until one of these is answered.
    private let free = DispatchSemaphore(value: 8)

    /// Longer than a cluster of several members is asked.
    private static let patience = 30.0

    /// - Throws: ``Failure`` if this program was built without the agent.
    init(configuration: String?) throws(Failure) {
        guard FleetAnswer.isPossible else {
            throw Failure(
                "tweak-agent is not installed with this program; tools/install --with-agent installs it",
                .unavailable)
        }
        self.configuration = configuration
    }

    private var given: [String] { configuration.map { ["--configuration=\($0)"] } ?? [] }

    /// Runs a subcommand. Blocks the thread.
    ///
    /// - Parameters:
    ///   - options: Each option as one word with its value, so that no value is taken for an option.
    ///   - arguments: Never taken for options.
    func answer(
        _ subcommand: String, _ options: [String], _ arguments: [String]
    ) throws(Failure) -> FleetAnswer {
        guard free.wait(timeout: .now() + Self.patience) == .success else {
            throw Failure("too many fleet requests are running; try again", .busy)
        }
        defer { free.signal() }
        return try FleetAnswer(to: [subcommand, "--format=json"] + given + options + ["--"] + arguments)
    }

    /// Waits for a change of values or kills.
    ///
    /// - Parameters:
    ///   - options: The environment.
    ///   - revision: The revision of etcd after which it is made.
    /// - Returns: Whether there was one in that time.
    func waitForChange(
        of application: String, _ options: [String], after revision: Int, atMost time: Duration
    ) async throws(Failure) -> Bool {
        try await FleetAnswer.waitForChange(
            given + options + ["--", application], after: revision, atMost: time)
    }
}
