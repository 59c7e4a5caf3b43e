import ArgumentParser
import CommandSupport
import FleetCommands

/// Becomes tweak-agent, which speaks with etcd.
enum FleetPart: FleetRunner {
    static func run(_ action: FleetAction) throws {
        try reportingFailure { () throws(Failure) in
            // The name of the command is that of its subcommand too.
            try becomePart("tweak-agent", dropping: 1, installedBy: "--with-agent")
        }
    }
}
