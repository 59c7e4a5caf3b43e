internal import TweakRecords

extension StoreState {
    /// What an overrides file that was read again changes in the process. Only the records of tweaks whose overrides
    /// differ are decoded.
    ///
    /// - Parameters:
    ///   - document: What the file holds.
    ///   - unwritten: The tweaks whose values are still to be written into it. They keep the ones they have, and so do
    ///     those that have been set since it was read.
    func changes(
        by document: OverridesDocument, except unwritten: Set<TweakKey>
    ) -> (overrides: OverridesDocument, tweaks: [TweakKey: Entry], changes: [TweakChange], messages: [String])
    {
        var document = document
        for key in unwritten.union(setWhileReloading ?? []) { document[key] = overrides[key] }
        var tweaks = entries(of: Set(document.keys + overrides.keys).filter { document[$0] != overrides[$0] })
        var changes: [TweakChange] = []
        var messages: [String] = []
        for (key, entry) in tweaks {
            var value = entry.declaration.defaultValue
            var source = TweakSource.binary
            do throws(TweakValueError) {
                if let admission = try document.admission(for: entry.declaration) {
                    (value, source) = (admission.value, .overrides)
                    if admission.wasClamped { messages.append(clampingMessage(entry.declaration, value)) }
                }
            } catch {
                // As with a set that is refused, the tweak keeps its value.
                messages.append("override ignored: \(error)")
                if let override = overrides[key] { document[key] = override }
                continue
            }
            if entry.declaration.needsRestart {
                tweaks[key]?.pendingValue = value == entry.value ? nil : value
                continue
            }
            if value != entry.value {
                changes.append(
                    TweakChange(key: key, oldValue: entry.value, newValue: value, source: source))
            }
            tweaks[key]?.value = value
            tweaks[key]?.source = source
        }
        return (document, tweaks, changes.sorted { $0.key < $1.key }, messages)
    }

    /// Takes over what ``changes(by:except:)`` finds now, and leaves the changes for observers.
    ///
    /// - Returns: Whether there are any.
    mutating func reload(_ document: OverridesDocument, except unwritten: Set<TweakKey>) -> Bool {
        var outcome = changes(by: document, except: unwritten)
        if outcome.tweaks.contains(where: { $0.value.declaration.needsRestart && entries[$0.key] == nil }) {
            // Decoded later, it would have the value of the new overrides.
            decode()
            outcome = changes(by: document, except: unwritten)
        }
        overrides = outcome.overrides
        messages += outcome.messages
        for (key, tweak) in outcome.tweaks {
            entries[key]?.value = tweak.value
            entries[key]?.source = tweak.source
            entries[key]?.pendingValue = tweak.pendingValue
        }
        for change in outcome.changes {
            for cell in outcome.tweaks[change.key]?.cells ?? [] { cell.cell.store(change.newValue) }
        }
        undelivered.append(contentsOf: outcome.changes)
        return !outcome.changes.isEmpty
    }

    private func entries(of keys: Set<TweakKey>) -> [TweakKey: Entry] {
        var found: [TweakKey: Entry] = [:]
        for key in keys { found[key] = entries[key] }
        let matcher = RecordMatcher(Array(keys))
        for image in undecoded {
            for records in image.records {
                matcher.forEachMatch(in: records) { range in
                    guard
                        let declaration = try? TweakDeclaration(
                            record: records.bytes, in: range, byteOrder: .native),
                        let cell = Cell(records, range, declaration.type)
                    else { return }
                    let key = declaration.key
                    if found[key] == nil {
                        let override = (try? overrides.admission(for: declaration))?.value
                        found[key] = Entry(
                            declaration: declaration, cells: [], value: override ?? declaration.defaultValue,
                            source: override == nil ? .binary : .overrides)
                    }
                    if found[key]?.declaration.type == declaration.type {
                        found[key]?.cells.append(OwnedCell(cell, .image(image.memory)))
                    }
                }
            }
        }
        return found
    }
}
