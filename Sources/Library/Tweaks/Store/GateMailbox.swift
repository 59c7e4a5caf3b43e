// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
internal import Glibc
internal import TweakRecords
internal import TweakSystem

/// A gate of the process, with the changes that wait for it.
///
/// The store puts an update into the mailbox, which is part of the gate's record, and stores the number of its stores in
/// the cell. The loop takes the number, stores everything and sets it to 0; then the store commits the values. Until the
/// loop has taken it, the store can take the update back, and put another one there.
///
/// `@unchecked Sendable`: reachable only through a ``StoreState``, and so only with the store's lock. The record stays
/// mapped until the store has closed the gate. The loop reads the entries only between taking the number and setting it
/// to 0, when they are not written here.
final class GateMailbox: @unchecked Sendable {
    typealias Step = (entry: TweakEntry, resolution: Resolution, update: ValueUpdate)
    /// Changes that the loop has stored, those of one author, tag and pass together, with the last update.
    typealias Passed = [(changes: [TweakChange], update: ValueUpdate)]

    let name: GateName
    /// The number of its image.
    let image: UInt32
    /// The maximum number of stores in one pass.
    let capacity: Int
    private let record: UnsafeMutableRawPointer
    private let entries: UnsafeMutableRawPointer
    /// The updates that wait, in order. The loop stores each as a whole. Only an update of a provider can be larger than
    /// the mailbox; it takes several passes.
    private var updates: [[Step]] = []
    /// The number of stores in the mailbox, all of the first update; 0 if the mailbox is free or contains stores of
    /// somebody else.
    private var filled = 0
    /// The number of stores of the first update that the loop has made in earlier passes.
    private var stored = 0
    /// When the oldest change began to wait, or the loop last passed since then; `nil` if nothing waits.
    private(set) var waitingSince: (instant: ContinuousClock.Instant, time: Duration)?
    /// When the loop was last seen to pass, as time since 1970.
    private(set) var lastPassed: Duration?
    /// Whether some cells have values of the first update already.
    private var isPartlyStored = false
    /// Whether nothing is put into the mailbox, see ``hold(_:)``.
    private var isHeld = false
    /// When a store of nothing was put into the free mailbox, to see whether the loop passes, as time since 1970; `nil`
    /// if there is none.
    private var probed: Duration?
    /// Whether a tweak got a cell while the loop was storing its value.
    private var hasNewCells = false
    private var isReportedBlocked = false
    private var isReportedShared = false

    /// The number of waiting updates at which further ones are merged, even if they are then not stored together.
    private static let mostUpdates = 100
    /// The time in which clients look at a probe again, so that the pass was just now.
    private static let probeTime: Duration = .seconds(1)
    /// The time after which a gate that nobody passes is reported.
    private static let patience: Duration = .seconds(5)

    init(_ gate: Gate, _ record: UnsafeMutableRawPointer, of image: UInt32) {
        name = gate.name
        capacity = gate.capacity
        self.record = record
        entries = record + gate.entriesOffset
        self.image = image
    }

    var hasWaiting: Bool { !updates.isEmpty }

    /// The number of tweaks with a value that waits.
    private var waitingCount: Int { Set(updates.joined().map { ObjectIdentifier($0.entry) }).count }

    // MARK: The mailbox

    private var cell: UnsafeMutablePointer<UInt64> {
        (record + RecordLayout.cellOffset).assumingMemoryBound(to: UInt64.self)
    }

    /// Commits what the loop has stored.
    private func noticePass(_ passed: inout Passed) {
        guard filled > 0, fbtweak__load_gate(cell) == 0 else { return }
        if let probed {
            lastPassed = .since1970 - probed < Self.probeTime ? .since1970 : probed
            (filled, self.probed) = (0, nil)
            return
        }
        lastPassed = .since1970
        waitingSince = (.now, .since1970)
        // The loop does not know new cells, so it stores everything again.
        stored = hasNewCells ? 0 : stored + filled
        filled = 0
        isPartlyStored = true
        if !hasNewCells, let update = updates.first, stored >= Self.stores(of: update) {
            commitFirst(&passed, isStored: true)
        }
        hasNewCells = false
    }

    /// Takes back what is in the mailbox.
    ///
    /// - Returns: `false` while the loop is storing it.
    private func open(_ passed: inout Passed) -> Bool {
        noticePass(&passed)
        guard filled > 0 else { return true }
        if fbtweak__retract_gate(cell, UInt64(filled)) {
            (filled, probed) = (0, nil)
        } else {
            noticePass(&passed)
        }
        return filled == 0
    }

