// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import TweakClient
import TweakFormats
import TweakJSON
import TweakOverrides
import TweakProtocol
import TweakRecords
import TweakSystem

#if UI
import HTTPTypes

/// Executes the requests of pages.
struct PageRequests: Sendable {
    let board: Board
    let sessions: ProgramSessions
    /// The program to show first.
    let first: String?
    /// Whether root also sees the programs of other users.
    let ofAllUsers: Bool
    /// Whether an open page can continue after the server was restarted.
    let comesBack: Bool
    /// `nil` if there is no view of a fleet.
    let fleet: FleetClient?
    let bake: BakeCommand
    let bakePlans = ReviewedPlans<BakePlan>()
    private let plans = ReviewedPlans<RestartPlan>()

    init(
        board: Board, sessions: ProgramSessions, first: String?, ofAllUsers: Bool, comesBack: Bool,
        fleet: FleetClient?, bake: BakeCommand
    ) {
        (self.board, self.sessions, self.first) = (board, sessions, first)
        (self.ofAllUsers, self.comesBack, self.fleet, self.bake) = (ofAllUsers, comesBack, fleet, bake)
    }

    private typealias Method = @Sendable (PageRequests, [UInt8]) async throws(RequestProblem) -> [UInt8]

    /// All requests by name.
    private static let methods: [String: Method] = [
        "programs": { server, _ throws(RequestProblem) in
            server.board.wake()
            return try server.json(["programs": server.board.programs])
        },
        "open": method { $0.open }, "tweaks": method { $0.tweaks }, "unfollow": method { $0.unfollow },
        "forget": method { $0.forget }, "set": method { $0.set }, "calculate": method { $0.calculate },
        "reset": method { $0.reset }, "try/keep": method { $0.keepTried },
        "try/discard": method { $0.discardTried }, "pong": method { $0.pong },
        "panels": method { $0.panels }, "panel/save": method { $0.savePanel },
        "panel/delete": method { $0.deletePanel }, "history": method { $0.history },
        "undo": method { $0.undo }, "revert": method { $0.revert },
        "mark": method { $0.mark }, "run": method { $0.run }, "bake": method { $0.writeBaked },
        "bake/plan": method { $0.planBaking }, "restart/plan": method { $0.planRestart },
        "restart": method { $0.restart }, "explain": method { $0.explain }, "watch": method { $0.watch },
        "presence": method { $0.show }, "presets": method { $0.presets },
        "preset/get": method { $0.preset }, "preset/diff": method { $0.differences },
        "preset/save": method { $0.save }, "preset/delete": method { $0.delete },
        "import": method { $0.importFile }, "export": method { $0.export },
    ]

    private static func method<Request: Decodable & SendableMetatype>(
        _ method: @escaping @Sendable (PageRequests) -> (Request) async throws(RequestProblem) -> [UInt8]
    ) -> Method {
        { server, body throws(RequestProblem) in try await method(server)(server.decode(body)) }
    }

    func answer(_ name: String, _ body: [UInt8]) async throws(RequestProblem) -> [UInt8] {
        let ofFleet = "fleet/"
        guard !name.hasPrefix(ofFleet) else {
            return try await askFleet(String(name.dropFirst(ofFleet.count)), body)
        }
        guard let method = Self.methods[name] else { throw Self.unknownRequest }
        return try await method(self, body)
    }

    static let unknownRequest = RequestProblem(.notFound, "no such request")

    static let nothing = Array("{}".utf8)

    func decode<Value: Decodable>(_ body: [UInt8]) throws(RequestProblem) -> Value {
        do throws(JSONError) { return try decodeJSON(from: body) } catch {
            throw RequestProblem(.badRequest, "malformed request: \(error)")
        }
    }

    func json(_ value: some Encodable) throws(RequestProblem) -> [UInt8] {
        do { return try pageJSON(value) } catch { throw RequestProblem(.internalServerError, "\(error)") }
    }

    /// The open event stream that a request names.
    func stream(_ text: String?) throws(RequestProblem) -> Int? {
        guard let text else { return nil }
        guard let number = Int(text), board.isOpen(number) else {
            throw RequestProblem(.gone, "this event stream has ended")
        }
        return number
    }

    /// The program that a request names.
    func entry(_ program: String) throws(RequestProblem) -> ProgramEntry {
        guard let entry = board[program] else { throw RequestProblem(.notFound, "no such program") }
        return entry
    }

