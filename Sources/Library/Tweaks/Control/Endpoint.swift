// SPDX-License-Identifier: BSD-3-Clause
internal import CTweakSystem
internal import Glibc
internal import TweakJSON
internal import TweakOverrides
internal import TweakProtocol
internal import TweakRecords

/// The control socket of a running program, which speaks the protocol of `ControlProtocol.md`.
///
/// Used only on the library thread, which never calls the program's code. The worker executes requests that may call
/// it, one after the other, and each action has a thread of its own.
final class Endpoint: EventLoop.Source {
    /// The pause in accepting clients after memory or descriptors ran out.
    private static let patience: Duration = .seconds(1)
    /// The number of clients accepted before the others get a turn.
    private static let arrivals = 16

    /// The first and the longest interval of checks whether the process changed its user, if it may. The kernel
    /// interrupts the thread then, which goes unnoticed while the thread is busy.
    private static let (firstLook, lookPeriod): (Duration, Duration) = (.milliseconds(50), .seconds(10))
    /// The limit of clients whose user is not known yet.
    private static let strangers = 8
    /// The user id under which the kernel shows users unknown in a container: user_namespaces(7).
    private static let unknownUser: UInt32 = 65534

    /// The listening socket and its user.
    private struct Listening {
        let user: UInt32
        let directory: ControlDirectory
        let listener: Descriptor
    }

    private let requests: ControlRequests
    /// Returns the directory where a user looks for the socket.
    private let place: @Sendable (_ user: UInt32) -> ControlDirectory?
    private var listening: Listening?
    /// The user and the time of the last attempt to listen.
    private var lastTry: (user: UInt32, time: ContinuousClock.Instant)?
    /// The time of the next check of the user, and the interval before it.
    private var nextLook = ContinuousClock.now + firstLook
    private var lookDelay = firstLook
    private let inbox: EndpointInbox
    private var clients: [EndpointClient] = []
    private var lastClient: UInt64 = 0
    private var lines = ChangeLines()
    private var runningActions = 0
    /// Whether the endpoint observes the store.
    private var isListening = false
    /// Whether requests wait until all enumerations are known, and the worker was asked for that.
    private var isWaiting = false
    /// The end of the pause in which no client is accepted.
    private var pause: ContinuousClock.Instant?

    private var store: TweakStore { requests.store }
    private var worker: SerialQueue { requests.worker }

    /// Makes the endpoint of a store. There is one for each store and directory.
    ///
    /// - Returns: `nil` if it cannot be reached. That is not the program's fault, so it is logged only for debugging.
    init?(
        of store: TweakStore, at place: @escaping @Sendable (_ user: UInt32) -> ControlDirectory?,
        on thread: EventLoop, worker: SerialQueue
    ) {
        self.place = place
        requests = ControlRequests(store: store, worker: worker)
        inbox = EndpointInbox(for: thread)
        followUser()
        if listening == nil, !mayBecomeAnother { return nil }
        if store.state.withLock({ $0.haveTypeRecords }) { _ = store.describeTypes(on: worker) }
    }

    /// Has the worker ask for the cases of enumerations, which a change must respect and the list must show.
    private func waitsForTypes() -> Bool {
        isWaiting || store.describeTypes(on: worker) { [inbox] in inbox.postTypes() }
    }

    /// Whether the process may still change its user.
    private var mayBecomeAnother: Bool { listening?.user ?? ControlPlaces.user ?? 0 == 0 }

    /// Listens where the current user looks: daemons start as root and then become another user.
    private func followUser() {
        guard let user = ControlPlaces.user, user != listening?.user else { return }
        if let lastTry, lastTry.user == user, .now - lastTry.time < Self.lookPeriod { return }
        lastTry = (user, .now)
        guard let directory = place(user) else { return }
        do throws(ControlDirectory.Problem) {
            guard let listener = try ControlSockets.listen(in: directory, as: user) else { return }
            let former = listening
            listening = Listening(user: user, directory: directory, listener: listener)
            if let former {
                former.listener.close()
                if former.directory != directory { ControlSockets.remove(in: former.directory) }
            }
            if ControlPlaces.own.newUser != nil {
                _ = worker.add { [store] in store.reportLostOverrides() }
            }
        } catch {
            _ = worker.add { [store] in store.diagnostics.debug("no live control: \(error)") }
        }
    }

