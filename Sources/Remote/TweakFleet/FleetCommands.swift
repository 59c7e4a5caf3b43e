// SPDX-License-Identifier: BSD-3-Clause
package import ArgumentParser
import CommandCompletion

package struct FleetCommand: ParsableCommand {
    package static let configuration = CommandConfiguration(
        commandName: "fleet", _superCommandName: "tweak",
        abstract: "Show and change the values of a fleet, in etcd.",
        discussion: """
            The agents of all hosts follow these values and pass them on to the processes within moments. "etcd" in the \
            agent's configuration names the cluster. Each change is one transaction, which also records the author, the \
            time, the reason and the old value; the history keeps the last 1,000 changes, identified by revision. The first \
            change in an environment other than the configured one needs --create, to catch mistyped names.

            EXIT STATUS
              0   done
              1   a rollout ended early; with --check: something differs, or a host is
                  silent, refuses a value or is behind
              64  invalid command line
              65  no such environment, tweak, value, filter or build, or the value
                  is not allowed
              66  the configuration is missing
              69  no member of the cluster answers within its timeout, or tweak-agent was
                  built without remote values
              75  somebody else made a change first; nothing was changed
              77  etcd refused the request: no permission, or no space
              78  the configuration is invalid
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
    @Flag(name: .customLong("create"), help: "Create the environment if it does not exist.")
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
            "A name to record with the author, which is the etcd user, or else this user and host.",
            valueName: "who"))
    var by: String?

    @Option(help: ArgumentHelp("The reason for the change.", valueName: "reason"))
    var why: String?
}

/// The author of a change of values, and whether it is only shown.
struct FleetChangeOptions: ParsableArguments {
    @OptionGroup var author: FleetAuthorOptions

    @Flag(name: .customLong("dry-run"), help: "Check the change and show its effect, but change nothing.")
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
            With --program, or if the tweak is declared or already has a value, write the value as for `tweak set`. \
            Otherwise write JSON: true, false, a number, or a text in quotation marks. Put `--` before a value that starts \
            with a minus sign.

            The value is checked against all published builds of the application; see `tweak fleet builds`. It is \
            refused if a build would refuse or clamp it, or if no build declares the tweak and it has no value yet. An \
            undeclared tweak that already has a value, such as from --force, causes only a warning.
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
            "Change it only if its last change has this revision; 0: only if it has no value.",
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
            Agents report the newest change on their host, values that its builds refuse, and sources that fail. The \
            command lists hosts that are silent, refuse values, lack the newest change, or have failing sources.

            A host is silent if etcd has not heard from its agent for 4 seconds, or 15 milliseconds per host in a fleet of \
            more than 260; after a day it is dropped. Only hosts that report are known: agents of 1.0.0-beta.1, agents \
            without permission, and `tweak-agent --once` do not report.
            """)

    @Flag(help: "Show each host.")
    var all = false

    @Option(help: ArgumentHelp("Also show the value of this tweak on each host.", valueName: "tweak"))
    var tweak: String?

    @Flag(help: "Exit with status 1 unless all known hosts have the newest change and refuse nothing.")
    var check = false

    @OptionGroup var fleet: FleetOptions
}

struct FleetWatch: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "watch", abstract: "Show changes as they happen, until interrupted.")

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
            The values are checked against the published builds, as by `tweak fleet set`. If one is refused, nothing \
            changes. Kills stay.
            """)

    @OptionGroup var change: FleetChangeOptions

    @Option(
        help: ArgumentHelp(
            "Restore only if none of the values changed after this revision, which --dry-run shows.",
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
            Values differ if only one environment has one, or if their contents or their filters differ. Authors, times and \
            reasons are not compared.
            """)

    @Flag(name: .customLong("check"), help: "Exit with status 1 if something differs.")
    var isCheck = false

    @OptionGroup var environments: FleetEnvironmentOptions
}

