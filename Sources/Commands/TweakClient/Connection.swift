// SPDX-License-Identifier: BSD-3-Clause
internal import CTweakSystem
package import CommandSupport
internal import Glibc
internal import TweakJSON
package import TweakProtocol
internal import TweakSystem

/// The reasons why a running program did not answer a request.
package enum ConnectionError: Error {
    /// Nothing listens on the socket.
    case refused
    /// The program closed the connection.
    case closed
    /// The program did not answer in time.
    case silent
    /// The program sent something that is not an answer.
    case garbage(reason: String)
    /// The program refused the request.
    case answer(ControlError)
    /// The request is larger than a program accepts.
    case tooLong(bytes: Int)
    /// The program sent more than the ``AnswerBudget`` has left.
    case tooMuch(most: Int)
    case system(reason: String, isPermission: Bool)
}

/// Timeouts for a program.
package struct Patience {
    /// The longest time without any data.
    package let silence: Duration
    /// The longest time until a whole answer.
    package let whole: Duration

    package static let usual = Patience(silence: .seconds(3), whole: .seconds(30))
    /// For shell completion, and for asking many programs.
    package static let short = Patience(silence: .milliseconds(300), whole: .seconds(1))
    /// For readers of metrics, which give up after ten seconds.
    package static let scrape = Patience(silence: .seconds(3), whole: .seconds(8))
    /// For requests without a time limit.
    package static let endless = Patience(silence: .seconds(1 << 30), whole: .seconds(1 << 30))

    /// For a large answer of a program that has shown that it responds.
    package var forMuch: Patience { Patience(silence: whole, whole: whole) }
}

