// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
internal import TweakRecords

/// The gates and sequences of a store's images. Part of the store's state. A program without gates has empty lists here,
/// and nothing else.
struct Gates {
    /// In load order. Of several with one name the first counts.
    private(set) var all: [GateMailbox] = []
    /// The cells that count changes for readers of several tweaks, and the numbers of their images.
    private var sequences: [(cell: UInt, image: UInt32)] = []
    /// Whether a command that changed the process's memory, before the library was loaded, was killed while it stored.
    private var areTorn = false
    /// Whether changes wait for gates. During the start of the library they do not, because no loop is running yet.
    var areUsed = true
    /// The number of the last image whose records have been searched.
    fileprivate(set) var lastSearched: UInt32 = 0
    /// The changes of updates that loops have stored, and that observers have not been notified of.
    private var passed = GateMailbox.Passed()
    /// Whether a ``GateWatch`` exists.
    var isWatched = false
    /// Whether one is to be started, or to look at once.
    private var callsForWatch = false
    /// The time until the watch looks again.
    private(set) var pause = Self.shortestPause

    private static let shortestPause: Duration = .milliseconds(1)
    private static let longestPause: Duration = .milliseconds(100)

    var isEmpty: Bool { all.isEmpty }

    /// Whether a change waits for a gate.
    var haveWaiting: Bool { all.contains { $0.hasWaiting } }

    /// Whether observers have to be notified of changes that loops have stored.
    var havePassed: Bool { !passed.isEmpty }

    mutating func drainPassed() -> GateMailbox.Passed {
        defer { passed = [] }
        return passed
    }

    mutating func drainCallForWatch() -> Bool {
        defer { callsForWatch = false }
        return callsForWatch
    }

    /// Called after something was put into a mailbox.
    fileprivate mutating func callForWatch() {
        callsForWatch = callsForWatch || !isWatched || pause > Self.shortestPause
        pause = Self.shortestPause
    }

    fileprivate mutating func note(_ new: GateMailbox.Passed) {
        passed += new
        if havePassed, !isWatched { callsForWatch = true }
    }

    /// Called when the watch has looked.
    mutating func adjustPause(hasPassed: Bool) {
        pause = hasPassed ? Self.shortestPause : min(pause * 2, Self.longestPause)
    }

    /// The gate that changes of a tweak wait for, or `nil`.
    func mailbox(of key: TweakKey) -> GateMailbox? {
        guard let name = all.lazy.map({ $0.name }).gate(of: key) else { return nil }
        return all.first { $0.name == name }
    }

    /// The gate that this change of a tweak waits for, or `nil`.
    fileprivate func mailbox(of entry: TweakEntry, with resolution: Resolution) -> GateMailbox? {
        guard areUsed, !all.isEmpty, entry.waits(with: resolution) else { return nil }
        return entry.waitsIn ?? mailbox(of: entry.key)
    }

    /// Adds the gates and sequences in records of an image.
    fileprivate mutating func add(
        _ found: ControlRecords, in records: UnsafeRawBufferPointer, of image: UInt32
    ) {
        guard let start = records.baseAddress else { return }
        for (offset, gate) in found.gates {
            all.append(GateMailbox(gate, UnsafeMutableRawPointer(mutating: start + offset), of: image))
        }
        for offset in found.sequences {
            let cell = start + offset + RecordLayout.cellOffset
            sequences.append((UInt(bitPattern: cell), image))
            areTorn = areTorn || fbtweak__load_64(cell.assumingMemoryBound(to: UInt64.self)) & 1 != 0
        }
    }

    fileprivate mutating func drainTorn() -> Bool {
        defer { areTorn = false }
        return areTorn
    }

    fileprivate mutating func remove(_ image: UInt32) {
        all.removeAll { $0.image == image }
        sequences.removeAll { $0.image == image }
    }

    /// Stores cells, and counts that for readers of several tweaks.
    func storing<Result>(_ body: () -> Result) -> Result {
        fbtweak__begin_any_stores()
        for sequence in sequences {
            if let cell = UnsafeMutablePointer<UInt64>(bitPattern: sequence.cell) {
                fbtweak__begin_stores(cell)
            }
        }
        defer {
            for sequence in sequences {
                if let cell = UnsafeMutablePointer<UInt64>(bitPattern: sequence.cell) {
                    fbtweak__end_stores(cell)
                }
            }
            fbtweak__end_any_stores()
        }
        return body()
    }
}

// MARK: - The state

extension StoreState {
    /// Finds the gates of images whose records are not decoded.
    mutating func findGates() {
        guard let last = images.undecoded.last?.number, last > gates.lastSearched else { return }
        for (image, number) in images.undecoded where number > gates.lastSearched {
            for records in image.records {
                gates.add(ControlRecords(in: records.bytes, byteOrder: .native), in: records, of: number)
            }
        }
        gates.lastSearched = last
        if gates.drainTorn() { storeAll() }
    }

