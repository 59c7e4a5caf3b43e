// SPDX-License-Identifier: BSD-3-Clause
package import ArgumentParser
import CommandCompletion

package struct FleetCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "fleet", _superCommandName: "tweak",
        abstract: "Show and change the values of a fleet, in etcd.",
        discussion: """
            The agents of all hosts follow these values, and the processes receive them moments later. The cluster is the \
            one under "etcd" in the agent's configuration. A change is one transaction, which also records the author, \
            the time, the reason and the old value; the last 1,000 are kept. All commands name a change by its revision. The \
            first change in an environment other than the configured one needs --create, because its name may be mistyped.

            EXIT STATUS
              0   done
              1   a rollout ended early; with --check: something differs, or a host is
                  silent, refuses a value or is behind
              64  invalid command line
              65  no such environment, tweak, value, filter or build, or the value
                  is not allowed
              66  there is no configuration
              69  no member of the cluster answers within its timeout, or tweak-agent was
                  built without remote values
              75  somebody else changed it first; nothing was changed
              77  etcd refuses: the user lacks the permission, or there is no space
              78  the configuration is wrong
            """,
        version: agentVersion,
        subcommands: [
            FleetList.self, FleetGet.self, FleetSet.self, FleetReset.self, FleetStatus.self, FleetWatch.self,
            FleetHistory.self, FleetRollback.self, FleetDiff.self, FleetPromote.self, FleetKill.self,
            FleetUnkill.self, FleetRollout.self, FleetRollouts.self, FleetPause.self, FleetResume.self,
            FleetAbort.self, FleetDeclare.self, FleetBuilds.self, FleetApplications.self,
        ])

    package init() {}
}

/// An output format.
enum FleetFormat: String, FormatArgument {
    case table, json
}

/// The cluster that stores the values, and the output format.
struct FleetClusterOptions: ParsableArguments {
    @Option(
        name: .customLong("configuration"),
        help: ArgumentHelp(
            "A configuration whose \"etcd\" names the cluster (default: the agent's configuration).",
            valueName: "file"),
        completion: .file(extensions: ["json"]))
    var configurationPath: String?

    @Option(help: "The output format.")
    var format: FleetFormat = .table
}

/// The application whose values to use, and the cluster that stores them.
struct FleetOptions: ParsableArguments {
    @OptionGroup var cluster: FleetClusterOptions

    @Option(
        help: ArgumentHelp("The environment, instead of the one in the configuration.", valueName: "name"))
    var environment: String?

    @Argument(help: "The application whose values to use.")
    var application: String

    var format: FleetFormat { cluster.format }
}

/// Whether a change may be the first one in an environment.
struct FleetCreation: ParsableArguments {
    @Flag(name: .customLong("create"), help: "Create the environment if there is nothing in it yet.")
    var isAllowed = false
}

/// An application and two of its environments.
struct FleetEnvironmentOptions: ParsableArguments {
    @OptionGroup var cluster: FleetClusterOptions

    @Argument(help: "The application whose values to use.")
    var application: String

    @Argument(help: "An environment.")
    var from: String

    @Argument(help: "Another environment.")
    var to: String

    func validate() throws {
        guard from != to else { throw ValidationError("Both environments are \(from).") }
    }

    func options(in environment: String) -> FleetOptions {
        var options = FleetOptions()
        (options.cluster, options.environment, options.application) = (cluster, environment, application)
        return options
    }
}

/// The name of the author of a change, as somebody typed it, and the reason.
struct FleetAuthorOptions: ParsableArguments {
    @Option(
        help: ArgumentHelp(
            "A name to record beside the author, who is the user of etcd, or else the user and the host.",
            valueName: "who"))
    var by: String?

    @Option(help: ArgumentHelp("The reason for the change.", valueName: "reason"))
    var why: String?
}

/// The author of a change of values, and whether it is only shown.
struct FleetChangeOptions: ParsableArguments {
    @OptionGroup var author: FleetAuthorOptions

    @Flag(name: .customLong("dry-run"), help: "Check and show what would change, and change nothing.")
    var isDryRun = false
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
            With --program, or if the tweak is declared or already has a value, write the new one as for `tweak set`. \
            Otherwise write JSON: true, false, a number, or a text in quotation marks. Put `--` before a value that starts \
            with a minus sign.

