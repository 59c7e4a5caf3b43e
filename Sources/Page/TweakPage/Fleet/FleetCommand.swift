// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport

/// Runs `tweak fleet`, which has its own credentials.
final class FleetCommand: Sendable {
    private let command = InstalledCommand(
        "tweak fleet", of: "tweak-agent", at: [["tweak-fleet"], ["tweak-agent", "fleet"]],
        installedBy: "tools/install --with-agent")
    /// The configuration whose `etcd` names the cluster; `nil` for the agent's.
    private let configuration: String?

    /// - Throws: ``Failure`` if the command is not installed.
    init(configuration: String?) throws(Failure) {
        self.configuration = configuration
        try command.find()
    }

    /// Runs a subcommand that prints JSON. Blocks the thread.
    ///
    /// - Parameters:
    ///   - options: Each option as one word with its value, so that no value is taken for an option.
    ///   - arguments: Never taken for options.
    func run(
        _ subcommand: String, _ options: [String], _ arguments: [String]
    ) throws(Failure) -> InstalledCommand.Answer {
        let given = configuration.map { ["--configuration=\($0)"] } ?? []
        return try command.run([subcommand, "--format=json"] + given + options + ["--"] + arguments)
    }
}
