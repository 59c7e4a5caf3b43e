// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
internal import TweakOverrides
internal import TweakRecords
internal import TweakSystem

/// Changes that were unwritten when a process forked this one.
///
/// The process writes them itself, unless it ends without, as in `daemon(3)`. Then the nearest descendant that is alive
/// does.
struct InheritedChanges {
    var changes: OverridesWriter.Changes
    /// The process that made the changes, and its descendants up to the parent of this one.
    let ancestors: [pid_t]
    /// The number of changes of that process that are written, by whatever process.
    let written: SharedNumber
    /// The number of its changes, with these.
    let count: UInt64

    /// The same changes, for a child of a process.
    func forChild(of process: pid_t) -> InheritedChanges {
        InheritedChanges(
            changes: changes, ancestors: ancestors + [process], written: written, count: count)
    }

    var areWritten: Bool { written.value >= count }

    /// Whether all processes that would write the changes have ended.
    var areLeftToUs: Bool {
        getppid() != ancestors.last
            && ancestors.dropLast().allSatisfy { ["Z", "X"].contains(statusFields(of: $0)?.first ?? "X") }
    }
}

/// Waits until inherited changes are written, or this process has to write them.
///
/// It checks ever more rarely, in the end once a second, and stops after a minute, because a process that cannot write
/// may live for long. The next flush of this process checks again.
final class WaitForAncestors: EventLoop.Source {
    private let writer: OverridesWriter
    private var pause: Duration = .milliseconds(10)
    private static let longestPause: Duration = .seconds(1)
    private var next: ContinuousClock.Instant
    private let last = ContinuousClock.now + .seconds(60)

    init(_ writer: OverridesWriter) {
        self.writer = writer
        next = .now + pause
    }

    var awaited: [pollfd] { [] }
    var deadline: ContinuousClock.Instant? { next }

    func handle(_ happened: ArraySlice<pollfd>) -> Bool {
        guard next <= .now else { return true }
        pause = min(pause * 2, Self.longestPause)
        next = .now + pause
        return !writer.settleInheritance() && next < last
    }

    func end() {}
}
