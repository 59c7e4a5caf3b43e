// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import TweakClient
import TweakFleet
import TweakRecords

#if UI
import HTTPTypes

/// Requests to a fleet, which are answered as by `tweak fleet`.
extension PageRequests {
    /// The members of a request. Each subcommand takes some of them.
    struct FleetRequest: Decodable {
        let application, environment: String?
        let tweak, value, filters: String?
        let tweaks: [String]?
        /// Two environments.
        let from, to: String?
        let revision, ifRevision, last: Int?
        /// The options of a rollout.
        let steps, every, at, check: String?
        let why: String?
        let isForced, isRemoving, isDryRun: Bool?
    }

    private enum FleetArgument {
        case application, from, to, tweak, tweaks, value, revision
    }

    private enum FleetOption {
        case environment, author, filters, ifRevision, force, remove, last, tweak, tweaks, steps, every, at,
            check
    }

    /// The options and arguments of each subcommand.
    private static let fleetCommands: [String: (options: [FleetOption], arguments: [FleetArgument])] = [
        "applications": ([], []),
        "list": ([.environment], [.application]),
        "history": ([.environment, .last], [.application]),
        "builds": ([.environment], [.application]),
        "status": ([.environment, .tweak], [.application]),
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
        "rollout": (
            [.environment, .author, .filters, .steps, .every, .at, .check, .force],
            [.application, .tweak, .value]
        ),
        "pause": ([.environment, .author], [.application, .tweak]),
        "resume": ([.environment, .author], [.application, .tweak]),
        "abort": ([.environment, .author, .force], [.application, .tweak]),
        "promote": (
            [.author, .ifRevision, .force, .remove], [.application, .from, .to, .tweaks]
        ),
    ]

    /// The longest text of a request. The system limits the arguments of a program to twice as much.
    private static let longestText = 1 << 16
    private static let mostTweaks = 126

    func askFleet(_ name: String, _ body: [UInt8]) async throws(RequestProblem) -> [UInt8] {
        guard let fleet else { throw Self.unknownRequest }
        let request: FleetRequest = try decode(body)
        guard name != "wait" else { return try await wait(request, fleet) }
        guard let command = Self.fleetCommands[name] else { throw Self.unknownRequest }
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
                try fleet.answer(subcommand, options, arguments)
            }
        }
        return try json(
            CommandForm(
                Array(answer.json.utf8), messages: answer.warnings.joined(separator: "\n"), of: "tweak fleet")
        )
    }

    /// The longest time until a page asks again.
    private static let longestWait: Duration = .seconds(20)

    /// Answers when somebody has changed a value or a kill of the application, or after a while.
    private func wait(_ request: FleetRequest, _ fleet: FleetClient) async throws(RequestProblem) -> [UInt8] {
        let application = try Self.words(.application, request)
        let environment = try Self.words(FleetOption.environment, request)
        let isChanged = try await reporting { () async throws(Failure) in
            try await fleet.waitForChange(
                of: application[0], environment, after: request.revision ?? 0, atMost: Self.longestWait)
        }
        return try json(["isChanged": isChanged])
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
        case .tweak: return word("tweak", request.tweak)
        case .steps: return word("steps", request.steps)
        case .every: return word("every", request.every)
        case .at: return word("at", request.at)
        case .check: return word("check", request.check)
        case .force: return request.isForced == true ? ["--force"] : []
        case .remove: return request.isRemoving == true ? ["--remove"] : []
        case .tweaks: return ["--tweaks"]
        case .author:
            guard request.isDryRun != true else { return ["--dry-run"] }
            guard let why = request.why, why.contains(where: { !$0.isWhitespace }) else {
                throw RequestProblem(.badRequest, "a change needs a reason")
            }
            return word("why", why) + word("by", Connection.person)
        }
    }
}
#endif
