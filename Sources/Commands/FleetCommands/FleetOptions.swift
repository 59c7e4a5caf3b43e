package import ArgumentParser

// What `tweak fleet` takes, for that command and for the program that it becomes.

/// What one of the commands is told.
package enum FleetAction: Sendable {
    case list(FleetListOptions)
    case get(FleetGetOptions)
    case set(FleetSetOptions)
    case reset(FleetResetOptions)
    case watch(FleetWatchOptions)
    case history(FleetHistoryOptions)
    case rollback(FleetRollbackOptions)
}

/// The form of the output.
package enum FleetFormat: String, CaseIterable, ExpressibleByArgument, Sendable {
    case table, json
}

/// Whose values they are, and where.
package struct FleetOptions: ParsableArguments, Sendable {
    @Option(
        name: .customLong("configuration"),
        help: ArgumentHelp(
            "A file whose \"etcd\" says where the values are; without it that of the agent.",
            valueName: "file"),
        completion: .file(extensions: ["json"]))
    package var configurationPath: String?

    @Option(
        help: ArgumentHelp("Another environment than that of the configuration.", valueName: "name"))
    package var environment: String?

    @Option(help: "The form of the output.")
    package var format: FleetFormat = .table

    @Argument(help: "The application, by what its values are kept.")
    package var application: String

    /// Makes options without values.
    package init() {}
}

/// Who changes something.
package struct FleetAuthorOptions: ParsableArguments, Sendable {
    @Option(help: ArgumentHelp("Who changes it; without it the user and the host.", valueName: "who"))
    package var by: String?

    @Option(help: ArgumentHelp("Why, for the others.", valueName: "reason"))
    package var why: String?

    /// Makes options without values.
    package init() {}
}

package struct FleetListOptions: ParsableArguments, Sendable {
    @OptionGroup package var fleet: FleetOptions
    /// Makes options without values.
    package init() {}
}

package struct FleetGetOptions: ParsableArguments, Sendable {
    @OptionGroup package var fleet: FleetOptions
    @Argument(help: "The tweak, as Category/Collection/Name or shorter.")
    package var tweak: String
    /// Makes options without values.
    package init() {}
}

package struct FleetSetOptions: ParsableArguments, Sendable {
    @OptionGroup package var author: FleetAuthorOptions

    @Option(
        help: ArgumentHelp(
            "A program with the tweak, which says which values that takes: a process id, a path or a name.",
            valueName: "program"), completion: .file())
    package var program: String?

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "For which hosts and programs it is, as a JSON object with the filters that a feature has.",
            valueName: "filters"))
    package var filters: String?

    @Option(
        help: ArgumentHelp(
            "Only if it was last changed at this revision; 0 if it must have no value.", valueName: "revision"
        ))
    package var ifRevision: Int?

    @OptionGroup package var fleet: FleetOptions
    @Argument(help: "The tweak, as Category/Collection/Name or shorter.")
    package var tweak: String
    @Argument(help: "The new value.")
    package var value: String
    /// Makes options without values.
    package init() {}
}

package struct FleetResetOptions: ParsableArguments, Sendable {
    @OptionGroup package var author: FleetAuthorOptions

    @Option(
        help: ArgumentHelp("Only if it was last changed at this revision.", valueName: "revision"))
    package var ifRevision: Int?

    @OptionGroup package var fleet: FleetOptions
    @Argument(help: "The tweak, as Category/Collection/Name or shorter.")
    package var tweak: String
    /// Makes options without values.
    package init() {}
}

package struct FleetWatchOptions: ParsableArguments, Sendable {
    @OptionGroup package var fleet: FleetOptions
    /// Makes options without values.
    package init() {}
}

package struct FleetHistoryOptions: ParsableArguments, Sendable {
    @Option(help: ArgumentHelp("Only the newest ones.", valueName: "count"))
    package var last: Int?

    @OptionGroup package var fleet: FleetOptions
    @Argument(help: "Only changes of this tweak.")
    package var tweak: String?

    /// Makes options without values.
    package init() {}

    package func validate() throws {
        guard last ?? 1 > 0 else { throw ValidationError("--last takes a number above 0.") }
    }
}

package struct FleetRollbackOptions: ParsableArguments, Sendable {
    @OptionGroup package var author: FleetAuthorOptions
    @OptionGroup package var fleet: FleetOptions
    @Argument(help: "Everything becomes as it was at this revision.")
    package var revision: Int
    @Argument(help: "Only this tweak.")
    package var tweak: String?
    /// Makes options without values.
    package init() {}
}
