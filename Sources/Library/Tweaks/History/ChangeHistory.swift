// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
internal import TweakRecords
internal import TweakSystem

/// The last changes of a store, and what it takes to go back. Part of the store's state.
///
/// Nothing is allocated before the first change. The changes take at most ``limit`` bytes, including their texts; the
/// oldest are dropped. Half of the room is kept for changes of people, so that a program that changes its own tweaks all
/// the time does not push them out. What tweaks had at the start and at marks is kept outside, one value for each changed tweak.
struct ChangeHistory {
    /// A change of one tweak.
    struct Change: Sendable {
        /// Changes made together have the same number.
        let number: UInt64
        /// Nanoseconds since 1970, and of the clock that never jumps.
        let time, monotonicTime: Int64
        let author: ChangeAuthor
        /// The number of the changes that these undo; 0 for others.
        let undoes: UInt64
        let tweak: TweakEntry
        /// The values after the next start, see ``TweakEntry/nextValue``.
        fileprivate(set) var oldValue: TweakValue
        let newValue: TweakValue
        fileprivate(set) var oldSource: TweakSource
        let newSource: TweakSource
        /// The override below the old value, if that was the session's.
        fileprivate(set) var hidden: RareValue?
        /// Whether the new value waits, for a restart or a gate.
        fileprivate(set) var isPending: Bool
        /// Whether one of the values was too long.
        fileprivate(set) var isCut = false
        /// Whether the author's own lease of the tweak, the last one, ended with it, so that the new value counts.
        let endsLease: Bool
        /// The milliseconds in which the new value is reached gradually; 0 if it applies at once.
        let rampTime: UInt32

        /// Whether a lease began or ended.
        var isOfLease: Bool { oldSource == .lease || newSource == .lease }
        /// Whether a kill began, changed or ended.
        var isOfKill: Bool { oldSource == .kill || newSource == .kill }
    }

    /// A value that most changes do not have, and so is one word in them.
    final class RareValue: Sendable {
        let value: TweakValue

        init(_ value: TweakValue) { self.value = value }
    }

    /// The values that the session and the keeper of overrides had for a tweak.
    struct Held: Sendable {
        let override, session: ProvidedValue?
    }

    /// A point to which tweaks can go back: the start, or a mark.
    struct Point: Sendable {
        /// `nil` for the start.
        let name: String?
        /// The number of the last change before.
        let number: UInt64
        let time: Int64
        let author: ChangeAuthor
        /// The values at this point, of tweaks that have changed before the next one.
        fileprivate(set) var held: [TweakKey: Held] = [:]
    }

    /// Values before a step of a commit.
    struct Before {
        fileprivate let value: TweakValue
        fileprivate let source: TweakSource
        fileprivate let hidden: RareValue?
        /// What hides the value that changes; `nil` if nothing does.
        fileprivate let cover: Cover?
    }

    /// The leases or the kill above a value. A class, because most changes have none.
    fileprivate final class Cover: Sendable {
        /// The value of the newest lease of the tweak; `nil` without leases.
        let leased: TweakValue?

        init(leased: TweakValue?) { self.leased = leased }
    }

    /// The facts that changes of one commit share, from the first of them on.
    private struct Occasion {
        let author: ChangeAuthor
        let undoes: UInt64
        var number: UInt64 = 0
        var time: Int64 = 0
        var monotonicTime: Int64 = 0
    }

    static let usualLimit = 64 << 10
    /// The maximum number of marks, and of bytes in the name of one.
    static let (mostMarks, longestName) = (16, 100)
    /// The most time between two changes of a burst.
    private static let burstGap: Int64 = 500_000_000