    var awaited: [pollfd] {
        let listener = pause == nil ? listening?.listener.number : nil
        return [pollfd(fd: listener ?? -1, events: Int16(POLLIN), revents: 0)] + clients.map { $0.awaited }
    }

    var deadline: ContinuousClock.Instant? {
        if !isWaiting, clients.contains(where: { $0.wantsTurn }) { return .now }
        let look = mayBecomeAnother ? [nextLook] : []
        return (clients.compactMap { $0.nextSample } + (pause.map { [$0] } ?? []) + look).min()
    }

    func handle(_ happened: ArraySlice<pollfd>) -> Bool {
        let known = zip(clients, happened.dropFirst())
        for client in clients { client.takeSamples(of: store) }
        deliverMail()
        if let pause, pause <= .now { self.pause = nil }
        if happened.first?.revents != 0, let listening {
            guard listening.listener.isOurs else {
                end()
                return false
            }
            letIn(listening)
        }
        // The events above concern the former socket.
        let now = ContinuousClock.now
        lookDelay = now < nextLook ? Self.firstLook : min(lookDelay * 2, Self.lookPeriod)
        nextLook = now + lookDelay
        followUser()
        for (client, awaited) in known { client.read(awaited.revents) }
        isWaiting = clients.contains { $0.hasNext() } && waitsForTypes()
        for client in clients where !isWaiting {
            while let request = client.nextRequest() {
                begin(request, of: client)
                // Clients take turns.
                if !request.setsValues { break }
            }
        }
        // The worker is busy meanwhile.
        for client in clients { client.write(&lines) }
        for client in clients where client.leavesLeases() {
            store.endLeases(of: client.identity, worker: worker)
        }
        for client in clients where client.isDone { client.close() }
        clients.removeAll(where: { $0.isDone })
        lines = ChangeLines()
        listenToStore()
        return true
    }

    func end() {
        for client in clients {
            client.leave(forGood: true)
            if client.leavesLeases() { store.endLeases(of: client.identity, worker: worker) }
            client.close()
        }
        clients = []
        listenToStore()
        guard let listening else { return }
        listening.listener.close()
        ControlSockets.remove(in: listening.directory)
        self.listening = nil
    }
}

// MARK: - What comes in

extension Endpoint {
    private func deliverMail() {
        let (changes, outcomes, haveTypes) = inbox.drain()
        if haveTypes { isWaiting = false }
        for (change, note) in changes {
            for client in clients { client.add(change, note) }
        }
        for outcome in outcomes {
            if outcome.place == .action { runningActions -= 1 }
            guard let client = clients.first(where: { $0.id == outcome.client }) else { continue }
            switch outcome.place {
            case .worker:
                client.onWorker -= 1
                client.hasChanged = true
            case .action: client.runningActions -= 1
            }
            // Changes go out before the answer, if the client keeps up.
            client.write(&lines)
            client.send(outcome.line)
        }
    }

    /// Accepts clients of the process's own user, and of root, who could do all this anyway. A client whose user the
    /// container does not know may be root; its first request tells which user of the container it is.
    private func letIn(_ listening: Listening) {
        for _ in 1...Self.arrivals {
            var peer = fbtweak__peer()
            guard let socket = Descriptor.make({ fbtweak__accept(listening.listener.number, &peer) }) else {
                switch errno {
                case EAGAIN: return
                case EINTR, ECONNABORTED: continue
                default:
                    pause = ContinuousClock.now + Self.patience
                    return
                }
            }
            let isKnown = peer.user == listening.user || peer.user == 0
            let client = EndpointClient(
                id: lastClient + 1, socket: socket, of: peer, mustBe: isKnown ? nil : listening.user)
            guard isKnown || (peer.user == Self.unknownUser && fbtweak__want_sender(socket.number)) else {
                client.close()
                continue
            }
            if !isKnown, clients.count(where: { $0.isStranger }) == Self.strangers {
                clients.first(where: { $0.isStranger })?.leave(forGood: true)
            }
            guard clients.count < ControlLimits.clients else {
                if isKnown {
                    let error = ControlError(.busy, "there are \(clients.count) clients already")
                    client.send(Self.line(error, to: .unknown))
                    client.write(&lines)
                }
                client.close()
                continue
            }
            lastClient += 1
            clients.append(client)
        }
    }

    /// Observes the store while a client has subscriptions.
    private func listenToStore() {
        let isWanted = clients.contains(where: { $0.hasSubscriptions })
        guard isWanted != isListening else { return }
        isListening = isWanted
        let listener = { @Sendable [inbox] (changes: [TweakChange], note: ChangeNote) in
            inbox.post(changes, note)
        }
        store.state.withLock { $0.delivery.listener = isWanted ? listener : nil }
    }
}