    /// Turns the failure of a program into a problem of the request.
    func reporting<Result: Sendable>(
        _ body: () async throws(Failure) -> Result
    ) async throws(RequestProblem) -> Result {
        do throws(Failure) { return try await body() } catch { throw RequestProblem(error) }
    }

    func ask<Answer: Encodable & Sendable>(
        _ program: String, _ body: @Sendable (ProgramSession) async throws(Failure) -> Answer
    ) async throws(RequestProblem) -> [UInt8] {
        let session = sessions[try entry(program).id]
        let answer = try json(await reporting { () async throws(Failure) in try await body(session) })
        let warnings = await session.drainWarnings()
        guard !warnings.isEmpty else { return answer }
        do throws(JSONError) { return try JSONParser.value(of: answer).adding(warnings).json() } catch {
            throw RequestProblem(.internalServerError, "\(error)")
        }
    }

    // MARK: - Programs and tweaks

    private struct ProgramRequest: Decodable {
        let program: String
        let stream: String?
    }

    private func unfollow(_ request: ProgramRequest) throws(RequestProblem) -> [UInt8] {
        if let stream = try stream(request.stream) { board.follow(request.program, stream, false) }
        return Self.nothing
    }

    private func forget(_ request: ProgramRequest) throws(RequestProblem) -> [UInt8] {
        guard board.remove(try entry(request.program).id) else {
            throw RequestProblem(
                .conflict, "it is running; only programs that are not running can be removed from the list")
        }
        return Self.nothing
    }

    private struct OpenRequest: Decodable {
        let name: String
    }

    private func open(_ request: OpenRequest) async throws(RequestProblem) -> [UInt8] {
        let id = try await reporting { () async throws(Failure) in
            try await waitingOnThread { [board, ofAllUsers] () throws(Failure) in
                try Self.add(request.name, to: board, ofAllUsers: ofAllUsers)
            }
        }
        return try json(["program": ProgramForm(try entry(id))])
    }

    /// Adds the program that the user named.
    ///
    /// - Returns: Its entry.
    static func add(_ name: String, to board: Board, ofAllUsers: Bool) throws(Failure) -> String {
        let programs = try ProgramSearch(warn: { _ in }).programs(named: name)
        guard let program = programs.first(where: { ofAllUsers || $0.otherUser == nil }) else {
            let user = programs.first?.otherUser
            throw Failure(
                user.map { "\(name): it is a program of \($0), which --all-users shows" }
                    ?? "\(name): no such program", user == nil ? .missing : .forbidden)
        }
        let description = try program.description
        // A running program may not have been discovered yet.
        if let pid = program.pid, let entry = board.waitForEntry(.seconds(2), where: { $0.pid == pid }) {
            return entry.id
        }
        // A name that the program of another user reports is not looked up among this user's files.
        if let user = program.otherUser {
            throw Failure("\(name): the program of \(user) does not answer", .busy)
        }
        return board.entry(
            name: description.application, executable: description.program, isRunning: false
        ) { entry in
            if program.pid == nil { entry.overrides = description.overrides }
        }
    }

    private func tweaks(_ request: ProgramRequest) async throws(RequestProblem) -> [UInt8] {
        let id = request.program
        let stream = try stream(request.stream)
        _ = try entry(id)
        guard let stream else { return try answer(id, KnownTweaks(await tweaksOnce(id)), EncodedTweaks()) }
        board.follow(id, stream)
        // The program may end and restart meanwhile.
        for _ in 0..<4 {
            guard let entry = board[id], board.isOpen(stream) else { break }
            if entry.isFresh, let known = entry.tweaks { return try answer(id, known, entry.encoded) }
            switch entry.state {
            case .offline:
                try await reporting { () async throws(Failure) in try await sessions[id].load() }
            case .silent:
                if let known = entry.tweaks { return try answer(id, known, entry.encoded) }
                throw RequestProblem(.gatewayTimeout, entry.problem ?? "it does not answer")
            case .memory where entry.problem != nil && entry.tweaks == nil:
                throw RequestProblem(.conflict, entry.problem ?? "")
            case .memory, .running: await board.waitForTweaks(of: id)
            }
        }
        throw RequestProblem(.badGateway, "the program or the page was closed")
    }