            The value is checked against all published builds of the application, see `tweak fleet builds`. It is \
            refused if a build would refuse or clamp it, or if none declares the tweak and it has no value yet. Of an \
            undeclared tweak with a value, such as one that was set with --force, there is only a warning.
            """)

    @OptionGroup var change: FleetChangeOptions

    @Option(
        help: ArgumentHelp(
            "A program that declares the tweak, to check the value: a process id, a path or a name.",
            valueName: "program"), completion: .file())
    var program: String?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "The hosts and programs that use the value, as a JSON object with the filters of a feature.",
            valueName: "filters"))
    var filters: String?

    @Option(
        help: ArgumentHelp(
            "Change it only if its last change has this revision; 0 means that it has no value.",
            valueName: "revision"
        ))
    var ifRevision: Int?

    @Flag(
        name: .customLong("force"),
        help: "Set it even if no build declares it, or a build refuses or clamps it.")
    var isForced = false

    @OptionGroup var creation: FleetCreation

    @OptionGroup var fleet: FleetOptions

    @Argument(help: "The tweak, as Category/Collection/Name or shorter.")
    var tweak: String

    @Argument(help: "The new value.")
    var value: String
}

struct FleetReset: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Remove the value of a tweak, so that the next provider decides.")

    @OptionGroup var change: FleetChangeOptions

    @Option(
        help: ArgumentHelp("Remove it only if its last change has this revision.", valueName: "revision"))
    var ifRevision: Int?

    @OptionGroup var fleet: FleetOptions

    @Argument(help: "The tweak, as Category/Collection/Name or shorter.")
    var tweak: String
}

struct FleetStatus: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "status", abstract: "Show whether the newest change has arrived on all hosts.",
        discussion: """
            Agents report which change their host has, what builds on it refuse, and which sources fail. Listed are \
            hosts that are silent, that refuse values, that lack the newest change, or whose sources fail.

