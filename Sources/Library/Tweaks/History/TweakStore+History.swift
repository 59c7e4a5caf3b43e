// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
internal import TweakRecords
internal import TweakSystem

/// A reason why changes cannot be undone.
enum HistoryError: Error {
    /// The history is turned off.
    case off
    /// No change of a person is left to undo.
    case nothing
    /// The history does not have these changes.
    case unknown(UInt64, kept: ClosedRange<UInt64>?)
    /// The changes were too many, or their texts too long, to keep all of them.
    case incomplete(UInt64)
    /// A lease began or ended with the changes.
    case ofLease(UInt64)
    /// A kill began, changed or ended with the changes.
    case ofKill(UInt64)
    /// The tweak no longer exists.
    case gone(TweakKey)
    /// The tweak has another value now.
    case changedSince(TweakKey, TweakValue, by: (author: ChangeAuthor, number: UInt64)?)
    /// The tweak no longer takes the value.
    case refused(TweakValueError)
    case unknownMark(String, known: [String])
    case invalidMark
    case tooManyMarks
    case store(TweakError)
}

extension HistoryError: CustomStringConvertible {
    var description: String {
        switch self {
        case .off:
            return "the program's history is turned off, as by TWEAKS_HISTORY=0 in its environment"
        case .nothing: return "nothing to undo"
        case .unknown(let number, let kept):
            let range = kept.map { "the history has \($0.lowerBound) to \($0.upperBound)" }
            return "no change \(number); \(range ?? "the history is empty")"
        case .incomplete(let number):
            return "change \(number) cannot be undone: its values were too many or too long for the history"
        case .ofLease(let number):
            return "change \(number) is a lease, which ends by itself; `tweak reset --leases` ends it now"
        case .ofKill(let number):
            return "change \(number) is a kill; end it with `tweak fleet unkill`"
        case .gone(let key): return "\(key): the tweak no longer exists; its library was unloaded"
        case .changedSince(let key, let value, let last):
            let who = last.map { ", by \($0.author) in change \($0.number)" } ?? ""
            return "\(key): it was changed to \(value.quoted) since\(who); undo that first"
        case .refused(let error): return "\(error)"
        case .unknownMark(let name, let known):
            let marks = known.isEmpty ? "there are none" : "known: \(known.joined(separator: ", "))"
            return "no mark \(TweakValue.string(name).quoted); \(marks)"
        case .invalidMark: return "the name of a mark has 1 to \(ChangeHistory.longestName) bytes"
        case .tooManyMarks: return "there are \(ChangeHistory.mostMarks) marks already; move one of them"
        case .store(let error): return "\(error)"
        }
    }
}

extension TweakStore {
    /// The maximum size in bytes of the history, from which clients show and undo changes; 0 turns it off.
    ///
    /// The default of 64 KB holds some 400 changes. For the shared store, the environment variable
    /// `TWEAKS_HISTORY` sets the initial size.
    ///
    /// The oldest changes are dropped. Nothing is allocated before the first change.
    public var historySize: Int {
        get { state.withLock { $0.history.limit } }
        set { state.withLock { $0.history.setLimit(newValue) } }
    }

    /// Reads the history's size from the environment.
    func readHistorySize() {
        guard let text = environment("TWEAKS_HISTORY") else { return }
        guard let size = Int(text), size >= 0 else {
            return diagnostics.warn(
                "TWEAKS_HISTORY=\(text): the size of the history is a number of bytes, or 0 for none")
        }
        historySize = size
    }

    /// Returns the last changes, oldest first.
    ///
    /// - Parameters:
    ///   - number: The number of the changes after which to begin.
    ///   - most: The maximum count of changes, which the last ones made together may exceed.
    func history(
        after number: UInt64, atMost most: Int
    ) throws(HistoryError) -> (
        changes: [ChangeHistory.Change], first: UInt64?, last: UInt64, marks: [ChangeHistory.Point]
    ) {
        let (isOn, result) = state.withLock { state in
            let history = state.history
            return (
                history.isOn,
                (
                    history.changes(after: number, atMost: most), history.firstNumber, history.lastNumber,
                    history.points.filter { $0.name != nil }
                )
            )
        }
        guard isOn else { throw .off }
        return result
    }

    /// Adds a mark to the history; see ``revert(to:by:)``.
    ///
    /// - Returns: The number of the last change before.
    func mark(_ name: String, by author: ChangeAuthor) throws(HistoryError) -> UInt64 {
        guard 1...ChangeHistory.longestName ~= name.utf8.count else { throw .invalidMark }
        return try state.withLock { (state) throws(HistoryError) in
            guard state.history.isOn else { throw .off }
            guard state.history.mark(name, by: author) else { throw .tooManyMarks }
            return state.history.lastNumber
        }
    }

