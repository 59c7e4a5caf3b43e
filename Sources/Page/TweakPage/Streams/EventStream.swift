// SPDX-License-Identifier: BSD-3-Clause
import Synchronization
import TweakRecords

/// The pending events of one page.
///
/// They are bounded however slow the page is: one change for each tweak, one state for each program, and some thousand
/// samples, of which the oldest are dropped.
final class EventStream: Sendable {
    let number: Int
    private let pending = Mutex(Pending())
    private let lastAnswer = Mutex(ContinuousClock.now)
    private let signals: AsyncStream<Void>.Continuation
    /// Yields when there are pending events.
    let signal: AsyncStream<Void>

    struct Pending {
        /// Programs whose state has changed, in that order.
        var programs: [String] = []
        var gone: [String] = []
        /// Programs whose tweaks must be loaded again.
        var reloaded: [String] = []
        var changes: [String: PendingChanges] = [:]
        var samples: [String: PendingSamples] = [:]
        var presets: [String] = []
        /// Programs whose tried values are others.
        var trials: [String] = []
        var viewersChanged = false
        /// Whether the page must answer.
        var isPing = false
        /// Whether a heartbeat is due.
        var isBeat = false
        var isEnding = false
    }

    init(number: Int) {
        self.number = number
        (signal, signals) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// How long the page has not answered.
    var silence: Duration { lastAnswer.withLock { .now - $0 } }

    /// Notes that the page is there.
    func hear() { lastAnswer.withLock { $0 = .now } }

    /// Adds events.
    func add(_ body: (inout sending Pending) -> Void) {
        pending.withLock { body(&$0) }
        signals.yield()
    }

    /// Removes and returns the pending events.
    func take() -> Pending {
        pending.withLock { pending in
            let taken = pending
            pending = Pending()
            // Nothing follows the end.
            pending.isEnding = taken.isEnding
            return taken
        }
    }
}

/// Changes of a program, merged per tweak: from the first old value to the last new one.
struct PendingChanges {
    private(set) var all: [ChangeForm] = []
    private var places: [TweakKey: Int] = [:]

    mutating func add(_ change: ChangeForm) {
        if let place = places[change.tweak] {
            let first = all[place].oldValue
            all[place] = change
            all[place].oldValue = first
        } else {
            places[change.tweak] = all.count
            all.append(change)
        }
    }
}

/// Samples of a program.
struct PendingSamples {
    let tweaks: [TweakKey]
    private(set) var frames: [(time: Double, values: [Double?])] = []
    var dropped = 0
    /// Some seconds at the highest rate, some minutes at the usual one.
    private static let most = 4096

    init(tweaks: [TweakKey]) { self.tweaks = tweaks }

    mutating func add(_ time: Double, _ values: [Double?]) {
        frames.append((time, values))
        guard frames.count >= 2 * Self.most else { return }
        dropped += frames.count - Self.most
        frames.removeFirst(frames.count - Self.most)
    }
}

extension [String] {
    mutating func appendOnce(_ text: String) {
        if !contains(text) { append(text) }
    }
}
