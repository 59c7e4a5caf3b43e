// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import Synchronization

/// The queue for requests to each server, so that an agent with thousands of applications opens few connections at a time.
final class RequestTurns: Sendable {
    /// The maximum of concurrent requests to one server.
    private static let most = 100
    /// The maximum before the first has ended. Each of the first connections loads the trusted certificates; later ones
    /// find them cached.
    private static let first = 4

    private struct Line {
        var running = 0
        var ended = 0
        /// By number, none lower than `next`; cancelled ones are missing.
        var waiting: [Int: CheckedContinuation<Bool, Never>] = [:]
        var (next, end) = (0, 0)

        private var isFree: Bool { running < min(RequestTurns.most, RequestTurns.first + ended) }

        /// Returns `true` if the request may start; otherwise queues it.
        mutating func begin(_ number: Int, _ continuation: CheckedContinuation<Bool, Never>) -> Bool? {
            guard !isFree else {
                running += 1
                return true
            }
            waiting[number] = continuation
            next = min(next, number)
            return nil
        }

        /// Ends a request, and returns those that may start.
        mutating func endTurn() -> [CheckedContinuation<Bool, Never>] {
            (running, ended) = (running - 1, ended + 1)
            var begun: [CheckedContinuation<Bool, Never>] = []
            while isFree, !waiting.isEmpty {
                if let continuation = waiting.removeValue(forKey: next) {
                    running += 1
                    begun.append(continuation)
                }
                next += 1
            }
            return begun
        }
    }

    private let timetable: Timetable
    private let lines = Mutex<[String: Line]>([:])

    init(_ timetable: Timetable) { self.timetable = timetable }

    /// Performs a request when it is its turn.
    ///
    /// - Parameters:
    ///   - server: The scheme, the host and the port.
    ///   - timeout: The timeout of the request, from its turn on.
    /// - Throws: ``FetchProblem``, which describes errors of `request` for people.
    func take<Answer: Sendable>(
        at server: String, for timeout: Duration, _ request: @escaping @Sendable () async throws -> Answer
    ) async throws(FetchProblem) -> Answer {
        guard await wait(for: server) else { throw FetchProblem(message: "cancelled") }
        defer { leave(server) }
        let due = ContinuousClock.now + timeout
        let asking = Task { () -> Result<Answer, FetchProblem> in
            do { return .success(try await request()) } catch { return .failure(FetchProblem(error)) }
        }
        let timer = timetable.call(at: due) { asking.cancel() }
        defer { timetable.cancel(timer) }
        let result = await withTaskCancellationHandler {
            await asking.value
        } onCancel: {
            asking.cancel()
        }
        if case .failure = result, !Task.isCancelled, .now >= due {
            throw FetchProblem(message: "no complete answer within \(timeout)")
        }
        return try result.get()
    }

    /// Waits for a turn, to be ended by ``leave(_:)``.
    ///
    /// - Parameter server: The scheme, the host and the port.
    /// - Returns: `false` if the task was cancelled before.
    private func wait(for server: String) async -> Bool {
        let number = lines.withLock { lines in
            lines[server, default: Line()].end += 1
            return lines[server, default: Line()].end
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isTurn = lines.withLock { lines -> Bool? in
                    // The handler below ran before this and found no continuation.
                    if Task.isCancelled { return false }
                    return lines[server, default: Line()].begin(number, continuation)
                }
                if let isTurn { continuation.resume(returning: isTurn) }
            }
        } onCancel: {
            lines.withLock { $0[server]?.waiting.removeValue(forKey: number) }?.resume(returning: false)
        }
    }

    /// Ends a turn, and starts the next ones.
    private func leave(_ server: String) {
        let begun = lines.withLock { $0[server, default: Line()].endTurn() }
        for continuation in begun { continuation.resume(returning: true) }
    }
}
#endif