    /// The maximum bytes of the changes; 0 turns the history off.
    private(set) var limit = Self.usualLimit
    /// The tweaks with values that a provider has decrypted, which are not recorded.
    var secrets: Set<TweakKey> = []
    /// Nanoseconds of a clock, for tests; `nil` for those of the system.
    var testClock: (@Sendable (CInt) -> Int64)?
    private(set) var lastNumber: UInt64 = 0
    /// The changes of clients and in the overrides file, and all that undo others.
    private var ofPeople = ChangeRing()
    /// The changes of the program and of providers.
    private var ofOthers = ChangeRing()
    /// The highest number of a change that was dropped; 0 if none was.
    private var lastDropped: UInt64 = 0
    /// The number of changes made together of which some had to be dropped, because there were too many.
    private(set) var incomplete: UInt64 = 0
    /// The start and the marks, in the order of time; empty before the first change.
    private(set) var points: [Point] = []
    /// Differs between points, so that a tweak's first change after each is recognised without a search.
    private var epoch: UInt32 = 0

    /// Whether the process is still taking its first values, which are not changes.
    var isStarting = false

    var isOn: Bool { limit > 0 && !isStarting }

    var count: Int { ofPeople.count + ofOthers.count }

    /// Forgets all changes and marks if it is turned off.
    mutating func setLimit(_ new: Int) {
        limit = max(0, new)
        if limit == 0 { (ofPeople, ofOthers, points) = (ChangeRing(), ChangeRing(), []) }
        while count > 0, isTooLarge { dropOldest() }
        ofPeople.rebuild(capacity: ofPeople.count)
        ofOthers.rebuild(capacity: ofOthers.count)
    }

    // MARK: Recording

    /// Notes the values of tweaks before a plan is committed.
    mutating func prepare(_ plan: ValuePlan, _ update: ValueUpdate, _ layers: ProviderLayers) -> ShortList<
        Before?
    > {
        let isOfPerson = update.source == layers.keeper || update.source == .session
        var all = ShortList<Before?>()
        all.reserveCapacity(plan.steps.count)
        plan.steps.forEach { _, step in
            if isOfPerson { keep(step.entry, layers) }
            all.append(before(step.entry, layers, update))
        }
        return all
    }

    /// Records the changes of a plan that has been committed.
    mutating func record(
        _ plan: ValuePlan, _ before: ShortList<Before?>, of update: ValueUpdate, _ layers: ProviderLayers
    ) {
        var occasion = Occasion(author: update.author, undoes: update.undoes)
        var haveCovers = false
        plan.steps.forEach { index, step in
            guard let before = before[index] ?? nil else { return }
            if let cover = before.cover {
                haveCovers = true
                recordHidden(step.entry, before, cover, of: update, layers, &occasion)
            } else {
                let ramp =
                    if case .begin = update.ramps { plan.ramps[step.entry.key]?.duration } else {
                        nil as Duration?
                    }
                add(
                    step.entry, before,
                    Resolution(value: step.entry.nextValue, source: step.resolution.source), ramp: ramp,
                    &occasion)
            }
        }
        update.number = occasion.number
        if haveCovers { recordEndings(plan, before, of: update, layers) }
    }

    /// Records a change of a value below leases or a kill, unless it only ends the last lease. Not inlined, because few
    /// changes are.
    @inline(never)
    private mutating func recordHidden(
        _ tweak: TweakEntry, _ before: Before, _ cover: Cover, of update: ValueUpdate,
        _ layers: ProviderLayers, _ occasion: inout Occasion
    ) {
        let new = layers.visible(to: update).resolve(tweak.declaration)
        let endsLease = cover.leased != nil && layers.leases[tweak.key].isEmpty
        guard !endsLease || new.value != before.value else { return }
        add(tweak, before, new, endsLease: endsLease, &occasion)
    }