// MARK: - Requests

extension Endpoint {
    private func begin(_ request: ControlRequest, of client: EndpointClient) {
        let call: ControlCall
        do throws(ControlError) { call = try request.call.get() } catch {
            return client.send(Self.line(error, to: request.id))
        }
        switch call {
        case .subscribe(let call):
            answer(request.id, of: client) { () throws(ControlError) in
                guard let number = client.subscribe(to: call.tweaks) else {
                    throw ControlError(
                        .busy, "there are \(ControlLimits.subscriptions) subscriptions already")
                }
                listenToStore()
                return AnyAnswer(SubscribeToChanges.Answer(subscription: number))
            }
        case .sample(let call):
            answer(request.id, of: client) { () throws(ControlError) in
                let types = try call.check(requests)
                guard let number = client.sample(call.tweaks, rate: call.rate) else {
                    throw ControlError(.busy, "there are \(ControlLimits.samplings) samplings already")
                }
                return AnyAnswer(SampleTweaks.Answer(subscription: number, types: types))
            }
        case .unsubscribe(let call):
            answer(request.id, of: client) { () throws(ControlError) in
                guard client.unsubscribe(call.subscription) else {
                    throw ControlError(.invalidParameters, "unknown subscription \(call.subscription)")
                }
                return AnyAnswer(Done())
            }
        case .run(let call): run(call, request.id, of: client)
        case .describe(let call): perform(call, request, of: client)
        case .list(let call): perform(call, request, of: client)
        case .get(let call): perform(call, request, of: client)
        case .change(let call): perform(call, request, of: client)
        case .set(let call): perform(call, request, of: client)
        case .reset(let call): perform(call, request, of: client)
        case .setMany(let call): perform(call, request, of: client)
        case .explain(let call): perform(call, request, of: client)
        case .history(let call): perform(call, request, of: client)
        case .undo(let call): perform(call, request, of: client)
        case .revert(let call): perform(call, request, of: client)
        case .mark(let call): perform(call, request, of: client)
        case .adopt(let call): perform(call, request, of: client)
        }
    }

    private func perform<Method: StoreMethod>(
        _ call: Method, _ request: ControlRequest, of client: EndpointClient
    ) {
        var requests = requests
        if Method.method.isAttributed { requests.author = .client(client.identity(for: request.person)) }
        if call.endsWithConnection, client.holdLeases() {
            store.state.withLock { $0.layers.openLeases(of: client.identity) }
        }
        let body = { @Sendable [requests] () throws(ControlError) in AnyAnswer(try call.answer(requests)) }
        if request.setsValues {
            give(request.id, of: client, body)
        } else {
            answer(request.id, of: client, body)
        }
    }

    private func answer(
        _ id: RequestID?, of client: EndpointClient, _ body: () throws(ControlError) -> AnyAnswer
    ) {
        do throws(ControlError) {
            client.send(Self.line(try body(), to: id))
        } catch {
            client.send(Self.line(error, to: id))
        }
    }

    /// Hands a request to the worker. Its answer also says whether the overrides were written: for the first change of a
    /// client always, later if that is known soon.
    private func give(
        _ id: RequestID?, of client: EndpointClient,
        _ body: @escaping @Sendable () throws(ControlError) -> AnyAnswer
    ) {
        let (number, inbox, store) = (client.id, inbox, store)
        client.onWorker += 1
        // Commands make one change. One that sends many is not slowed down.
        let isFirst = !client.hasChanged
        let isGiven = worker.add {
            let answer: Result<AnyAnswer, ControlError>
            do throws(ControlError) { answer = .success(try body()) } catch { answer = .failure(error) }
            let line = Self.line(answer, to: id)
            let isDone = if case .success = answer { true } else { false }
            store.afterWriting(isOfChange: isDone, isFirst: isDone && isFirst) { problem, warnings in
                var line = line
                if isDone, let problem {
                    line = Self.line(
                        ControlError(
                            .notKept, "the program has the value, but will not keep it: \(problem)"), to: id)
                } else if !warnings.isEmpty {
                    line = Self.line(answer, to: id, warnings: warnings.map(ControlWarning.init))
                }
                inbox.post(EndpointInbox.Outcome(client: number, place: .worker, line: line))
            }
        }
        if !isGiven {
            client.onWorker -= 1
            client.send(Self.line(Self.noThread, to: id))
        }
    }

