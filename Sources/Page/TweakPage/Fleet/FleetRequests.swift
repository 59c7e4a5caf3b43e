// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import TweakRecords

#if UI
import HTTPTypes

/// Requests to a fleet, each of which `tweak fleet` answers.
extension PageRequests {
    /// The members of a request. Each subcommand takes some of them.
    struct FleetRequest: Decodable {
        let application, environment: String?
        let tweak, value, filters: String?
        let tweaks: [String]?
        /// Two environments.
        let from, to: String?
        let revision, ifRevision, last: Int?
        let why, by: String?
        let isForced, isRemoving, isDryRun: Bool?
    }

    private enum FleetArgument {
        case application, from, to, tweak, tweaks, value, revision
    }

    private enum FleetOption {
        case environment, author, filters, ifRevision, force, remove, last, tweaks
    }

    /// The options and arguments of each subcommand.
    private static let fleetCommands: [String: (options: [FleetOption], arguments: [FleetArgument])] = [
        "applications": ([], []),
        "list": ([.environment], [.application]),
        "history": ([.environment, .last], [.application]),
        "builds": ([.environment], [.application]),
        "status": ([.environment], [.application]),
        "rollouts": ([.environment], [.application]),
        "tweaks": ([.environment, .tweaks], [.application]),
        "diff": ([], [.application, .from, .to]),
        "set": (
            [.environment, .author, .filters, .ifRevision, .force], [.application, .tweak, .value]
        ),
        "reset": ([.environment, .author, .ifRevision], [.application, .tweak]),
        "rollback": ([.environment, .author, .ifRevision, .force], [.application, .revision, .tweaks]),
        "kill": ([.environment, .author, .force], [.application, .tweak]),
        "unkill": ([.environment, .author], [.application, .tweak]),
        "promote": (
            [.author, .ifRevision, .force, .remove], [.application, .from, .to, .tweaks]
        ),
    ]

    /// The longest text of a request. The system limits the arguments of a program to twice as much.
    private static let longestText = 1 << 16
    private static let mostTweaks = 126

    func askFleet(_ name: String, _ body: [UInt8]) async throws(RequestProblem) -> [UInt8] {
        guard let fleet, let command = Self.fleetCommands[name] else { throw Self.unknownRequest }
        let request: FleetRequest = try decode(body)
        var options: [String] = []
        for option in command.options { options += try Self.words(option, request) }
        var arguments: [String] = []
        for argument in command.arguments { arguments += try Self.words(argument, request) }
        guard arguments.count <= Self.mostTweaks + 3,
            (options + arguments).allSatisfy({ text in
                text.utf8.count <= Self.longestText && !text.utf8.contains(0)
            })
        else {
            throw RequestProblem(
                .badRequest,
                "at most \(Self.mostTweaks) tweaks and texts of \(Self.longestText) bytes without NUL are possible"
            )
        }
        // The declared tweaks are a view of the builds.
        let subcommand = name == "tweaks" ? "builds" : name
        let answer = try await reporting { [options, arguments] () async throws(Failure) in
            try await waitingOnThread { () throws(Failure) in
                try fleet.run(subcommand, options, arguments)
            }
        }
        guard answer.status == 0 else { throw RequestProblem(answer, of: "tweak fleet") }
        return try json(CommandForm(answer, of: "tweak fleet"))
    }

    private static func words(
        _ argument: FleetArgument, _ request: FleetRequest
    ) throws(RequestProblem) -> [String] {
        func required(_ text: String?, _ name: String) throws(RequestProblem) -> [String] {
            guard let text else { throw RequestProblem(.badRequest, "\(name) is missing") }
            return [text]
        }
        return switch argument {
        case .application: try required(request.application, "application")
        case .from: try required(request.from, "from")
        case .to: try required(request.to, "to")
        case .tweak: try required(request.tweak, "tweak")
        case .value: try required(request.value, "value")
        case .revision: try required(request.revision.map { "\($0)" }, "revision")
        case .tweaks: request.tweaks ?? []
        }
    }

    private static func words(
        _ option: FleetOption, _ request: FleetRequest
    ) throws(RequestProblem) -> [String] {
        func word(_ name: String, _ value: (some CustomStringConvertible)?) -> [String] {
            value.map { ["--\(name)=\($0)"] } ?? []
        }
        switch option {
        case .environment: return word("environment", request.environment)
        case .filters: return word("for", request.filters)
        case .ifRevision: return word("if-revision", request.ifRevision)
        case .last: return word("last", request.last)
        case .force: return request.isForced == true ? ["--force"] : []
        case .remove: return request.isRemoving == true ? ["--remove"] : []
        case .tweaks: return ["--tweaks"]
        case .author:
            guard request.isDryRun != true else { return ["--dry-run"] }
            guard let why = request.why, why.contains(where: { !$0.isWhitespace }) else {
                throw RequestProblem(.badRequest, "a change needs a reason")
            }
            return word("why", why) + word("by", request.by)
        }
    }
}
#endif