    /// Records the leases that have ended although nothing below them has changed.
    @inline(never)
    private mutating func recordEndings(
        _ plan: ValuePlan, _ before: ShortList<Before?>, of update: ValueUpdate, _ layers: ProviderLayers
    ) {
        // A number of their own lets the rest be undone.
        var endings = Occasion(author: update.author, undoes: 0)
        plan.steps.forEach { index, step in
            guard let before = before[index] ?? nil, let leased = before.cover?.leased,
                layers.leases[step.entry.key].isEmpty
            else { return }
            let below = layers.visible(to: update).resolve(step.entry.declaration)
            guard below.value == before.value else { return }
            add(
                step.entry, Before(value: leased, source: .lease, hidden: nil, cover: nil), below, &endings)
        }
        if update.number == 0 { update.number = endings.number }
    }

    /// Records a change that a new declaration has made.
    mutating func record(
        _ resolution: Resolution, in tweak: TweakEntry, _ before: Before?, of update: ValueUpdate
    ) {
        guard let before else { return }
        var occasion = Occasion(author: update.author, undoes: 0)
        add(tweak, before, Resolution(value: tweak.nextValue, source: resolution.source), &occasion)
        update.number = occasion.number
    }

    /// Keeps the values that a tweak had at the last point, before its first change since.
    private mutating func keep(_ tweak: TweakEntry, _ layers: ProviderLayers) {
        if points.isEmpty { begin() }
        guard tweak.epoch != epoch else { return }
        tweak.epoch = epoch
        let last = points.count - 1
        guard points[last].held[tweak.key] == nil else { return }
        points[last].held[tweak.key] = Held(
            override: layers[layers.keeper][tweak.key], session: layers[.session][tweak.key])
    }

    /// The values of a tweak before a step; `nil` if the step is not recorded.
    ///
    /// - Parameter update: The change, or `nil` for another declaration. If leases or kills begin or end, their values are
    ///   those before, otherwise the ones below them.
    func before(_ tweak: TweakEntry, _ layers: ProviderLayers, _ update: ValueUpdate? = nil) -> Before? {
        guard isOn, !tweak.isMonitor, secrets.isEmpty || !secrets.contains(tweak.key) else { return nil }
        if layers.haveLeasesOrKills, layers.hide(tweak.key, from: update) {
            return beforeHidden(tweak, layers, update)
        }
        var source = tweak.source
        if tweak.pendingValue != nil {
            // The tweak still has the source of the current value.
            source = [.session, .lease, layers.keeper].first { layers[$0][tweak.key] != nil } ?? .binary
        }
        return Before(
            value: tweak.nextValue, source: source, hidden: hidden(below: source, tweak, layers), cover: nil)
    }

    /// The values below leases or a kill before a step. Not inlined, because few changes are.
    @inline(never)
    private func beforeHidden(
        _ tweak: TweakEntry, _ layers: ProviderLayers, _ update: ValueUpdate?
    ) -> Before {
        let below = layers.visible(to: update).resolve(tweak.declaration)
        return Before(
            value: below.value, source: below.source, hidden: hidden(below: below.source, tweak, layers),
            cover: Cover(leased: layers.leases[tweak.key].last?.value))
    }

    /// The override below a value of the session.
    private func hidden(
        below source: TweakSource, _ tweak: TweakEntry, _ layers: ProviderLayers
    ) -> RareValue? {
        guard source == .session, case .value(let value)? = layers[layers.keeper][tweak.key] else {
            return nil
        }
        return RareValue(value)
    }

    /// Records a step if it has changed the value.
    private mutating func add(
        _ tweak: TweakEntry, _ before: Before, _ new: Resolution, ramp: Duration? = nil,
        endsLease: Bool = false, _ occasion: inout Occasion
    ) {
        guard new.value != before.value else { return }
        if occasion.number == 0 {
            lastNumber += 1
            occasion.number = lastNumber
            occasion.time = now(CLOCK_REALTIME)
            occasion.monotonicTime = now(CLOCK_MONOTONIC)
        }
        var isCut = false
        append(
            Change(
                number: occasion.number, time: occasion.time, monotonicTime: occasion.monotonicTime,
                author: occasion.author, undoes: occasion.undoes, tweak: tweak,
                oldValue: shortened(before.value, &isCut), newValue: shortened(new.value, &isCut),
                oldSource: before.source, newSource: new.source, hidden: before.hidden,
                isPending: tweak.pendingValue != nil && before.cover == nil, isCut: isCut,
                endsLease: endsLease,
                rampTime: ramp.map { UInt32(exactly: ($0 / .milliseconds(1)).rounded()) ?? .max } ?? 0))
    }