    /// Undoes a change: restores the tweaks' values before it, if they still have those that it made.
    ///
    /// - Parameter number: The number of the changes to undo; `nil` for a person's newest ones that are not
    ///   undone. Undoing an undo makes the changes again.
    /// - Returns: The number of the changes undone, or the first and the last of a burst, and the tweaks.
    func undo(
        _ number: UInt64?, by author: ChangeAuthor
    ) throws(HistoryError) -> (numbers: ClosedRange<UInt64>, tweaks: [RestoredTweak]) {
        var numbers: ClosedRange<UInt64> = 0...0
        let tweaks = try restore(by: author) { (state) throws(HistoryError) in
            let history = state.history
            guard history.isOn else { throw .off }
            let number = number ?? history.newestToUndo
            guard number != 0 else { throw .nothing }
            let burst = history.burst(of: number)
            guard let first = burst.first, let last = burst.last else {
                throw .unknown(number, kept: history.firstNumber.map { $0...history.lastNumber })
            }
            numbers = first[0].number...last[0].number
            guard number != history.incomplete else { throw .incomplete(number) }
            guard !first[0].isOfLease else { throw .ofLease(number) }
            guard !first[0].isOfKill else { throw .ofKill(number) }
            var restoration = Restoration()
            restoration.undoes = number
            let isOfProvider = if case .provider = last[0].author { true } else { false }
            for (old, new) in zip(
                first.sorted { $0.tweak.key < $1.tweak.key }, last.sorted { $0.tweak.key < $1.tweak.key })
            {
                let key = new.tweak.key
                guard let entry = state.tweaks[key] else { throw .gone(key) }
                let value = state.valueBelowKills(of: entry)
                guard value == new.newValue || new.isCut else {
                    let later = history.changes(after: new.number).last {
                        $0.tweak.key == key && !$0.isOfLease && !$0.isOfKill
                    }
                    throw .changedSince(key, value, by: later.map { ($0.author, $0.number) })
                }
                guard !old.isCut, !new.isCut else { throw .incomplete(number) }
                let oldValue: TweakValue
                do throws(TweakValueError) {
                    oldValue = try entry.admit { (tweak, _) throws(TweakValueError) in
                        try tweak.admit(old.oldValue)
                    }.value
                } catch {
                    throw .refused(error)
                }
                switch old.oldSource {
                case .session: restoration.add(key, override: old.hidden?.value, session: oldValue)
                // The provider would set its value again, so the old one becomes an override.
                case _ where isOfProvider && entry.source == new.newSource:
                    restoration.add(key, override: oldValue)
                case state.layers.keeper: restoration.add(key, override: oldValue)
                default: restoration.add(key, override: nil)
                }
            }
            return restoration
        }
        return (numbers, tweaks)
    }

    /// Removes or restores all values set since the start or a mark, as one change.
    ///
    /// - Parameter mark: The name of the mark; `nil` for the start.
    func revert(to mark: String?, by author: ChangeAuthor) throws(HistoryError) -> [RestoredTweak] {
        try restore(by: author) { (state) throws(HistoryError) in
            guard state.history.isOn else { throw .off }
            guard let held = state.history.held(at: mark) else {
                throw .unknownMark(mark ?? "", known: state.history.points.compactMap { $0.name })
            }
            var restoration = Restoration()
            let keeper = state.layers.keeper
            for (key, held) in held.sorted(by: { $0.key < $1.key }) {
                guard
                    state.layers[keeper][key] != held.override || state.layers[.session][key] != held.session
                else { continue }
                let entry = state.tweaks[key]
                restoration.add(
                    key, override: held.override.flatMap { entry.admitted($0) },
                    session: held.session.flatMap { entry.admitted($0) })
            }
            return restoration
        }
    }

    /// A tweak that was given a former value.
    struct RestoredTweak: Sendable {
        let key: TweakKey
        let oldValue, newValue: TweakValue
    }

    /// The values to restore.
    private struct Restoration {
        /// The values for the provider that keeps overrides; `nil` for none.
        var overrides: [(key: TweakKey, value: TweakValue?)] = []
        /// The values for the session, in which other tweaks have none afterwards.
        var session: [TweakKey: TweakValue] = [:]
        var undoes: UInt64 = 0

        mutating func add(_ key: TweakKey, override: TweakValue?, session value: TweakValue? = nil) {
            overrides.append((key, override))
            session[key] = value
        }
    }

    private func restore(
        by author: ChangeAuthor, _ restoration: (StoreState) throws(HistoryError) -> Restoration
    ) throws(HistoryError) -> [RestoredTweak] {
        var chosen = Restoration()
        var before: [TweakKey: TweakValue] = [:]
        var isForProvider = false
        try apply { (state) throws(HistoryError) in
            state.decode()
            chosen = try restoration(state)
            before = chosen.overrides.reduce(into: [:]) { result, step in
                result[step.key] = state.tweaks[step.key].map(state.valueBelowKills)
            }
            let keeper = state.layers.keeper
            isForProvider = !state.layers.keepsItself(keeper)
            guard !isForProvider, !chosen.overrides.isEmpty else { return nil }
            // One update for both, because a change of the override alone may change no value and is then not recorded.
            let update = ValueUpdate(chosen.overrides, in: keeper, by: author)
            (update.session, update.undoes) = (chosen.session, chosen.undoes)
            do throws(TweakError) { try state.checkGates(update) } catch { throw .store(error) }
            return update
        }
        if isForProvider {
            do throws(TweakError) { try change(chosen.overrides, by: author) } catch { throw .store(error) }
            let update = ValueUpdate(
                chosen.overrides.map { ($0.key, chosen.session[$0.key]) }, in: .session, by: author)
            update.undoes = chosen.undoes
            apply { _ in update }
        }
        return withDecodedState { state in
            chosen.overrides.compactMap { key, _ in
                guard let oldValue = before[key],
                    let newValue = state.tweaks[key].map(state.valueBelowKills),
                    oldValue != newValue
                else { return nil }
                return RestoredTweak(key: key, oldValue: oldValue, newValue: newValue)
            }
        }
    }
}

extension TweakEntry? {
    /// Returns a provider's value as the tweak accepts it; `nil` if the tweak refuses it. Any value is
    /// accepted for a tweak that does not exist.
    fileprivate func admitted(_ provided: ProvidedValue) -> TweakValue? {
        guard let self else { if case .value(let value) = provided { return value } else { return nil } }
        return try? self.admit { (tweak, _) throws(TweakValueError) in try provided.admission(for: tweak) }
            .value
    }
}