            A host is silent if its agent has not been in touch with etcd for 4 seconds, or 15 milliseconds per \
            host in a fleet of more than 260; it is forgotten after a day. Only hosts with reports are known: agents of \
            1.0.0-beta.1, agents without permission, and `tweak-agent --once` write none.
            """)

    @Flag(help: "Show each host.")
    var all = false

    @Option(help: ArgumentHelp("Also show what each host has of this tweak.", valueName: "tweak"))
    var tweak: String?

    @Flag(help: "Exit with 1 unless all hosts that are known have the newest change and refuse nothing.")
    var check = false

    @OptionGroup var fleet: FleetOptions
}

struct FleetWatch: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Show changes as they are made, until interrupted.")

    @OptionGroup var fleet: FleetOptions
}

struct FleetHistory: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "history", abstract: "Show the history of changes, newest last.")

    @Option(help: ArgumentHelp("Show only this many of the newest changes.", valueName: "count"))
    var last: Int?

    @OptionGroup var fleet: FleetOptions

    @Argument(help: "Show only changes of this tweak.")
    var tweak: String?

    func validate() throws {
        guard last ?? 1 > 0 else { throw ValidationError("--last must be greater than 0.") }
    }
}

struct FleetRollback: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollback",
        abstract: "Restore the state at a revision, as a new change.",
        discussion: """
            The values are checked against the published builds, as by `tweak fleet set`. If one is refused, nothing is \
            changed. Kills stay.
            """)

    @OptionGroup var change: FleetChangeOptions

    @Option(
        help: ArgumentHelp(
            "Restore only if none of the values was changed after this revision, which --dry-run shows.",
            valueName: "revision"))
    var ifRevision: Int?

    @Flag(
        name: .customLong("force"),
        help: "Restore values even if no build declares the tweak, or a build refuses or clamps them.")
    var isForced = false

    @OptionGroup var fleet: FleetOptions

    @Argument(help: "The revision to restore.")
    var revision: Int

    @Argument(help: "Restore only this tweak.")
    var tweak: String?
}

struct FleetDiff: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "diff", abstract: "Show the values and kills that differ between two environments.",
        discussion: """
            Values differ if only one environment has one, or if they are not the same or not for the same hosts. Authors, \
            times and reasons are not compared.
            """)

    @Flag(name: .customLong("check"), help: "Exit with the status 1 if something differs.")
    var isCheck = false

    @OptionGroup var environments: FleetEnvironmentOptions
}

struct FleetPromote: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote", abstract: "Copy values from one environment to another, as one change.",
        discussion: """
            Each value is copied with the hosts it is for, and checked against the builds that are published in the second \
            environment, as by `tweak fleet set`. If one is refused, none is copied. Kills are not copied, and values that \
            only the second environment has stay, unless --remove is given. If somebody changes one of the values there \
            meanwhile, nothing is changed.
            """)

    @OptionGroup var change: FleetChangeOptions

    @Option(
        help: ArgumentHelp(
            "Copy only if none of the values was changed after this revision, which --dry-run shows.",
            valueName: "revision"))
    var ifRevision: Int?

    @Flag(
        name: .customLong("remove"),
        help: "Also remove the values that the first environment does not have.")
    var isRemoving = false

    @Flag(
        name: .customLong("force"),
        help: "Copy values even if no build declares the tweak, or a build refuses or clamps them.")
    var isForced = false

    @OptionGroup var creation: FleetCreation

    @OptionGroup var environments: FleetEnvironmentOptions

    @Argument(
        help: "Copy only these tweaks, as Category/Collection/Name or shorter (default: all that differ).")
    var tweaks: [String] = []
}

struct FleetKill: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "kill", abstract: "Switch a feature off on all hosts, whatever else they have.",
        discussion: """
            A kill is above web servers, overrides and the environment; only the session and the leases of somebody who \
            works on a process are above it. It is off at once where agents and programs know kills, and stays off until \
            `tweak fleet unkill`. Any bool tweak can be killed.
            """)

    @OptionGroup var change: FleetChangeOptions

    @Flag(name: .customLong("force"), help: "Kill it even if no build declares it.")
    var isForced = false

    @OptionGroup var creation: FleetCreation

    @OptionGroup var fleet: FleetOptions

    @Argument(help: "The feature, or the tweak as Category/Collection/Name or shorter.")
    var feature: String

    func validate() throws {
        guard change.isDryRun || change.author.why?.isEmpty == false else {
            throw ValidationError("Give the reason for the kill with --why.")
        }
    }
}

struct FleetUnkill: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "unkill", abstract: "End a kill, so that the next provider decides.")

    @OptionGroup var change: FleetChangeOptions

    @OptionGroup var fleet: FleetOptions

    @Argument(help: "The feature, or the tweak as Category/Collection/Name or shorter.")
    var feature: String
}

/// The steps of a rollout, as `1,10,50,100`.
struct RolloutSteps: ExpressibleByArgument {
    let percentages: [Double]

    init?(argument: String) {
        var percentages: [Double] = []
        for part in argument.split(separator: ",", omittingEmptySubsequences: false) {
            guard let number = Double(part), number > 0, number <= 100, number > percentages.last ?? 0 else {
                return nil
            }
            percentages.append(number)
        }
        self.percentages = percentages
    }

    static var defaultCompletionKind: CompletionKind { .list(["1,10,50,100"]) }
}

struct FleetRollout: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollout",
        abstract: "Give a value to more and more hosts, and go back if something fails.",
        discussion: """
            Each step gives the value to a share of the hosts, as one change with its reason; the others keep the value they \
            had. Agents with "rollouts" in their configuration carry the plan out, one of them at a time. After the last step \
            the plan waits once more.

            The rollout is aborted, which restores the value before, if a check fails or a host refuses the value. It is \
            paused if hosts fall silent that have the value, or if the tweak is killed. It is stopped if somebody else \
            changes the value.