    private func now(_ clock: CInt) -> Int64 {
        testClock?(clock) ?? nanoseconds(of: clock)
    }

    /// A text of more than a quarter of the room keeps its beginning only.
    private func shortened(_ value: TweakValue, _ isCut: inout Bool) -> TweakValue {
        guard case .string(let text) = value, text.utf8.count > limit / 4 else { return value }
        isCut = true
        return .string(String(text.prefix(40)) + "…")
    }

    // MARK: Dropping

    private var isTooLarge: Bool { ofPeople.byteCount + ofOthers.byteCount > limit }

    private mutating func append(_ change: Change) {
        // Room for at most one change more than fits, because a new one comes before the oldest goes.
        let most = limit / ChangeRing.stride + 2
        if change.isOfPerson {
            ofPeople.append(change, most: most)
        } else {
            ofOthers.append(change, most: most)
        }
        while count > 1, isTooLarge { dropOldest() }
    }

    /// Drops the oldest change of people, or of others if those take more than half of the room; never the newest change.
    private mutating func dropOldest() {
        let newest = lastNumber
        let isNewestAlone = { (ring: ChangeRing) in ring.count == 1 && ring.oldest?.number == newest }
        let isOfOthers =
            ofPeople.count == 0 || isNewestAlone(ofPeople)
            || ofOthers.byteCount > limit / 2 && !isNewestAlone(ofOthers)
        let dropped =
            isOfOthers && ofOthers.count > 0
            ? ofOthers.dropOldest(before: newest) : ofPeople.dropOldest(before: newest, where: Self.isBurst)
        guard let dropped else { return }
        if dropped == newest { incomplete = dropped } else { lastDropped = max(lastDropped, dropped) }
    }

    fileprivate static func isBurst(_ change: Change, _ next: Change) -> Bool {
        guard change.undoes == 0, next.undoes == 0, !change.isOfLease, !next.isOfLease,
            case .client(let client) = change.author,
            case .client(let other) = next.author
        else { return false }
        return client.isSame(as: other) && next.monotonicTime - change.monotonicTime <= burstGap
    }

    // MARK: Reading

    /// The changes after a number, oldest first.
    ///
    /// - Parameter most: Their maximum number; the last ones made together may exceed it.
    func changes(after number: UInt64, atMost most: Int = .max) -> [Change] {
        var changes: [Change] = []
        var (person, other) = (0, 0)
        for _ in 0..<count {
            var change: Change
            switch (ofPeople[person], ofOthers[other]) {
            case (let first?, let second) where first.number < second?.number ?? .max:
                change = first
                person += 1
            case (_, let second?):
                change = second
                other += 1
            default: return changes
            }
            guard change.number > number else { continue }
            // A value that waited may have taken effect since.
            change.isPending = change.isPending && change.tweak.pendingValue == change.newValue
            if changes.count >= most, change.number != changes.last?.number { break }
            changes.append(change)
        }
        return changes
    }

    /// The number from which on all changes are kept; `nil` if there are none. Of earlier ones some of people are left.
    var firstNumber: UInt64? { count > 0 ? min(lastDropped + 1, lastNumber) : nil }

    // MARK: Undoing

