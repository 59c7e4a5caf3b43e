// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
public import TweakRecords

/// The tweaks of a group under one name.
///
/// Each property of the group is the handle of a tweak: `try bounce.stiffness.set(240)`.
@dynamicMemberLookup
public struct GroupedTweaks<Group: TweakGroup>: Sendable {
    private let defaultValue: Group
    private let fields: [BoundField<Group>]
    private let store: TweakStore

    init(_ fields: [BoundField<Group>], default defaultValue: Group, in store: TweakStore) {
        self.defaultValue = defaultValue
        self.fields = fields
        self.store = store
    }

    /// Creates the tweaks from records in the binary. For macro expansions only.
    ///
    /// - Parameters:
    ///   - records: The records of the group's fields, in their order, valid as long as the tweaks are used.
    ///   - defaultValue: The defaults in the records.
    public init(__records records: [UnsafeRawPointer], default defaultValue: Group) {
        self.init(
            zip(Group.fields, records).map { $0.bind($1, defaultValue) }, default: defaultValue,
            in: .ofProcess)
    }

    /// Creates constant tweaks. For macro expansions only, where tweaks are disabled.
    public init(__constant defaultValue: Group) {
        self.init([], default: defaultValue, in: .ofProcess)
    }

    /// The current values of all tweaks in the group.
    ///
    /// Each tweak is read with one load, so if a batch ends during the read, old and new values can be mixed.
    /// ``taken`` and observers get values that belong together.
    public var value: Group {
        var group = defaultValue
        for field in fields { field.read(&group) }
        return group
    }

    /// A copy of the values that belong together, made on any thread without locking or waiting.
    ///
    ///     if let gains = Motor.$gains.taken { controller.gains = gains }
    ///
    /// The copy has the values that one change left and no part of another, however the library changes the
    /// tweaks. It is `nil` if values were being stored during each of three attempts: keep the previous copy
    /// then. Values that a gate stores on another thread may be mixed: read a gate's tweaks on the thread
    /// that passes it.
    public var taken: Group? {
        for _ in 0..<3 {
            let before = fbtweak__begin_taking()
            let group = value
            if fbtweak__has_taken(before) { return group }
        }
        return nil
    }

    /// The names of the tweaks.
    public var keys: [TweakKey] { fields.map(\.key) }

    /// The tweak of a property; a constant if the property is not a field.
    public subscript<Value: TweakableValue>(
        dynamicMember property: WritableKeyPath<Group, Value>
    ) -> Tweak<Value> {
        fields.first { $0.property as PartialKeyPath<Group> == property }?.tweak as? Tweak<Value>
            ?? Tweak(__constant: defaultValue[keyPath: property])
    }

    /// Sets all tweaks of the group, as one change.
    ///
    /// - Throws: ``TweakError`` if a tweak refuses its value; then none is set.
    public func set(_ value: Group) throws(TweakError) {
        try store.batch { (batch) throws(TweakError) in
            for field in fields { try field.write(value, &batch) }
        }
    }

    /// Resets all tweaks of the group, as one change.
    ///
    /// - Throws: ``TweakError`` if a tweak no longer exists.
    public func reset() throws(TweakError) {
        try store.batch { (batch) throws(TweakError) in
            for key in keys { try batch.reset(key) }
        }
    }

    /// A change of a group's values.
    public struct Change: Sendable, Equatable {
        /// The old values.
        public let oldValue: Group
        /// The new values.
        public let newValue: Group
    }

    /// Calls a closure when a tweak of the group changes, on the thread that changes it. A batch is one call.
    ///
    /// - Parameters:
    ///   - initially: Whether to call first with the current values, before any change.
    ///   - body: Called with the change.
    /// - Returns: The observation, which ends when it is released.
    public func observe(
        initially: Bool = false, _ body: @escaping @Sendable (Change) -> Void
    ) -> TweakObservation {
        guard !fields.isEmpty else {
            if initially { body(Change(oldValue: defaultValue, newValue: defaultValue)) }
            return TweakObservation { _ in }
        }
        // The first call has the values that later changes are applied to.
        let last = Guarded((value: value, isFirst: true))
        return store.addObserver(of: keys, startingWith: { key in unknownValue(key) }) { _ in
            .together { changes in
                let (oldValue, newValue, isFirst) = last.withLock { last in
                    let before = last
                    for change in changes {
                        for field in fields where field.key == change.key {
                            field.take(change.newValue, &last.value)
                        }
                    }
                    last.isFirst = false
                    return (before.value, last.value, before.isFirst)
                }
                if !isFirst {
                    body(Change(oldValue: oldValue, newValue: newValue))
                } else if initially {
                    body(Change(oldValue: newValue, newValue: newValue))
                }
            }
        }
    }

    private func unknownValue(_ key: TweakKey) -> TweakValue {
        (try? store.value(of: key)) ?? .nothing
    }
}

extension TweakStore {
    /// Makes the tweaks of a group at run time.
    ///
    ///     let bounce = try store.make(group: TweakSpring(stiffness: 200), "UI", "Card", "Bounce")
    ///
    /// - Parameters:
    ///   - group: The defaults.
    ///   - category: The first level of the names.
    ///   - collection: The second level.
    ///   - name: The prefix of the names on the third level; a space and the name of the field follow.
    /// - Throws: ``TweakError/exists(_:)`` if a tweak exists already, ``TweakError/invalid(_:reason:)`` if a
    ///   default is not allowed; no tweak is made then.
    public func make<Group: TweakGroup>(
        group: Group, _ category: String, _ collection: String, _ name: String
    ) throws(TweakError) -> GroupedTweaks<Group> {
        var made: [BoundField<Group>] = []
        do throws(TweakError) {
            for field in Group.fields {
                made.append(try field.make(self, field.key(category, collection, name), group))
            }
        } catch {
            for field in made { try? remove(field.key) }
            throw error
        }
        return GroupedTweaks(made, default: group, in: self)
    }

    /// Finds the tweaks of a group, however they were declared.
    ///
    /// - Parameters:
    ///   - category: The first level of the names.
    ///   - collection: The second level.
    ///   - name: The prefix of the names on the third level.
    ///   - group: A group with the values of properties that are not fields.
    /// - Throws: ``TweakError`` if a tweak does not exist or has another type.
    public func tweaks<Group: TweakGroup>(
        of group: Group, _ category: String, _ collection: String, _ name: String
    ) throws(TweakError) -> GroupedTweaks<Group> {
        var found: [BoundField<Group>] = []
        for field in Group.fields {
            found.append(try field.find(self, field.key(category, collection, name)))
        }
        return GroupedTweaks(found, default: group, in: self)
    }

    /// Removes the tweaks of a group made at run time.
    ///
    /// - Throws: ``TweakError/notMade(_:)`` if a tweak was not made at run time.
    public func remove<Group: TweakGroup>(_ group: GroupedTweaks<Group>) throws(TweakError) {
        for key in group.keys { try remove(key) }
    }
}

extension TweakField {
    fileprivate func key(_ category: String, _ collection: String, _ name: String) -> TweakKey {
        TweakKey(category, collection, name.isEmpty ? self.name : "\(name) \(self.name)")
    }
}
