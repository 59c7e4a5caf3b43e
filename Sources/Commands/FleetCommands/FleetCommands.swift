package import ArgumentParser

/// What does what a command says.
package protocol FleetRunner {
    static func run(_ action: FleetAction) throws
}

/// `tweak fleet`, in each of the programs that have it.
package struct FleetCommand<Runner: FleetRunner>: ParsableCommand {
    package static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "fleet", abstract: "Show and change the values of a fleet, in etcd.",
            discussion: """
                The agents of all hosts follow these values, and the processes have them a moment later. The cluster is the \
                one that the agent's configuration has under "etcd". A change is one transaction, which also keeps who has \
                made it, when, why, and what was there before; the last \(keptChanges) are kept. `tweak sign` and this are \
                the parts of `tweak` that need tweak-agent.

                EXIT STATUS
                  0   done
                  64  the command line is wrong
                  65  there is no such tweak, value or filter, or the value cannot be taken
                  66  there is no configuration
                  69  no member of the cluster answers, or tweak-agent was built without values from afar
                  75  somebody else was faster; nothing was changed
                  77  etcd refuses: the user may not, or there is no room
                  78  the configuration is wrong
                """,
            subcommands: [
                FleetList<Runner>.self, FleetGet<Runner>.self, FleetSet<Runner>.self,
                FleetReset<Runner>.self, FleetWatch<Runner>.self, FleetHistory<Runner>.self,
                FleetRollback<Runner>.self,
            ])
    }

    private static var keptChanges: String { "1,000" }

    package init() {}
}

struct FleetList<Runner: FleetRunner>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: "list", abstract: "Show all values of an application.")
    }
    @OptionGroup var options: FleetListOptions
    func run() throws { try Runner.run(.list(options)) }
}

struct FleetGet<Runner: FleetRunner>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(commandName: "get", abstract: "Show the value of a tweak.")
    }
    @OptionGroup var options: FleetGetOptions
    func run() throws { try Runner.run(.get(options)) }
}

struct FleetSet<Runner: FleetRunner>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "set", abstract: "Change the value of a tweak.",
            discussion: """
                With --program, or if the tweak has a value already, the new one is written as for `tweak set`. Otherwise it is \
                JSON: true, false, a number, or a text in quotation marks. A value that starts with a minus sign comes behind \
                `--`.
                """)
    }
    @OptionGroup var options: FleetSetOptions
    func run() throws { try Runner.run(.set(options)) }
}

struct FleetReset<Runner: FleetRunner>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "reset", abstract: "Remove the value of a tweak, so that the next source counts.")
    }
    @OptionGroup var options: FleetResetOptions
    func run() throws { try Runner.run(.reset(options)) }
}

struct FleetWatch<Runner: FleetRunner>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "watch", abstract: "Show changes as they are made, until it is interrupted.")
    }
    @OptionGroup var options: FleetWatchOptions
    func run() throws { try Runner.run(.watch(options)) }
}

struct FleetHistory<Runner: FleetRunner>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "history", abstract: "Show who has changed what, when and why, the newest last.")
    }
    @OptionGroup var options: FleetHistoryOptions
    func run() throws { try Runner.run(.history(options)) }
}

struct FleetRollback<Runner: FleetRunner>: ParsableCommand {
    static var configuration: CommandConfiguration {
        CommandConfiguration(
            commandName: "rollback",
            abstract: "Make everything as it was at a revision, which is a change like any other.")
    }
    @OptionGroup var options: FleetRollbackOptions
    func run() throws { try Runner.run(.rollback(options)) }
}
