// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import Synchronization

/// Performs the requests of many callers in few batches: requests made while a batch runs form the next one.
final class Batches<Request: Sendable, Answer: Sendable>: Sendable {
    private struct State {
        /// By number, until they are answered; cancelled ones are missing.
        var asked: [Int: CheckedContinuation<Answer, Never>] = [:]
        /// The requests that wait for a batch, oldest first.
        var waiting: [(number: Int, request: Request)] = []
        var last = 0
        var running = 0
    }

    private let most: Int
    private let running: Int
    private let perform: @Sendable ([Request]) async -> [Answer]
    private let state = Mutex(State())

    /// - Parameters:
    ///   - most: The maximum number of requests in a batch.
    ///   - running: The maximum number of batches at a time.
    ///   - perform: Returns the answers, in the order of the requests.
    init(most: Int, running: Int, perform: @escaping @Sendable ([Request]) async -> [Answer]) {
        (self.most, self.running, self.perform) = (most, running, perform)
    }

    /// Performs a request.
    ///
    /// - Parameter cancelled: The answer if the task is cancelled before.
    func perform(_ request: Request, cancelled: Answer) async -> Answer {
        let number = state.withLock { state in
            state.last += 1
            return state.last
        }
        return await withTaskCancellationHandler {
            await withCheckedContinuation { ask(request, number, $0, cancelled) }
        } onCancel: {
            state.withLock { $0.asked.removeValue(forKey: number) }?.resume(returning: cancelled)
        }
    }

    private func ask(
        _ request: Request, _ number: Int, _ continuation: CheckedContinuation<Answer, Never>,
        _ cancelled: Answer
    ) {
        let isFirst = state.withLock { state -> Bool? in
            // The handler above ran before this and found no continuation.
            if Task.isCancelled { return nil }
            state.asked[number] = continuation
            state.waiting.append((number, request))
            guard state.running < running else { return false }
            state.running += 1
            return true
        }
        switch isFirst {
        case true?: Task { await performAll() }
        case false?: break
        case nil: continuation.resume(returning: cancelled)
        }
    }

    private func performAll() async {
        while let batch = next() {
            let answers = await perform(batch.map(\.request))
            let asked = state.withLock { state in
                batch.map { state.asked.removeValue(forKey: $0.number) }
            }
            for (continuation, answer) in zip(asked, answers) { continuation?.resume(returning: answer) }
        }
    }

    /// The next batch; `nil`, and one less runs, if nothing waits.
    private func next() -> [(number: Int, request: Request)]? {
        state.withLock { state in
            state.waiting.removeAll { state.asked[$0.number] == nil }
            guard !state.waiting.isEmpty else {
                state.running -= 1
                return nil
            }
            defer { state.waiting.removeFirst(min(most, state.waiting.count)) }
            return Array(state.waiting.prefix(most))
        }
    }
}
#endif
