// SPDX-License-Identifier: BSD-3-Clause
internal import CommandSupport
internal import CTweakSystem
internal import Glibc
internal import TweakJSON
internal import TweakProtocol
internal import TweakRecords
internal import TweakSystem

/// A small process that holds leases in a process without the library: it sets values, and puts the old ones back at a
/// time, or when the process that started it has ended, however that was.
///
/// It is this executable with ``argument``, and speaks the control protocol on its standard streams: one request, one
/// answer. The end of its input is the end of the process that started it.
package struct MemoryGuard {
    /// The first argument of the command; the second one is the process to guard.
    package static let argument = "---guard"

    private let process: ChildProcess
    /// The input of the guard, closed by exec; the kernel closes it at the latest when this process ends.
    private let input: CInt

    package var pid: Int32 { process.pid }

    /// Starts a guard for some values.
    ///
    /// - Returns: `nil` if the values were refused, and the answer with its warnings.
    static func start(
        _ request: ChangeTweaks, in pid: pid_t, title: String
    ) throws(Failure) -> (guard: MemoryGuard?, answer: ChangeTweaks.Answer, warnings: [ControlWarning]) {
        guard let (childInput, input) = makePipe() else { throw noGuard(title, errno) }
        guard let (output, childOutput) = makePipe() else {
            close(input)
            close(childInput)
            throw noGuard(title, errno)
        }
        defer { close(output) }
        let nothing = openFile("/dev/null", O_WRONLY)
        let process: ChildProcess
        do throws(ChildProcess.StartProblem) {
            // The end of the guard must be the end of its output.
            defer { for descriptor in [childInput, childOutput, nothing] { close(descriptor) } }
            process = try ChildProcess(
                [programName, argument, "\(pid)"].map { Array($0.utf8) }, of: "/proc/self/exe",
                standard: [childInput, childOutput, nothing], group: .same, signals: .defaults)
        } catch {
            close(input)
            throw noGuard(title, error.number)
        }
        let memoryGuard = MemoryGuard(process: process, input: input)
        do {
            let id = RequestID.number(1)
            writeAll(request.request(id: id), to: input)
            guard let line = readToEnd(output, limit: 1 << 24), !line.isEmpty,
                case .answer(let answer) = try ProgramMessage(line: line.dropLast())
            else { throw noGuard(title, EIO) }
            let result = try answer.result(of: ChangeTweaks.self)
            if result.changes.isEmpty {
                memoryGuard.end()
                return (nil, result, [])
            }
            return (memoryGuard, result, answer.warnings)
        } catch let failure as Failure {
            memoryGuard.end()
            throw failure
        } catch {
            memoryGuard.end()
            throw Failure("\(error)", about: title, .unavailable)
        }
    }

    /// Ends leases that end with this process, and waits until the old values are back.
    func end() {
        close(input)
        process.wait()
    }

    private static func noGuard(_ title: String, _ number: CInt) -> Failure {
        Failure(
            "no process could be started that puts the value back: \(systemMessage(number))", about: title,
            .system)
    }

    /// Writes to a guard; one that has ended is noticed when its answer is read.
    private static func writeAll(_ bytes: [UInt8], to descriptor: CInt) {
        let before = signal(SIGPIPE, SIG_IGN)
        defer { signal(SIGPIPE, before) }
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            sent += count
        }
    }
}

// MARK: - In the guard

extension MemoryGuard {
    /// Does what a guard process does.
    ///
    /// - Parameter process: The process to guard, as an argument.
    package static func run(_ process: String?) {
        setsid()
        for number in [SIGHUP, SIGINT, SIGQUIT, SIGPIPE] { signal(number, SIG_IGN) }
        let termination = fbtweak__await_termination()
        for descriptor in openDescriptors where descriptor != termination { close(descriptor) }
        _ = chdir("/")
        guard let pid = process.flatMap({ pid_t($0) }), let line = readLine() else { return }
        let request = ControlRequest(line: line)
        guard case .success(.change(let call)) = request.call, let id = request.id else { return }
        let ended = fbtweak__open_process(pid)
        let held: Held
        do throws(Failure) {
            held = try Held(call, in: pid)
        } catch {
            return answer(ControlAnswer<Done>(error: ControlError(.refused, error.message), to: id))
        }
        let begin = ContinuousClock.now
        answer(ControlAnswer(held.answer, to: id), held.warnings)
        guard !held.answer.changes.isEmpty else { return }
        let end = call.durations.lease.map { begin + .seconds($0) }
        wait(for: ended, pid, termination, isBound: call.durations.end == .closed, until: end)
        held.putBack()
    }