    /// The changes that count as one when they are undone, oldest first: all made together, and those of the same burst.
    func burst(of number: UInt64) -> [[Change]] {
        let sets = sets
        guard var (low, high) = sets.firstIndex(where: { $0[0].number == number }).map({ ($0, $0) }) else {
            return []
        }
        let keys = Set(sets[low].map { $0.tweak.key })
        var members = [sets[low]]
        while let earlier = sets[..<low].lastIndex(where: { $0.touches(keys) }),
            sets[earlier].isOf(keys), Self.isBurst(sets[earlier][0], members[0][0])
        {
            members.insert(sets[earlier], at: 0)
            low = earlier
        }
        while let later = sets[(high + 1)...].firstIndex(where: { $0.touches(keys) }),
            sets[later].isOf(keys), Self.isBurst(members[members.count - 1][0], sets[later][0])
        {
            members.append(sets[later])
            high = later
        }
        return members
    }

    /// The newest changes of a person that nothing has undone and that undo nothing themselves, without leases, which end
    /// by themselves; 0 if there are none.
    var newestToUndo: UInt64 {
        var undone: Set<UInt64> = []
        for set in sets.reversed() where !undone.contains(set[0].number) && !set[0].isOfLease {
            if set[0].undoes != 0 {
                undone.insert(set[0].undoes)
                for member in burst(of: set[0].undoes) { undone.insert(member[0].number) }
                continue
            }
            switch set[0].author {
            case .client, .file: return set[0].number
            case .program, .provider: continue
            }
        }
        return 0
    }

    /// The changes, those made together in one array.
    private var sets: [[Change]] {
        var sets: [[Change]] = []
        for change in changes(after: 0) {
            if sets.last?.last?.number == change.number {
                sets[sets.count - 1].append(change)
            } else {
                sets.append([change])
            }
        }
        return sets
    }

    // MARK: Points

    private mutating func begin() {
        points = [Point(name: nil, number: lastNumber, time: 0, author: .program)]
        epoch &+= 1
    }

    /// Marks this moment. A mark of the same name moves here.
    ///
    /// - Returns: `false` if there are too many.
    mutating func mark(_ name: String, by author: ChangeAuthor) -> Bool {
        if points.isEmpty { begin() }
        if let index = points.firstIndex(where: { $0.name?.hasSameBytes(as: name) ?? false }) {
            let old = points.remove(at: index)
            // The start is before every mark.
            points[index - 1].held.addMissing(old.held)
        }
        guard points.count <= Self.mostMarks else { return false }
        points.append(Point(name: name, number: lastNumber, time: now(CLOCK_REALTIME), author: author))
        epoch &+= 1
        return true
    }

    /// The values at a point that may have changed since; `nil` if there is no such mark.
    ///
    /// - Parameter mark: `nil` for the start.
    func held(at mark: String?) -> [TweakKey: Held]? {
        guard mark != nil || !points.isEmpty else { return [:] }
        let index = points.firstIndex { point in
            mark.map { point.name?.hasSameBytes(as: $0) ?? false } ?? (point.name == nil)
        }
        guard let index else { return nil }
        return points[index...].reduce(into: [:]) { $0.addMissing($1.held) }
    }
}

/// Changes, oldest first.
private struct ChangeRing {
    static let stride = MemoryLayout<ChangeHistory.Change?>.stride

    /// The oldest change is at ``first``.
    private var slots: ContiguousArray<ChangeHistory.Change?> = []
    private var first = 0
    private(set) var count = 0
    /// The bytes of texts in the changes.
    private var textBytes = 0

    var byteCount: Int { count * Self.stride + textBytes }

    var oldest: ChangeHistory.Change? { self[0] }

    /// The change at an index, the oldest of which is 0.
    private(set) subscript(index: Int) -> ChangeHistory.Change? {
        get { index < count ? slots[(first + index) % slots.count] : nil }
        set { if index < count { slots[(first + index) % slots.count] = newValue } }
    }

    /// - Parameter most: The maximum number of changes for which memory is allocated, unless there are more.
    mutating func append(_ change: ChangeHistory.Change, most: Int) {
        if count == slots.count || slots.count > 64 && count < slots.count / 4 {
            rebuild(capacity: max(count + 1, min(max(4, 2 * count), most)))
        }
        slots[(first + count) % slots.count] = change
        count += 1
        textBytes += change.textBytes
    }

