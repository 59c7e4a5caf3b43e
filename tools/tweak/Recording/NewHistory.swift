// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import TweakClient
import TweakProtocol
import TweakSystem

/// The changes and marks that a program adds to its history while it is recorded.
///
/// The history has what notifications lack: numbers, exact times, ramps, leases and the values below them. Notifications
/// only announce changes, and nothing announces marks, so these are looked for four times a second.
struct NewHistory {
    /// The longest time between two looks.
    static let period = 0.25

    private let program: LiveProgram
    private var last: Int
    private var marks: [ListHistory.Mark]
    private var nextLook = ContinuousClock.now
    /// The number of changes that were no longer in the history when it was looked at.
    private(set) var lost = 0

    /// - Parameter program: A connection that gets no samples.
    /// - Returns: `nil` if the program keeps no history, as with an older library.
    init?(of program: LiveProgram) {
        guard let known = try? program.askHistory(ListHistory(since: .max)) else { return nil }
        (self.program, last, marks) = (program, known.last, known.marks)
    }

    /// The changes and marks since the last look, if it is time for one; none if the program has ended.
    ///
    /// - Parameter isDue: Whether to look in any case, because there are changes.
    mutating func next(
        isDue: Bool
    ) throws(Failure) -> (changes: [ListHistory.Change], marks: [ListHistory.Mark]) {
        guard isDue || .now >= nextLook else { return ([], []) }
        nextLook = .now + .seconds(Self.period)
        let history: ListHistory.Answer
        do throws(Failure) { history = try program.askHistory(ListHistory(since: last)) } catch {
            guard error.kind == .unavailable else { throw error }
            return ([], [])
        }
        lost += max(0, (history.first ?? 0) - last - 1)
        last = history.last
        // A mark moves if it is set again.
        let new = history.marks.filter { mark in
            !marks.contains { ($0.name, $0.time) == (mark.name, mark.time) }
        }
        marks = history.marks
        return (history.changes, new)
    }
}
