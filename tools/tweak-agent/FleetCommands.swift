import ArgumentParser

struct FleetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "fleet", _superCommandName: "tweak",
        abstract: "Show and change the values of a fleet, in etcd.",
        discussion: """
            The agents of all hosts follow these values, and the processes have them a moment later. The cluster is the \
            one that the agent's configuration has under "etcd". A change is one transaction, which also records who made \
            it, when, why, and the value before; the last 1,000 are kept.

            EXIT STATUS
              0   done
              64  the command line is wrong
              65  there is no such tweak, value or filter, or the value cannot be taken
              66  there is no configuration
              69  no member of the cluster answers, or tweak-agent was built without remote values
              75  somebody else was faster; nothing was changed
              77  etcd refuses: the user may not, or there is no room
              78  the configuration is wrong
            """,
        version: TweakAgent.version,
        subcommands: [
            FleetList.self, FleetGet.self, FleetSet.self, FleetReset.self, FleetWatch.self, FleetHistory.self,
            FleetRollback.self,
        ])
}

/// The form of the output.
enum FleetFormat: String, CaseIterable, ExpressibleByArgument {
    case table, json
}

/// Whose values they are, and where.
struct FleetOptions: ParsableArguments {
    @Option(
        name: .customLong("configuration"),
        help: ArgumentHelp(
            "A file whose \"etcd\" says where the values are; without it that of the agent.",
            valueName: "file"),
        completion: .file(extensions: ["json"]))
    var configurationPath: String?

    @Option(
        help: ArgumentHelp("Another environment than that of the configuration.", valueName: "name"))
    var environment: String?

    @Option(help: "The form of the output.")
    var format: FleetFormat = .table

    @Argument(help: "The application, by what its values are kept.")
    var application: String
}

/// Who changes something.
struct FleetAuthorOptions: ParsableArguments {
    @Option(help: ArgumentHelp("Who changes it; without it the user and the host.", valueName: "who"))
    var by: String?

    @Option(help: ArgumentHelp("Why, for the others.", valueName: "reason"))
    var why: String?
}

struct FleetList: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "list", abstract: "Show all values of an application.")

    @OptionGroup var fleet: FleetOptions
}

struct FleetGet: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Show the value of a tweak.")

    @OptionGroup var fleet: FleetOptions

    @Argument(help: "The tweak, as Category/Collection/Name or shorter.")
    var tweak: String
}

struct FleetSet: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change the value of a tweak.",
        discussion: """
            With --program, or if the tweak has a value already, the new one is written as for `tweak set`. Otherwise it is \
            JSON: true, false, a number, or a text in quotation marks. A value that starts with a minus sign comes behind \
            `--`.
            """)

    @OptionGroup var author: FleetAuthorOptions

    @Option(
        help: ArgumentHelp(
            "A program with the tweak, which says which values that takes: a process id, a path or a name.",
            valueName: "program"), completion: .file())
    var program: String?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "For which hosts and programs it is, as a JSON object with the filters that a feature has.",
            valueName: "filters"))
    var filters: String?

    @Option(
        help: ArgumentHelp(
            "Only if it was last changed at this revision; 0 if it must have no value.", valueName: "revision"
        ))
    var ifRevision: Int?

    @OptionGroup var fleet: FleetOptions

    @Argument(help: "The tweak, as Category/Collection/Name or shorter.")
    var tweak: String

    @Argument(help: "The new value.")
    var value: String
}

struct FleetReset: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Remove the value of a tweak, so that the next source counts.")

    @OptionGroup var author: FleetAuthorOptions

    @Option(
        help: ArgumentHelp("Only if it was last changed at this revision.", valueName: "revision"))
    var ifRevision: Int?

    @OptionGroup var fleet: FleetOptions

    @Argument(help: "The tweak, as Category/Collection/Name or shorter.")
    var tweak: String
}

struct FleetWatch: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Show changes as they are made, until it is interrupted.")

    @OptionGroup var fleet: FleetOptions
}

struct FleetHistory: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Show who has changed what, when and why, the newest last.")

    @Option(help: ArgumentHelp("Only the newest ones.", valueName: "count"))
    var last: Int?

    @OptionGroup var fleet: FleetOptions

    @Argument(help: "Only changes of this tweak.")
    var tweak: String?

    func validate() throws {
        guard last ?? 1 > 0 else { throw ValidationError("--last takes a number above 0.") }
    }
}

struct FleetRollback: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback",
        abstract: "Make everything as it was at a revision, which is a change like any other.")

    @OptionGroup var author: FleetAuthorOptions

    @OptionGroup var fleet: FleetOptions

    @Argument(help: "Everything becomes as it was at this revision.")
    var revision: Int

    @Argument(help: "Only this tweak.")
    var tweak: String?
}