    /// Takes back what is in the mailbox, and waits for the loop if it is storing: that takes less than a microsecond,
    /// unless its thread is interrupted.
    private func openForGood(_ passed: inout Passed) {
        // A thread that was ended between its stores never finishes them.
        for _ in 0..<20_000 {
            if open(&passed) { return }
            usleep(50)
        }
        (filled, probed) = (0, nil)
    }

    /// Puts the next stores into the mailbox, unless there are some.
    private func fill(_ passed: inout Passed) {
        if isHeld { return }
        while filled == 0, let update = updates.first, fbtweak__load_gate(cell) == 0 {
            var index = 0
            for step in update {
                step.entry.cells.forEach { owned in
                    guard let number = owned.cell.number(of: step.resolution.value) else { return }
                    if index >= stored, filled < capacity { put(number, into: owned.cell) }
                    index += 1
                }
            }
            if filled > 0 { return fbtweak__store_gate(cell, UInt64(filled)) }
            commitFirst(&passed, isStored: false)
        }
        if updates.isEmpty { (waitingSince, stored, isPartlyStored) = (nil, 0, false) }
    }

    private func put(_ number: UInt64, into cell: Cell) {
        let entry = entries + filled * RecordLayout.gateStoreSize
        entry.storeBytes(of: UInt64(cell.number), as: UInt64.self)
        // The first bytes hold the value.
        let bits = number << UInt64(64 - 8 * cell.type.byteCount)
        entry.storeBytes(
            of: ByteOrder.native == .little ? number : bits, toByteOffset: 8, as: UInt64.self)
        entry.storeBytes(of: UInt32(cell.type.byteCount), toByteOffset: 16, as: UInt32.self)
        entry.storeBytes(of: 0, toByteOffset: 20, as: UInt32.self)
        filled += 1
    }

    /// Commits the first update.
    ///
    /// - Parameter isStored: Whether all cells have the values. Programs may read bound variables without atomic loads,
    ///   in the loop, so the loop itself stores into them.
    private func commitFirst(_ passed: inout Passed, isStored: Bool) {
        guard !updates.isEmpty else { return }
        let update = updates.removeFirst()
        stored = 0
        isPartlyStored = false
        var changes = Passed()
        for step in update {
            if let change = step.entry.change(to: step.resolution) {
                let isSame = { (other: ValueUpdate) in
                    "\(other.author)" == "\(step.update.author)" && other.tag == step.update.tag
                }
                if let index = changes.firstIndex(where: { isSame($0.update) }) {
                    changes[index].changes.append(change)
                    changes[index].update = step.update
                } else {
                    changes.append(([change], step.update))
                }
            }
            step.entry.commit(step.resolution, isStored: isStored)
            updateWaiting(step.entry)
        }
        passed += changes
    }

    /// Gives a tweak the last value that waits for it.
    private func updateWaiting(_ entry: TweakEntry) {
        let last = updates.joined().last { $0.entry === entry }
        entry.wait(for: last.map { ($0.resolution, self) })
    }

    /// The number of cells that an update stores.
    static func stores(of steps: [Step]) -> Int {
        steps.reduce(0) { sum, step in
            sum + step.entry.cells.all.count { $0.cell.number(of: step.resolution.value) != nil }
        }
    }
}

// MARK: - Changes

extension GateMailbox {
    /// Notes a pass since the last call, and makes the next one visible even if nothing waits: the loop takes a store of
    /// no bytes.
    func probe() {
        if probed != nil {
            // Nothing waits, so there is nothing to commit.
            var none = Passed()
            noticePass(&none)
        }
        guard !isHeld, updates.isEmpty, filled == 0, fbtweak__load_gate(cell) == 0 else { return }
        entries.initializeMemory(as: UInt8.self, repeating: 0, count: RecordLayout.gateStoreSize)
        (filled, probed) = (1, .since1970)
        fbtweak__store_gate(cell, 1)
    }

    /// Commits what the loop has stored, and puts the next update into the mailbox.
    ///
    /// - Returns: Whether the loop has passed.
    @discardableResult
    func settle(_ passed: inout Passed) -> Bool {
        let before = lastPassed
        noticePass(&passed)
        fill(&passed)
        return lastPassed != before
    }