    private func run(_ call: RunAction, _ id: RequestID?, of client: EndpointClient) {
        do throws(ControlError) {
            try requests.checkAction(call.tweak)
            guard runningActions < ControlLimits.actions else {
                throw ControlError(.busy, "\(runningActions) actions are running already")
            }
            let (number, inbox, requests) = (client.id, inbox, requests)
            let thread = BackgroundThread {
                let answer = { @Sendable (line: [UInt8]) in
                    inbox.post(EndpointInbox.Outcome(client: number, place: .action, line: line))
                }
                let run = ActionRun()
                do throws(ControlError) { try requests.run(call, as: run) } catch {
                    return answer(Self.line(error, to: id))
                }
                if call.wait != true, !run.isOver {
                    return answer(Self.line(AnyAnswer(Done(handedTo: run.handedTo)), to: id))
                }
                run.whenOver { isLost in
                    answer(
                        isLost ? Self.line(Self.lostAction, to: id) : Self.line(AnyAnswer(Done()), to: id))
                }
            }
            guard let thread else { throw Self.noThread }
            thread.detach()
            runningActions += 1
            client.runningActions += 1
        } catch {
            client.send(Self.line(error, to: id))
        }
    }

    private static let lostAction = ControlError(
        .notRun, "the action did not run: what the program handed it to is gone")
    private static let noThread = ControlError(.busy, "the process has reached its limit of threads")

    private static func line(
        _ answer: Result<AnyAnswer, ControlError>, to id: RequestID?, warnings: [ControlWarning] = []
    ) -> [UInt8] {
        switch answer {
        case .success(let answer): line(answer, to: id, warnings: warnings)
        case .failure(let error): line(error, to: id)
        }
    }

    /// - Returns: An empty line if the client wants no answer.
    private static func line(
        _ answer: AnyAnswer, to id: RequestID?, warnings: [ControlWarning] = []
    ) -> [UInt8] {
        id.map { ControlAnswer(answer, to: $0).line(warnings: warnings) } ?? []
    }

    private static func line(_ error: ControlError, to id: RequestID?) -> [UInt8] {
        id.map { ControlAnswer<AnyAnswer>(error: error, to: $0).line() } ?? []
    }
}

/// The answer of any method, so that the code above exists once.
private struct AnyAnswer: JSONWritable, Sendable {
    private let write: @Sendable (inout JSONWriter) -> Void

    init(_ answer: some JSONWritable & Sendable) { write = { writer in answer.write(to: &writer) } }

    func write(to writer: inout JSONWriter) { write(&writer) }
}

extension ControlWarning {
    fileprivate init(_ warning: OverridesWarning) {
        switch warning {
        case .replaced(let path, _, let aside):
            self.init(.brokenOverrides, "\(warning)", path: path, keptAs: aside)
        case .unlocked(let path, _): self.init(.noLock, "\(warning)", path: path)
        }
    }
}

/// Results of other threads for the one that talks to clients.
final class EndpointInbox: Sendable {
    /// The result of a request that another thread executed.
    struct Outcome: Sendable {
        enum Place { case worker, action }

        let client: UInt64
        let place: Place
        /// The line to send, with its newline; empty if the client wants no answer.
        let line: [UInt8]
    }

    private struct Content {
        /// With time and author of the last change.
        var changes = CoalescedChanges<ChangeNote>()
        var outcomes: [Outcome] = []
        var haveTypes = false
    }

    private let content = Guarded(Content())
    private let thread: EventLoop

    init(for thread: EventLoop) { self.thread = thread }

    func post(_ changes: [TweakChange], _ note: ChangeNote) {
        content.withLock { content in
            for change in changes { content.changes.add(change, note: note) }
        }
        thread.wake()
    }

    func post(_ outcome: Outcome) {
        content.withLock { $0.outcomes.append(outcome) }
        thread.wake()
    }

    /// Posts that the program has described its types.
    func postTypes() {
        content.withLock { $0.haveTypes = true }
        thread.wake()
    }

    func drain() -> (
        changes: [(change: TweakChange, note: ChangeNote)], outcomes: [Outcome], haveTypes: Bool
    ) {
        content.withLock { content in
            defer { content = Content() }
            let changes = content.changes.drainAll().map { (change: $0.change, note: $0.note) }
            return (changes, content.outcomes, content.haveTypes)
        }
    }
}
