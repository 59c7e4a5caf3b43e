// SPDX-License-Identifier: BSD-3-Clause
package import ArgumentParser
import CommandCompletion
package import CommandSupport
import Glibc
import TweakRecords
import TweakSystem

/// The version that the commands of the agent print.
package let agentVersion = "tweak-agent \(libraryVersion)"

/// A command that needs the trait `Remote`.
package protocol AgentCommand: ParsableCommand {
    func perform() throws(Failure)
}

extension AgentCommand {
    package func run() throws {
        try Failure.reported(by: "tweak-agent") { () throws(Failure) in try performIfBuilt() }
    }

    func performIfBuilt() throws(Failure) {
        #if Remote
        try perform()
        #else
        throw Failure(
            "this was built without remote values; build it with the trait Remote", .unavailable)
        #endif
    }

    #if !Remote
    package func perform() {}
    #endif
}

/// The path of the agent's configuration.
///
/// - Parameter named: The path on the command line; `nil` for the usual one.
package func agentConfiguration(_ named: String?) throws(Failure) -> String {
    if let named { return named }
    if geteuid() == 0 { return "/etc/tweaks/agent.json" }
    if let folder = environment("XDG_CONFIG_HOME"), folder.hasPrefix("/") {
        return folder + "/tweaks/agent.json"
    }
    guard let home = environment("HOME"), home.hasPrefix("/") else {
        throw Failure("HOME is not set; name a file with --configuration", .usage)
    }
    return home + "/.config/tweaks/agent.json"
}