/// A connection to the socket of a running program.
package final class Connection {
    /// The person for whom the current task asks; `nil` for whoever the process belongs to.
    @TaskLocal package static var person: String?

    /// The largest answer in bytes. A larger one would be a million tweaks, or an attempt to exhaust our memory.
    private static let largestAnswer = 256 << 20

    package let descriptor: CInt
    package let patience: Patience
    private var splitter = LineSplitter(limit: largestAnswer)
    /// The share for what was received, including the last message, which is still being read.
    private let share: AnswerBudget.Share?
    /// The size of the last message in bytes.
    package private(set) var lastSize = 0
    private var lastID: Int64 = 0
    /// The problems with changes that answers have told of.
    private var warnings: [ControlWarning] = []
    /// The user and group that send the first request; `nil` for those of this process.
    private var sender: (user: uid_t, group: gid_t)?

    /// The pause before connecting again to a program whose backlog is full.
    package static let pause: Duration = .milliseconds(5)

    /// Connects. A stopped program accepts some connections, and then none.
    ///
    /// - Parameter budget: The budget for answers; `nil` for one large answer.
    package convenience init(
        to program: RunningProgram, _ patience: Patience, budget: AnswerBudget? = nil
    ) throws(ConnectionError) {
        let end = ContinuousClock.now + patience.silence
        var descriptor = try Self.connect(to: program)
        while descriptor == nil {
            guard ContinuousClock.now < end else { throw .silent }
            usleep(useconds_t(Self.pause / .microseconds(1)))
            descriptor = try Self.connect(to: program)
        }
        self.init(descriptor ?? -1, to: program, patience, budget)
    }

    /// Connects without waiting.
    ///
    /// - Returns: `nil` if the program accepts no connection at the moment.
    package convenience init?(
        atOnceTo program: RunningProgram, _ patience: Patience
    ) throws(ConnectionError) {
        guard let descriptor = try Self.connect(to: program) else { return nil }
        self.init(descriptor, to: program, patience, nil)
    }

    private init(
        _ descriptor: CInt, to program: RunningProgram, _ patience: Patience, _ budget: AnswerBudget?
    ) {
        share = budget.map { AnswerBudget.Share(of: $0) }
        (self.descriptor, self.patience) = (descriptor, patience)
        // A container may not know root.
        if geteuid() == 0, let process = ProcessEntry(pid: program.pid), process.user != 0 {
            sender = (process.user, process.group)
        }
    }

    /// Connects to the program's own process, not to one that the owner of the directory put there.
    ///
    /// - Returns: `nil` if the program accepts no connection at the moment.
    private static func connect(to program: RunningProgram) throws(ConnectionError) -> CInt? {
        let user = ProcessEntry(pid: program.pid)?.user ?? geteuid()
        var isBusy = false
        var problem = ConnectionError.refused
        for path in program.socketPaths {
            let descriptor = fbtweak__connect(path, program.pid, user)
            if descriptor >= 0 { return descriptor }
            switch errno {
            case ECONNREFUSED, ENOENT: continue
            case EAGAIN: isBusy = true
            default: if case .refused = problem { problem = .system(errno) }
            }
        }
        if isBusy { return nil }
        throw problem
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Sends a request and waits for the answer.
    ///
    /// - Parameter patience: The timeouts; `nil` for those of the connection.
    package func ask<Method: ControlMethod>(
        _ method: Method, _ patience: Patience? = nil
    ) throws(ConnectionError) -> Method.Answer {
        let patience = patience ?? self.patience
        // A deadline, whatever else the program sends meanwhile, and however slowly.
        let end = ContinuousClock.now + patience.whole
        let id = try send(method, until: end, patience)
        return try answer(to: id, of: Method.self, until: end, patience)
    }

    /// Waits for the answer to a request.
    package func answer<Method: ControlMethod>(
        to id: RequestID, of method: Method.Type, until end: ContinuousClock.Instant, _ patience: Patience
    ) throws(ConnectionError) -> Method.Answer {
        while true {
            while let message = try nextMessage() {
                if let answer = try self.answer(message, to: id, of: method) { return answer }
            }
            try wait(for: POLLIN, until: end, patience)
            try receive()
        }
    }

    /// Sends a request.
    ///
    /// - Returns: The id of the answer.
    package func send(_ method: some ControlMethod) throws(ConnectionError) -> RequestID {
        try send(method, until: .now + patience.whole, patience)
    }

    private func send(
        _ method: some ControlMethod, until end: ContinuousClock.Instant, _ patience: Patience
    ) throws(ConnectionError) -> RequestID {
        lastID += 1
        let id = RequestID.number(lastID)
        let bytes = method.request(id: id, person: Self.person)
        guard bytes.count <= ControlLimits.requestSize else { throw .tooLong(bytes: bytes.count) }
        var sent = 0
        while sent < bytes.count {
            let result = bytes.withUnsafeBytes { buffer in
                let rest = buffer.baseAddress.map { $0 + sent }
                if let sender {
                    return fbtweak__send_as(descriptor, rest, bytes.count - sent, sender.user, sender.group)
                }
                return Glibc.send(
                    descriptor, rest, bytes.count - sent, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
            }
            if result < 0 {
                switch errno {
                case EINTR: continue
                case EPERM where sender != nil:
                    // Not every root may do so.
                    sender = nil
                    continue
                case EAGAIN:
                    try wait(for: POLLOUT, until: end, patience)
                    continue
                case EPIPE, ECONNRESET: throw .closed
                default: throw .system(errno)
                }
            }
            sender = nil
            sent += result
        }
        return id
    }

    /// The answer, if a message answers this request. Other messages are ignored.
    package func answer<Method: ControlMethod>(
        _ message: ProgramMessage, to id: RequestID, of method: Method.Type
    ) throws(ConnectionError) -> Method.Answer? {
        // A program that could not read the request does not know its id.
        guard case .answer(let answer) = message, answer.id == id || answer.id == .unknown else { return nil }
        do throws(ControlError) {
            let result = try answer.result(of: method)
            if Method.method.setsValues { warnings += answer.warnings }
            return result
        } catch { throw .answer(error) }
    }

    /// Returns the problems with changes that answers have told of since the last call.
    package func drainWarnings() -> [ControlWarning] {
        defer { warnings = [] }
        return warnings
    }

    /// Waits until the socket can be read, or written.
    ///
    /// - Throws: ``ConnectionError/silent`` after the timeout.
    private func wait(
        for event: Int32, until end: ContinuousClock.Instant, _ patience: Patience
    ) throws(ConnectionError) {
        while true {
            let duration = min(patience.silence, end - .now)
            guard duration > .zero else { throw .silent }
            var entry = pollfd(fd: descriptor, events: Int16(event), revents: 0)
            // At least one millisecond.
            let result = poll(&entry, 1, Int32(clamping: Int(duration / .milliseconds(1)) + 1))
            guard result != 0 else { throw .silent }
            if result > 0 { return }
            guard errno == EINTR else { throw .system(errno) }
        }
    }

    /// Reads the available data without waiting.
    package func receive() throws(ConnectionError) {
        let result = withUnsafeTemporaryAllocation(byteCount: 1 << 16, alignment: 1) { buffer in
            let count = recv(descriptor, buffer.baseAddress, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 { splitter.append(UnsafeRawBufferPointer(rebasing: buffer.prefix(count))) }
            return count
        }
        try share?.resize(to: splitter.byteCount + lastSize)
        if result == 0 || (result < 0 && errno == ECONNRESET) { throw .closed }
        if result < 0, errno != EAGAIN, errno != EINTR { throw .system(errno) }
    }

    /// Notes that the last message is not needed any more.
    package func finishMessage() throws(ConnectionError) {
        lastSize = 0
        try share?.resize(to: splitter.byteCount)
    }

    /// The next complete message that was read. The message before is not needed any more.
    package func nextMessage() throws(ConnectionError) -> ProgramMessage? {
        if lastSize > 0 { try finishMessage() }
        switch splitter.next() {
        case nil: return nil
        case .tooLong: throw .garbage(reason: "a message has more than \(Self.largestAnswer) bytes")
        case .message(let line):
            lastSize = line.count
            do throws(JSONError) { return try ProgramMessage(line: line) } catch {
                throw .garbage(reason: "\(error)")
            }
        }
    }
}

extension ConnectionError {
    fileprivate static func system(_ number: Int32) -> ConnectionError {
        .system(reason: systemMessage(number), isPermission: number == EACCES || number == EPERM)
    }

    /// The error in words.
    package var reason: String {
        switch self {
        case .refused: "it is no longer running, or does not accept connections"
        case .closed: "it ended or closed the connection before it answered"
        case .silent: "it does not answer; it may be stopped or hung"
        case .garbage(let reason): "its answer is malformed: \(reason)"
        case .system(let reason, _): "cannot connect to it: \(reason)"
        case .answer(let error): error.message
        case .tooMuch(let most):
            "its tweaks exceed what is left of the \(most) bytes for all programs together"
        case .tooLong(let bytes):
            "a program takes at most \(ControlLimits.requestSize) bytes per request, and the values have "
                + "\(bytes)"
        }
    }

    /// - Parameter title: The title of the program.
    package func failure(of title: String) -> Failure {
        switch self {
        case .refused, .closed: Failure(reason, about: title, .unavailable)
        case .silent: Failure(reason, about: title, .busy)
        case .garbage, .tooMuch: Failure(reason, about: title, .garbled)
        case .system(_, let isPermission): Failure(reason, about: title, isPermission ? .forbidden : .system)
        case .answer(let error): Failure(error)
        case .tooLong: Failure(reason, about: title, .invalid)
        }
    }
}