            Checks run before the first step, before each other step, and about ten times in between. With --check an agent \
            runs the executable that its configuration has under this name; commands are never taken from etcd. With \
            --until-failing the command runs here, and so this process carries the rollout out itself. If it is interrupted, \
            the rollout is paused; if it is killed, no more steps are made. `tweak fleet resume` goes on.
            """)

    @OptionGroup var author: FleetAuthorOptions

    @Option(help: ArgumentHelp("The percentages of hosts, ascending.", valueName: "percentages"))
    var steps: RolloutSteps

    @Option(help: ArgumentHelp("The time between steps, such as 10m.", valueName: "time"))
    var every: DurationArgument

    @Option(
        help: ArgumentHelp(
            "The time of the first step, in the format of RFC 3339 or as HH:MM in the next 24 hours.",
            valueName: "time"))
    var at: String?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "The hosts and programs that the percentages are of, as a JSON object with the filters of a feature.",
            valueName: "filters"))
    var filters: String?

    @Option(help: ArgumentHelp("The name of a check in the configuration of the agents.", valueName: "name"))
    var check: String?

    @OptionGroup var attendance: RolloutAttendance

    @Flag(
        name: .customLong("force"), help: "Roll it out even if no build declares it, or a build refuses it.")
    var isForced = false

    @OptionGroup var creation: FleetCreation

    @OptionGroup var fleet: FleetOptions

    @Argument(help: "The feature, or the tweak as Category/Collection/Name or shorter.")
    var feature: String

    @Argument(help: "The new value.")
    var value = "true"

    func validate() throws {
        guard author.why?.isEmpty == false else {
            throw ValidationError("Give the reason for the rollout with --why.")
        }
        guard check == nil || !attendance.isAttended else {
            throw ValidationError(
                "--check runs on agents; it cannot be combined with --attend or --until-failing.")
        }
        let seconds = every.seconds.rounded(.up)
        guard RolloutLimits.pauses ~= seconds else {
            throw ValidationError("--every must be between 1 second and 30 days.")
        }
    }
}

/// Whether this process carries out a rollout.
struct RolloutAttendance: ParsableArguments {
    @Flag(help: "Carry the rollout out here, and print its progress; no agent does.")
    var attend = false

    @Option(
        help: ArgumentHelp(
            "Like --attend, and abort it when this shell command fails, which runs here.",
            valueName: "command"))
    var untilFailing: String?

    var isAttended: Bool { attend || untilFailing != nil }
}

/// The seconds between steps.
enum RolloutLimits {
    static let pauses = 1.0...2_592_000.0
}

struct FleetRollouts: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "rollouts", abstract: "Show the rollouts of an application, with their progress.")

    @OptionGroup var fleet: FleetOptions
}

/// The rollout to pause, resume or abort.
struct RolloutArguments: ParsableArguments {
    @OptionGroup var author: FleetAuthorOptions

    @OptionGroup var fleet: FleetOptions

    @Argument(help: "The feature, or the tweak as Category/Collection/Name or shorter.")
    var feature: String
}

struct FleetPause: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause", abstract: "Make no more steps of a rollout until it is resumed.")

    @OptionGroup var rollout: RolloutArguments
}

struct FleetResume: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Go on with a paused rollout.",
        discussion: """
            The next step is made after the time between steps, and the first one at its time. A rollout that was planned with \
            --attend or --until-failing goes on here with one of these, also after its process was killed. Hosts that are \
            silent now do not pause it again.
            """)

    @OptionGroup var attendance: RolloutAttendance

    @OptionGroup var rollout: RolloutArguments
}

struct FleetAbort: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "abort", abstract: "End a rollout, and restore the value before it.",
        discussion: """
            That value is checked against the published builds, as by `tweak fleet set`.
            """)

    @Flag(
        name: .customLong("force"),
        help: "Restore the value even if no build declares the tweak, or a build refuses or clamps it.")
    var isForced = false

    @OptionGroup var rollout: RolloutArguments
}

struct FleetDeclare: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "declare",
        abstract: "Publish what a program declares, so that values are checked against it.",
        discussion: """
            Names, types, limits and choices are published, but no defaults. The newest 16 builds are kept. Agents do the \
            same for the "programs" in their configuration.
            """)

    @OptionGroup var creation: FleetCreation

    @OptionGroup var fleet: FleetOptions

    @Argument(help: "The program: a process id, a path or a name.", completion: .file())
    var program: String
}

struct FleetBuilds: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "builds", abstract: "Show the builds whose declarations are published, newest first.")

    @Option(
        help: ArgumentHelp(
            "Instead remove the build with this beginning, which no host runs any more.", valueName: "build"))
    var remove: String?

    @Flag(
        name: .customLong("tweaks"),
        help: "Instead show the tweaks that they declare, as the newest build with each of them declares it.")
    var isOfTweaks = false

    @OptionGroup var fleet: FleetOptions

    func validate() throws {
        guard remove == nil || !isOfTweaks else {
            throw ValidationError("Give either --remove or --tweaks, not both.")
        }
    }
}

struct FleetApplications: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "applications",
        abstract: "Show the environments and their applications, up to a hundred of each.")

    @Option(help: ArgumentHelp("Show only this environment.", valueName: "name"))
    var environment: String?

    @OptionGroup var cluster: FleetClusterOptions
}