    /// Adds changes that the loop stores together, unless they are more than the mailbox can hold. They are merged with
    /// those before if the loop has not begun to store them. A value that waits already stays the change of who set it
    /// first.
    func add(_ steps: [Step], _ passed: inout Passed) {
        // The first update stays if the loop stores it now, or has stored a part.
        let isOpen = open(&passed)
        let steps = steps.filter { !waits($0) }
        guard !steps.isEmpty else { return fill(&passed) }
        let first = isOpen && !isPartlyStored ? 0 : min(1, updates.count)
        let changed = Set(steps.map { ObjectIdentifier($0.entry) })
        for step in steps { step.entry.wait(for: (step.resolution, self)) }
        // The values before are not needed any more.
        for index in updates.indices.dropFirst(first).reversed()
        where updates[index].allSatisfy({ changed.contains(ObjectIdentifier($0.entry)) }) {
            updates.remove(at: index)
        }
        if updates.count > first, let last = updates.last {
            let merged = last.filter { !changed.contains(ObjectIdentifier($0.entry)) } + steps
            if Self.stores(of: merged) <= capacity || updates.count > Self.mostUpdates {
                updates[updates.count - 1] = merged
            } else {
                updates.append(steps)
            }
        } else {
            updates.append(steps)
        }
        if first == 0 { dropUnchanged() }
        if waitingSince == nil { waitingSince = (.now, .since1970) }
        fill(&passed)
    }

    /// Whether the value of a step waits already. Then it gets the step's provider.
    private func waits(_ step: Step) -> Bool {
        guard step.entry.pendingValue == step.resolution.value,
            let update = updates.lastIndex(where: { $0.contains { $0.entry === step.entry } }),
            let index = updates[update].firstIndex(where: { $0.entry === step.entry })
        else { return false }
        updates[update][index].resolution.source = step.resolution.source
        updateWaiting(step.entry)
        return true
    }

    /// Drops steps of the first update that change nothing, because somebody has set the tweak back.
    private func dropUnchanged() {
        guard let update = updates.first else { return }
        updates[0] = update.filter { $0.resolution.value != $0.entry.value }
        if updates[0].isEmpty { updates.removeFirst() }
        for step in update where step.resolution.value == step.entry.value {
            step.entry.commit(step.resolution)
            updateWaiting(step.entry)
        }
    }

    /// Changes the cells of tweaks while nothing is in the mailbox, so that the loop stores into all of them, and never
    /// into memory that is gone.
    ///
    /// - Parameters:
    ///   - isRemoving: Whether cells go. Otherwise a loop that is storing is not waited for.
    ///   - passed: Collects changes that the loop has stored.
    ///   - body: Changes the cells.
    func changeCells(isRemoving: Bool, _ passed: inout Passed, _ body: () -> Void) {
        if isRemoving { openForGood(&passed) } else if !open(&passed) { hasNewCells = true }
        body()
        // What was stored was counted with other cells.
        if filled == 0 { stored = 0 }
        fill(&passed)
    }

    /// Keeps the mailbox empty until ``release(_:)``: while the cells of an image come or go, the loop must not store into
    /// some of them.
    func hold(_ passed: inout Passed) {
        openForGood(&passed)
        isHeld = true
    }

    func release(_ passed: inout Passed) {
        isHeld = false
        fill(&passed)
    }

    /// Forgets the changes of a tweak. Called by the body of ``changeCells(isRemoving:_:_:)``.
    func drop(_ entry: TweakEntry) {
        if isPartlyStored { entry.storeAgain() }
        updates = updates.map { $0.filter { $0.entry !== entry } }.filter { !$0.isEmpty }
        entry.wait(for: nil)
    }

    /// Commits what waits, because the memory of the gate goes.
    func close(_ passed: inout Passed) {
        openForGood(&passed)
        while hasWaiting { commitFirst(&passed, isStored: false) }
        waitingSince = nil
    }

    /// In a forked child, which does not have the thread that was storing: puts the values there again.
    func repairAfterFork(_ passed: inout Passed) {
        guard fbtweak__load_gate(cell) & RecordLayout.gateIsTaken != 0 else { return }
        fbtweak__store_gate(cell, 0)
        (filled, probed) = (0, nil)
        fill(&passed)
    }

    /// A message about the gate, each once, or `nil`.
    func problem() -> String? {
        if let since = waitingSince?.instant, !isReportedBlocked, .now - since > Self.patience {
            isReportedBlocked = true
            return "the gate \(name) has not been passed for \(Self.patience.components.seconds) s, and "
                + counted(waitingCount, "change waits", "changes wait")
                + " for it; the program stores them when it passes the gate"
        }
        // One other thread may be the successor of the first.
        let strangers = fbtweak__load_32(
            (record + RecordLayout.strangersOffset).assumingMemoryBound(to: UInt32.self))
        if strangers > 1, !isReportedShared {
            isReportedShared = true
            return
                "several threads pass the gate \(name); changes take effect when any of them does, so "
                + "another may read a tweak before a change and the next tweak after it"
        }
        return nil
    }
}