    private func tweaksOnce(_ id: String) async throws(RequestProblem) -> [JSONTweak] {
        try await reporting { () async throws(Failure) in
            try await sessions[id].with { program throws(Failure) in try program.tweaks() }
        }
    }

    private func answer(_ id: String, _ tweaks: KnownTweaks, _ encoded: EncodedTweaks) throws(RequestProblem)
        -> [UInt8]
    {
        let entry = try entry(id)
        var bytes = Array(#"{"program":"#.utf8) + (try json(ProgramForm(entry))) + Array(#","tweaks":"#.utf8)
        do { bytes += try encoded.json(of: tweaks) } catch {
            throw RequestProblem(.internalServerError, "\(error)")
        }
        if !entry.undeclared.isEmpty {
            bytes += Array(#","undeclared":"#.utf8) + (try json(entry.undeclared))
        }
        let baked = entry.baked
        if !baked.isEmpty { bytes += Array(#","baked":"#.utf8) + (try json(baked)) }
        return bytes + Array("}".utf8)
    }

    private func set(_ request: SetRequest) async throws(RequestProblem) -> [UInt8] {
        let stream = try stream(request.stream)
        return try await ask(request.program) { session throws(Failure) in
            try await session.set(request, by: stream)
        }
    }

    private func reset(_ request: ResetRequest) async throws(RequestProblem) -> [UInt8] {
        let stream = try stream(request.stream)
        guard request.all == true || request.category != nil || request.tweaks != nil else {
            throw RequestProblem(.badRequest, "name the tweaks or the category to reset, or all")
        }
        return try await ask(request.program) { session throws(Failure) in
            try await session.reset(request, by: stream)
        }
    }

    private struct CalculateRequest: Decodable {
        let program: String
        let tweak: TweakKey
        /// The text as typed.
        let text: String
        /// The unit of a number without one; `nil` for the tweak's unit.
        let unit: String?
        /// The value shown on the page, as text.
        let current: String?
    }

    private struct CalculateAnswer: Encodable {
        let value: JSONValue
        let wasClamped: Bool
    }

    /// Calculates the value of a typed text without setting it.
    private func calculate(_ request: CalculateRequest) throws(RequestProblem) -> [UInt8] {
        guard let declaration = board[request.program]?.tweaks?[request.tweak]?.declaration else {
            throw RequestProblem(.notFound, "no such tweak")
        }
        let admission: TweakDeclaration.Admission
        do throws(TweakValueError) {
            let current = try request.current.map { text throws(TweakValueError) in
                try declaration.admit(text: text).value
            }
            admission = try declaration.admit(
                text: request.text, current: current, writtenUnit: request.unit)
        } catch {
            throw RequestProblem(.unprocessableContent, error.reason)
        }
        return try json(CalculateAnswer(value: .scalar(admission.value), wasClamped: admission.wasClamped))
    }

    private struct TweakRequest: Decodable {
        let program: String
        let tweak: TweakKey
    }

    private func run(_ request: TweakRequest) async throws(RequestProblem) -> [UInt8] {
        let entry = try entry(request.program)
        guard let pid = entry.pid, entry.state != .memory else {
            throw RequestProblem(
                .conflict,
                entry.state == .memory
                    ? "the process does not contain the Tweaks library, so it cannot do that"
                    : "it does not run")
        }
        // An action may take any time.
        let run = try await reporting { () async throws(Failure) in
            try await waitingOnThread { [board] () throws(Failure) in
                guard let running = RunningProgram(pid: pid),
                    let program = try LiveProgram(running, budget: board.budget)
                else {
                    throw Failure("it has ended, or does not accept connections", .unavailable)
                }
                return try program.ask(RunAction(tweak: request.tweak), Patience.endless)
            }
        }
        return try json(ActionForm(handedTo: run.taker))
    }

    private struct ActionForm: Encodable {
        /// What will run the action, in words; `nil` if it has run.
        let handedTo: String?
    }

    private struct RestartForm: Encodable {
        /// The plan's name, which the page sends to confirm it.
        let plan: String?
        let pid: Int32?
        let unit: String?
        let executable, arguments, directory: String
        /// The names without the values, which may be secrets.
        let variables: [String]
        let notes: [String]
        let refusal: String?
        let command: String
    }

    private func planRestart(_ request: ProgramRequest) async throws(RequestProblem) -> [UInt8] {
        let entry = try entry(request.program)
        let plan = try await reporting { () async throws(Failure) in
            try await waitingOnThread { () throws(Failure) in try RestartPlan(for: entry) }
        }
        let name = plan.refusal == nil ? plans.add(plan, for: request.program) : nil
        return try json(
            RestartForm(
                plan: name, pid: plan.running?.pid, unit: plan.unit, executable: plan.start.executable,
                arguments: plan.start.arguments.map(shellWord).joined(separator: " "),
                directory: plan.start.directory, variables: plan.start.variableNames, notes: plan.notes,
                refusal: plan.refusal, command: plan.command))
    }

    private struct RestartRequest: Decodable {
        let program, plan: String
    }

    private func restart(_ request: RestartRequest) async throws(RequestProblem) -> [UInt8] {
        guard let plan = plans.take(request.plan, for: request.program) else {
            throw RequestProblem(.conflict, "the plan has changed since it was shown; review it again")
        }
        let pid = try await reporting { () async throws(Failure) in
            try await waitingOnThread { [board] () throws(Failure) in
                try plan.perform(request.program, on: board)
            }
        }
        return try json(["pid": pid])
    }

    private func explain(_ request: TweakRequest) async throws(RequestProblem) -> [UInt8] {
        try await ask(request.program) { session throws(Failure) in
            try await session.with { program throws(Failure) in
                guard let tweak = try program.tweak(request.tweak) else {
                    throw Failure("\(request.tweak): no such tweak", .missing)
                }
                return ExplainedTweak(try program.explanation(of: tweak), tweak.declaration)
            }
        }
    }

    private struct WatchRequest: Decodable {
        let program, stream: String
        let tweaks: [TweakKey]
        let rate: Double?
    }

    private func watch(_ request: WatchRequest) async throws(RequestProblem) -> [UInt8] {
        guard let stream = try stream(request.stream), let entry = board[request.program] else {
            throw RequestProblem(.notFound, "no such program")
        }
        let rate = request.rate ?? 30
        guard 0.1...1000 ~= rate, request.tweaks.count <= Watch.mostTweaks else {
            throw RequestProblem(
                .badRequest, "at most \(Watch.mostTweaks) tweaks can be sampled, 0.1 to 1000 times a second")
        }
        var tweaks = request.tweaks
        if let known = entry.tweaks {
            tweaks = tweaks.filter { known[$0]?.declaration.canBeSampled == true }
        }
        board.watch(request.program, stream, Watch(tweaks: tweaks, rate: rate))
        return try json(["tweaks": tweaks])
    }

    private struct PresenceRequest: Decodable {
        let stream: String
        let name, program, tweak: String?
    }

    private func show(_ request: PresenceRequest) throws(RequestProblem) -> [UInt8] {
        guard let stream = try stream(request.stream) else {
            throw RequestProblem(.badRequest, "name the stream of the page")
        }
        board.show(
            stream, name: request.name.map { String($0.prefix(80)) },
            program: request.program.map { String($0.prefix(1000)) },
            tweak: request.tweak.map { String($0.prefix(4000)) })
        return Self.nothing
    }

    // MARK: - Presets and files

    private struct PresetRequest: Decodable {
        let program, name: String
        let defaults: Bool?
        let tweaks: [TweakKey]?
        /// The values of a new preset; `nil` for those of the program.
        var values: [SetRequest.Item]?
        /// Whether the user wants to replace a preset of this name.
        var replace: Bool?
    }

    private struct PresetForm: Encodable {
        let name: String
        var tweaks: Int?
        var problem: String?
    }

    private func presets(_ request: ProgramRequest) async throws(RequestProblem) -> [UInt8] {
        try await ask(request.program) { session throws(Failure) in
            try await session.with { program throws(Failure) in
                let folder = try PresetFolder(of: program)
                return [
                    "presets": folder.names.map { name in
                        do throws(Failure) {
                            return PresetForm(name: name, tweaks: try folder.load(name).values.keys.count)
                        } catch {
                            return PresetForm(name: name, problem: error.message)
                        }
                    }
                ]
            }
        }
    }

    private struct ValuesForm: Encodable {
        let name: String
        let values: [String: JSONValue]
    }

    private func preset(_ request: PresetRequest) async throws(RequestProblem) -> [UInt8] {
        try await ask(request.program) { session throws(Failure) in
            try await session.with { program throws(Failure) in
                let values = try PresetFolder(of: program).load(request.name).values
                let pairs = values.keys.map { ("\($0)", values[$0] ?? .null) }
                return ValuesForm(name: request.name, values: Dictionary(pairs) { first, _ in first })
            }
        }
    }

    private func differences(_ request: PresetRequest) async throws(RequestProblem) -> [UInt8] {
        try await ask(request.program) { session throws(Failure) in
            try await session.with { program throws(Failure) in
                let preset = try PresetFolder(of: program).load(request.name)
                return ["differences": try PresetDifference.all(of: program, from: preset.values)]
            }
        }
    }

    private func save(_ request: PresetRequest) async throws(RequestProblem) -> [UInt8] {
        let answer = try await ask(request.program) { session throws(Failure) in
            try await session.with { program throws(Failure) in
                let values = try values(of: program, request)
                let conflict = try PresetFolder(of: program).save(
                    values, as: request.name, replacing: request.replace == true)
                if let conflict {
                    throw conflict.failure("overwrite it, or choose another name")
                }
                return PresetForm(name: request.name, tweaks: values.keys.count)
            }
        }
        board.tellOfPresets(request.program)
        return answer
    }

    private func values(of program: any Program, _ request: PresetRequest) throws(Failure)
        -> OverridesDocument
    {
        if let given = request.values { return try values(given, of: program) }
        guard let chosen = request.tweaks else {
            return try program.values(includingDefaults: request.defaults == true)
        }
        let all = try program.values(includingDefaults: true)
        var values = OverridesDocument()
        for key in chosen { values.set(all.value(of: key), for: key) }
        return values
    }

    /// Values that a page gives, which need not be those of the program.
    private func values(
        _ items: [SetRequest.Item], of program: any Program
    ) throws(Failure) -> OverridesDocument {
        var values = OverridesDocument()
        for item in items {
            guard let declaration = try program.tweak(item.tweak)?.declaration else {
                throw Failure("\(item.tweak): no such tweak", .invalid)
            }
            let admission = try failing {
                if let text = item.text { return try declaration.admit(text: text) }
                return try declaration.admit(item.value ?? .null)
            }
            values.set(admission.value, for: item.tweak)
        }
        return values
    }

    private func delete(_ request: PresetRequest) async throws(RequestProblem) -> [UInt8] {
        let answer = try await ask(request.program) { session throws(Failure) in
            try await session.with { program throws(Failure) in
                try PresetFolder(of: program).remove(request.name)
                return Done()
            }
        }
        board.tellOfPresets(request.program)
        return answer
    }

    private struct ExportRequest: Decodable {
        let program: String
        let defaults: Bool?
        let tweaks: [TweakKey]?
    }

    private func export(_ request: ExportRequest) async throws(RequestProblem) -> [UInt8] {
        try await ask(request.program) { session throws(Failure) in
            try await session.with { program throws(Failure) in
                let name = try program.description.application
                let values = try values(
                    of: program,
                    PresetRequest(
                        program: request.program, name: name, defaults: request.defaults,
                        tweaks: request.tweaks))
                return ["file": name + ".json", "text": TweakPreset(name: name, values: values).json]
            }
        }
    }

    private struct ImportRequest: Decodable {
        let program: String
        let text, base64, file: String?
    }

    private struct ImportForm: Encodable {
        struct LeftOut: Encodable { let entry, message: String }

        let differences: [PresetDifference]
        let leftOut: [LeftOut]
        /// The number of values that the tweaks already have.
        let same: Int
    }

    private func importFile(_ request: ImportRequest) async throws(RequestProblem) -> [UInt8] {
        guard
            let bytes = request.text.map({ Array($0.utf8) })
                ?? request.base64.flatMap({ Base64.bytes(of: $0) })
        else {
            throw RequestProblem(.badRequest, "give the file as text or base64")
        }
        let path = request.file ?? "the file"
        return try await ask(request.program) { session throws(Failure) in
            try await session.with { program throws(Failure) in
                let (values, leftOut) = try importedValues(bytes, path: path) { () throws(Failure) in
                    try program.tweaks().map(\.declaration.key)
                }
                let differences = try PresetDifference.all(of: program, from: values).filter {
                    $0.newValue != nil
                }
                return ImportForm(
                    differences: differences,
                    leftOut: leftOut.map { .init(entry: $0.entry, message: $0.reason) },
                    same: values.keys.count - differences.count)
            }
        }
    }
}
#endif