struct FleetPromote: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "promote", abstract: "Copy values from one environment to another, as one change.",
        discussion: """
            Each value is copied with its filters, and checked against the builds published in the second environment, as \
            by `tweak fleet set`. If one is refused, none is copied. Kills are not copied, and values that only the second \
            environment has stay, unless --remove is given. If somebody changes one of these values there at the same \
            time, nothing changes.
            """)

    @OptionGroup var change: FleetChangeOptions

    @Option(
        help: ArgumentHelp(
            "Copy only if none of the values changed after this revision, which --dry-run shows.",
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
        commandName: "kill", abstract: "Switch a feature off on all hosts, overriding everything else.",
        discussion: """
            A kill takes precedence over web servers, overrides and environment variables; only the session and leases of a \
            process take precedence over it. Hosts whose agents and programs support kills switch the feature off at once, \
            until `tweak fleet unkill`. Any bool tweak can be killed.
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
        abstract: "Give a value to more and more hosts, and roll back if something fails.",
        discussion: """
            Each step gives the value to a larger share of the hosts, as one change with its reason; the others keep the \
            previous value. An agent with "rollouts" in its configuration runs the plan, one agent at a time. After the last \
            step the plan waits once more.

            If a check fails or a host refuses the value, the rollout is aborted and the previous value restored. The \
            rollout is paused if hosts with the value fall silent, or if the tweak is killed. It is stopped if somebody \
            else changes the value.

            Checks run before each step and about ten times in between. With --check an agent runs the executable that its \
            configuration lists under this name; commands are never taken from etcd. With --until-failing the command runs \
            here, and this process runs the rollout itself: interrupting it pauses the rollout, and killing it ends the \
            steps. `tweak fleet resume` continues.
            """)

    @OptionGroup var author: FleetAuthorOptions

    @Option(help: ArgumentHelp("The percentages of hosts, ascending.", valueName: "percentages"))
    var steps: RolloutSteps

    @Option(help: ArgumentHelp("The time between steps, such as 10m.", valueName: "time"))
    var every: DurationArgument

    @Option(
        help: ArgumentHelp(
            "The time of the first step, in RFC 3339 format or as HH:MM within the next 24 hours.",
            valueName: "time"))
    var at: String?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "The hosts and programs to roll out to, as a JSON object with the filters of a feature.",
            valueName: "filters"))
    var filters: String?

    @Option(help: ArgumentHelp("The name of a check in the agents' configuration.", valueName: "name"))
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
    @Flag(help: "Run the rollout in this process instead of an agent, and print its progress.")
    var attend = false

    @Option(
        help: ArgumentHelp(
            "Like --attend, and abort the rollout when this shell command fails.",
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
        commandName: "pause", abstract: "Pause a rollout before its next step.")

    @OptionGroup var rollout: RolloutArguments
}

struct FleetResume: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume", abstract: "Continue a paused rollout.",
        discussion: """
            The next step follows after the time between steps, the first one at its planned time. A rollout that was started \
            with --attend or --until-failing continues in this process with one of these options, also after its process was \
            killed. Hosts that are silent now do not pause it again.
            """)

    @OptionGroup var attendance: RolloutAttendance

    @OptionGroup var rollout: RolloutArguments
}

struct FleetAbort: AgentCommand {
    static let configuration = CommandConfiguration(
        commandName: "abort", abstract: "End a rollout, and restore the previous value.",
        discussion: """
            The previous value is checked against the published builds, as by `tweak fleet set`.
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
        abstract: "Publish the declarations of a program, to check values against them.",
        discussion: """
            Publishes names, types, limits and choices, but not defaults. The newest 16 builds are kept. Agents publish the \
            "programs" in their configuration.
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
            "Remove the build whose id starts like this, because no host runs it any more.",
            valueName: "build"))
    var remove: String?

    @Flag(
        name: .customLong("tweaks"),
        help: "Show the declared tweaks instead, each as in the newest build that declares it.")
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
