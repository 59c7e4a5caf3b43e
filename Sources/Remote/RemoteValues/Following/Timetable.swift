// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import Synchronization

/// Calls functions at given times, with one task for all of them.
///
/// A task of its own for each would take kilobytes while it sleeps.
package final class Timetable: Sendable {
    private struct Entry: Comparable {
        let due: ContinuousClock.Instant
        let number: Int

        static func < (one: Entry, other: Entry) -> Bool { one.due < other.due }
    }

    private struct State {
        /// A binary heap, the earliest first. Cancelled entries stay until they are due.
        var entries: [Entry] = []
        var calls: [Int: @Sendable () -> Void] = [:]
        var last = 0
        /// The task that sleeps until the earliest entry, or calls what is due.
        var sleeper: (due: ContinuousClock.Instant, number: Int, task: Task<Void, Never>)?

        mutating func add(_ entry: Entry) {
            entries.append(entry)
            var index = entries.count - 1
            while index > 0, entries[index] < entries[(index - 1) / 2] {
                entries.swapAt(index, (index - 1) / 2)
                index = (index - 1) / 2
            }
        }

        mutating func removeFirst() {
            entries.swapAt(0, entries.count - 1)
            entries.removeLast()
            var index = 0
            while true {
                let children = (2 * index + 1)..<min(2 * index + 3, max(entries.count, 2 * index + 1))
                guard let least = children.min(by: { entries[$0] < entries[$1] }),
                    entries[least] < entries[index]
                else { return }
                entries.swapAt(index, least)
                index = least
            }
        }
    }

    private let state = Mutex(State())

    package init() {}

    deinit { state.withLock { $0.sleeper?.task.cancel() } }

    /// Calls a function at a time.
    ///
    /// - Returns: The number for ``cancel(_:)``.
    @discardableResult
    package func call(at due: ContinuousClock.Instant, _ body: @escaping @Sendable () -> Void) -> Int {
        state.withLock { state in
            state.last += 1
            let number = state.last
            state.calls[number] = body
            state.add(Entry(due: due, number: number))
            sleep(&state)
            return number
        }
    }

    /// Cancels a call that has not been made.
    package func cancel(_ number: Int) {
        _ = state.withLock { $0.calls.removeValue(forKey: number) }
    }

    /// Lets a task sleep until the earliest entry.
    private func sleep(_ state: inout State) {
        guard let due = state.entries.first?.due else { return }
        if let sleeper = state.sleeper {
            guard due < sleeper.due else { return }
            sleeper.task.cancel()
        }
        state.last += 1
        let task = Task { [weak self, number = state.last] in
            guard (try? await Task.sleep(until: due, clock: .continuous)) != nil else { return }
            while let calls = self?.due(for: number) {
                for call in calls { call() }
            }
        }
        state.sleeper = (due, state.last, task)
    }

    /// The next calls in a sleeper's task. If there are none, another task sleeps.
    private func due(for sleeper: Int) -> [@Sendable () -> Void]? {
        state.withLock { state in
            // Another one may have replaced it.
            guard state.sleeper?.number == sleeper else { return nil }
            var calls: [@Sendable () -> Void] = []
            while let first = state.entries.first, first.due <= .now {
                state.removeFirst()
                if let call = state.calls.removeValue(forKey: first.number) { calls.append(call) }
            }
            guard calls.isEmpty else { return calls }
            state.sleeper = nil
            sleep(&state)
            return nil
        }
    }
}
#endif