    mutating func rebuild(capacity: Int) {
        var new = ContiguousArray<ChangeHistory.Change?>(repeating: nil, count: max(capacity, count))
        for index in 0..<count { new[index] = self[index] }
        (slots, first) = (new, 0)
    }

    private mutating func dropFirst() -> ChangeHistory.Change? {
        guard count > 0, let change = slots[first].take() else { return nil }
        first = (first + 1) % slots.count
        count -= 1
        textBytes -= change.textBytes
        return change
    }

    /// Drops the oldest change, with those made together with it unless they are the newest. In a burst the next change
    /// takes over the old value.
    ///
    /// - Parameters:
    ///   - lastNumber: The number of the newest changes.
    ///   - isBurst: Returns whether a change and the next one of the same tweak belong to a burst.
    /// - Returns: The number of the dropped changes.
    mutating func dropOldest(
        before lastNumber: UInt64,
        where isBurst: (ChangeHistory.Change, ChangeHistory.Change) -> Bool = { _, _ in false }
    ) -> UInt64? {
        guard let dropped = dropFirst() else { return nil }
        if dropped.number == lastNumber { return lastNumber }
        var isSingle = true
        // Without reading the change, which would copy it.
        while count > 0, slots[first]?.number == dropped.number {
            _ = dropFirst()
            isSingle = false
        }
        // Only changes by clients are bursts.
        guard case .client = dropped.author else { return dropped.number }
        // Further away the sliders of several people would have to be moved at once.
        for index in 0..<(isSingle ? min(count, 8) : 0) {
            guard let next = self[index], next.tweak === dropped.tweak else { continue }
            let isAlone =
                self[index + 1]?.number != next.number
                && (index == 0 || self[index - 1]?.number != next.number)
            // The program may have changed the value in between.
            if isAlone, isBurst(dropped, next), next.oldValue == dropped.newValue {
                var next = next
                textBytes -= next.textBytes
                (next.oldValue, next.oldSource, next.hidden) = (
                    dropped.oldValue, dropped.oldSource, dropped.hidden
                )
                next.isCut = next.isCut || dropped.isCut
                textBytes += next.textBytes
                self[index] = next
            }
            break
        }
        return dropped.number
    }
}

extension [ChangeHistory.Change] {
    fileprivate func touches(_ keys: Set<TweakKey>) -> Bool { contains { keys.contains($0.tweak.key) } }
    fileprivate func isOf(_ keys: Set<TweakKey>) -> Bool {
        count == keys.count && allSatisfy { keys.contains($0.tweak.key) }
    }
}

extension ChangeHistory.Change {
    /// Whether a person made it, or undid another one.
    fileprivate var isOfPerson: Bool {
        if undoes != 0 { return true }
        switch author {
        case .client, .file: return true
        case .program, .provider: return false
        }
    }

    /// The bytes of its texts.
    fileprivate var textBytes: Int {
        oldValue.textBytes + newValue.textBytes + (hidden?.value.textBytes ?? 0)
    }
}

extension TweakValue {
    fileprivate var textBytes: Int { if case .string(let text) = self { text.utf8.count } else { 0 } }
}

extension ProviderLayers {
    /// Whether leases or a kill hide the value of a tweak that an update changes.
    fileprivate func hide(_ key: TweakKey, from update: ValueUpdate?) -> Bool {
        guard update?.isOfLeases != true else { return false }
        let isOfOthers = update.map { $0.source != .kill } ?? false
        return !leases[key].isEmpty || isOfOthers && isKilled(key)
    }

    /// The layers without those that hide the values of an update that is not one of leases.
    fileprivate func visible(to update: ValueUpdate?) -> ProviderLayers {
        update.map { $0.source != .kill } ?? false ? withoutLeasesAndKills : withoutLeases
    }
}