    private static func answer(
        _ answer: ControlAnswer<some JSONWritable & Sendable>, _ warnings: [ControlWarning] = []
    ) {
        _ = answer.line(warnings: warnings).withUnsafeBytes { write(STDOUT_FILENO, $0.baseAddress, $0.count) }
        // The process that started this one reads to the end.
        close(STDOUT_FILENO)
        _ = openFile("/dev/null", O_WRONLY)
    }

    /// Reads a line of standard input; `nil` if it ends before.
    private static func readLine() -> [UInt8]? {
        var line: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1 << 16)
        while line.last != UInt8(ascii: "\n") {
            let count = read(STDIN_FILENO, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return nil }
            line += buffer.prefix(count)
        }
        return line.dropLast()
    }

    /// Waits for the end of a lease.
    ///
    /// - Parameters:
    ///   - process: A pidfd of the process, or -1.
    ///   - isBound: Whether the end of the input is the end.
    private static func wait(
        for process: CInt, _ pid: pid_t, _ termination: CInt, isBound: Bool,
        until end: ContinuousClock.Instant?
    ) {
        while end.map({ ContinuousClock.now < $0 }) ?? true {
            let rest = end.map { $0 - .now } ?? .seconds(3600)
            let (isOver, others) = waitForEnd(
                of: process, or: [termination, isBound ? STDIN_FILENO : -1], atMost: rest)
            if isOver || others.contains(true) || hasEnded(process: pid) { return }
        }
    }

    /// Values that were set, and what was there before.
    private struct Held {
        private let program: MemoryProgram
        let answer: ChangeTweaks.Answer
        /// Warnings that only the guard can give, because it stored the values.
        let warnings: [ControlWarning]
        /// The variables whose old values are not the program's own.
        private let stored: Set<TweakKey>

        init(_ call: ChangeTweaks, in pid: pid_t) throws(Failure) {
            var warnings: [ControlWarning] = []
            let program = try Self.program(pid) { warning in
                if warning.kind == .torn { warnings.append(ControlWarning(.torn, warning.message)) }
            }
            guard let program else {
                throw Failure("it no longer has tweaks", about: "\(pid)", .unavailable)
            }
            self.program = program
            var request = call
            request.durations = SetDurations()
            stored = program.storedKeys
            answer = try program.change(request)
            self.warnings = warnings
        }

        /// The tweaks in the memory of the process, or, if the library has them, the adopted variables.
        private static func program(
            _ pid: pid_t, warn: @escaping (Warning) -> Void = { _ in }
        ) throws(Failure) -> MemoryProgram? {
            if let program = try MemoryProgram(pid: pid, warn: warn) { return program }
            return try MemoryProgram(pid: pid, isBesideLibrary: true, warn: warn)
        }

        /// Puts the old values back where the new ones still are.
        func putBack() {
            // The memory as it is now, perhaps of another program.
            guard let now = try? Self.program(program.processID) else { return }
            let changes = answer.changes.filter { changed in
                let value = (try? now.tweak(changed.tweak))?.nextValue
                return value.map { JSONValue($0) } == changed.pendingValue ?? changed.newValue
            }.map { ChangeTweaks.Change(tweak: "\($0.tweak)", value: $0.oldValue) }
            // Writes only if the records are where they were.
            _ = try? now.change(ChangeTweaks(changes, exactNames: true, allOrNothing: false))
            now.forgetStores(in: answer.changes.map(\.tweak).filter { !stored.contains($0) })
        }
    }
}
