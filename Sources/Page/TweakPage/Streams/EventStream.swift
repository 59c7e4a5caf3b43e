import Synchronization
import TweakRecords

/// What one page has to be told and has not been told yet.
///
/// It is bounded however slow the page is: of each tweak there is one change, of each program one state, and of samples
/// some thousand frames, of which the oldest go first.
final class EventStream: Sendable {
    let number: Int
    private let pending = Mutex(Pending())
    private let signals: AsyncStream<Void>.Continuation
    /// Has something when there is something to tell.
    let signal: AsyncStream<Void>

    struct Pending {
        /// Programs whose state is another one, in the order of that.
        var programs: [String] = []
        var gone: [String] = []
        /// Those whose tweaks have to be read again.
        var reloaded: [String] = []
        var changes: [String: PendingChanges] = [:]
        var samples: [String: PendingSamples] = [:]
        var presets: [String] = []
        var viewersChanged = false
        /// Whether nothing has been said for long.
        var isSilent = false
        var isEnding = false
    }

    init(number: Int) {
        self.number = number
        (signal, signals) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(1))
    }

    /// Adds something to tell.
    func add(_ body: (inout sending Pending) -> Void) {
        pending.withLock { body(&$0) }
        signals.yield()
    }

    /// What there is to tell, which is then told.
    func take() -> Pending {
        pending.withLock { pending in
            let taken = pending
            pending = Pending()
            // Nothing comes behind the end.
            pending.isEnding = taken.isEnding
            return taken
        }
    }
}

/// Changes of a program, one of each tweak: from the first old value to the last new one.
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
    /// Some seconds at the fastest, some minutes at what is seen.
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
