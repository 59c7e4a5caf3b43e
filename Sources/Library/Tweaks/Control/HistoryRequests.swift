// SPDX-License-Identifier: BSD-3-Clause
internal import TweakJSON
internal import TweakProtocol
internal import TweakRecords

extension ListHistory: StoreMethod {
    func answer(_ requests: ControlRequests) throws(ControlError) -> Answer {
        guard since ?? 0 >= 0, limit ?? 1 > 0 else {
            throw ControlError(
                .invalidParameters, "history takes a \"since\" of at least 0, and a \"limit\" above 0")
        }
        do throws(HistoryError) {
            let (changes, first, last, marks) = try requests.store.history(
                after: UInt64(since ?? 0), atMost: limit ?? .max)
            return Answer(
                changes: changes.map(Change.init),
                marks: marks.map {
                    Mark(
                        name: $0.name ?? "", number: Int(clamping: $0.number), by: "\($0.author)",
                        person: $0.author.person, time: seconds($0.time))
                }, first: first.map { Int(clamping: $0) }, last: Int(clamping: last))
        } catch {
            throw ControlError(.notUndone, "\(error)")
        }
    }
}

extension UndoChanges: StoreMethod {
    func answer(_ requests: ControlRequests) throws(ControlError) -> Answer {
        guard number ?? 1 > 0 else {
            throw ControlError(.invalidParameters, "undo takes a \"number\" above 0")
        }
        do throws(HistoryError) {
            let (numbers, tweaks) = try requests.store.undo(number.map { UInt64($0) }, by: requests.author)
            return Answer(
                first: Int(clamping: numbers.lowerBound), last: Int(clamping: numbers.upperBound),
                changes: tweaks.map(RestoredValue.init),
                ineffective: requests.ineffective(tweaks.map { $0.key }))
        } catch {
            throw ControlError(.notUndone, "\(error)")
        }
    }
}

extension RevertChanges: StoreMethod {
    func answer(_ requests: ControlRequests) throws(ControlError) -> Answer {
        do throws(HistoryError) {
            let tweaks = try requests.store.revert(to: mark, by: requests.author)
            return Answer(
                changes: tweaks.map(RestoredValue.init),
                ineffective: requests.ineffective(tweaks.map { $0.key }))
        } catch {
            throw ControlError(.notUndone, "\(error)")
        }
    }
}

extension MarkHistory: StoreMethod {
    func answer(_ requests: ControlRequests) throws(ControlError) -> Answer {
        do throws(HistoryError) {
            return Answer(number: Int(clamping: try requests.store.mark(name, by: requests.author)))
        } catch {
            throw ControlError(.notUndone, "\(error)")
        }
    }
}

extension ListHistory.Change {
    fileprivate init(_ change: ChangeHistory.Change) {
        self.init(
            number: Int(clamping: change.number), tweak: change.tweak.key,
            oldValue: JSONValue(change.oldValue), newValue: JSONValue(change.newValue),
            source: change.newSource.name, by: "\(change.author)", time: seconds(change.time),
            monotonicTime: seconds(change.monotonicTime))
        person = change.author.person
        undoes = change.undoes == 0 ? nil : Int(clamping: change.undoes)
        isPending = change.isPending ? true : nil
        isOfLease = change.isOfLease ? true : nil
        endsLease = change.endsLease ? true : nil
        isShortened = change.isCut ? true : nil
        ramp = change.rampTime == 0 ? nil : Double(change.rampTime) / 1000
    }
}

extension RestoredValue {
    fileprivate init(_ tweak: TweakStore.RestoredTweak) {
        self.init(
            tweak: tweak.key, oldValue: JSONValue(tweak.oldValue), newValue: JSONValue(tweak.newValue))
    }
}

private func seconds(_ nanoseconds: Int64) -> Double { Double(nanoseconds) / 1e9 }