    /// Stores the values of all tweaks that are below no gate. The program's variables keep theirs.
    private mutating func storeAll() {
        decode()
        let entries = tweaks.all.filter { entry in
            !entry.isMonitor && !entry.isStoredByProgram && gates.mailbox(of: entry.key) == nil
        }
        gates.storing { for entry in entries { entry.storeAgain() } }
        messages.append(
            "a command was killed while it stored values in this process's memory, so all tweaks got their values again"
        )
    }

    /// Commits what loops have stored.
    ///
    /// - Returns: Whether one has passed.
    @discardableResult
    mutating func settleGates() -> Bool {
        var passed = GateMailbox.Passed()
        var hasPassed = false
        for mailbox in gates.all where mailbox.hasWaiting {
            hasPassed = mailbox.settle(&passed) || hasPassed
        }
        gates.note(passed)
        return hasPassed
    }

    /// Commits a new value of a tweak, or leaves it to the loop.
    ///
    /// - Returns: The change for observers.
    mutating func commit(
        _ resolution: Resolution, of entry: TweakEntry, _ update: ValueUpdate
    ) -> TweakChange? {
        if let mailbox = gates.mailbox(of: entry, with: resolution) {
            put([(entry, resolution, update)], into: mailbox)
            return nil
        }
        let change = delivery.isHeard ? entry.change(to: resolution) : nil
        gates.storing { entry.commit(resolution) }
        return change
    }

    /// Leaves changes to the loop.
    private mutating func put(_ steps: [GateMailbox.Step], into mailbox: GateMailbox) {
        var passed = GateMailbox.Passed()
        mailbox.add(steps, &passed)
        gates.note(passed)
        gates.callForWatch()
    }

    /// The steps of a plan that wait for gates.
    struct GatedSteps {
        fileprivate var all: [(mailbox: GateMailbox, steps: [GateMailbox.Step])] = []

        /// - Returns: Whether the step waits for a gate.
        mutating func add(_ step: GateMailbox.Step, to gates: Gates) -> Bool {
            guard let mailbox = gates.mailbox(of: step.entry, with: step.resolution) else { return false }
            if let index = all.firstIndex(where: { $0.mailbox === mailbox }) {
                all[index].steps.append(step)
            } else {
                all.append((mailbox, [step]))
            }
            return true
        }
    }

    /// Leaves the changes of an update to the loops.
    mutating func put(_ gated: GatedSteps, of source: TweakSource) {
        for (mailbox, steps) in gated.all {
            let count = GateMailbox.stores(of: steps)
            if count > mailbox.capacity {
                messages.append(
                    "\(source): a change needs \(count) stores in the gate \(mailbox.name), which takes "
                        + "\(mailbox.capacity) at once (FB_TWEAK_GATE_STORES), so it takes effect in "
                        + "several passes"
                )
            }
            put(steps, into: mailbox)
        }
    }

    /// Throws if a person's change does not fit into a gate, because the loop would not get it at once.
    mutating func checkGates(_ update: ValueUpdate) throws(TweakError) {
        findGates()
        guard !gates.isEmpty, gates.areUsed else { return }
        decode()
        var gated = GatedSteps()
        plan(update, in: layers).steps.forEach { _, step in
            _ = gated.add((step.entry, step.resolution, update), to: gates)
        }
        for (mailbox, steps) in gated.all {
            let count = GateMailbox.stores(of: steps)
            guard count <= mailbox.capacity else {
                throw .gate("\(mailbox.name)", stores: count, capacity: mailbox.capacity)
            }
        }
    }

    /// Adds or removes cells of a tweak. The loop never stores into one that is gone.
    mutating func changeCells(of entry: TweakEntry, isRemoving: Bool, _ body: () -> Void) {
        guard let mailbox = entry.waitsIn else { return body() }
        var passed = GateMailbox.Passed()
        mailbox.changeCells(isRemoving: isRemoving, &passed, body)
        gates.note(passed)
    }

    /// Adds or removes an image. A loop stores a change that waits into all of its cells, or none.
    mutating func changeImage(_ body: (inout StoreState) -> Void) {
        var passed = GateMailbox.Passed()
        let waiting = gates.all.filter { $0.hasWaiting }
        for mailbox in waiting { mailbox.hold(&passed) }
        body(&self)
        for mailbox in waiting { mailbox.release(&passed) }
        gates.note(passed)
    }

    /// Removes the gates of an image that goes. What waits is stored directly.
    mutating func closeGates(of image: UInt32) {
        var passed = GateMailbox.Passed()
        gates.storing {
            for mailbox in gates.all where mailbox.image == image { mailbox.close(&passed) }
        }
        gates.remove(image)
        for (changes, update) in passed { delivery.add(changes, of: update) }
    }

    /// Makes the gates of a forked child usable.
    mutating func repairGates() {
        var passed = GateMailbox.Passed()
        for mailbox in gates.all { mailbox.repairAfterFork(&passed) }
        gates.note(passed)
        gates.isWatched = false
        if gates.haveWaiting || gates.havePassed { gates.callForWatch() }
    }
}
