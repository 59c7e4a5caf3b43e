// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

/// Values that belong together, declared once and used under several names.
///
///     @TweakGroup struct Margins {
///         @TweakField(in: 0...100) var left = 8.0
///         @TweakField(in: 0...100) var right = 8.0
///     }
///     let margins = try store.make(group: Margins(), "UI", "Page", "Text")
///     page.margins = margins.value
///
/// This makes the tweaks `UI/Page/Text Left` and `UI/Page/Text Right`. ``TweakAnimation``, ``TweakSpring``,
/// ``TweakShadow`` and ``TweakEdgeInsets`` are such groups, and the macro `@Tweakable` declares their tweaks
/// in the binary.
///
/// Without the macro `@TweakGroup`, declare ``fields``. A property that is missing there keeps its value,
/// without a report; with the macro that is an error.
public protocol TweakGroup: Sendable, Equatable {
    /// The tweaks of the group, in display order.
    static var fields: [TweakField<Self>] { get }
}

/// A field of a group: its name, its property and its options.
public struct TweakField<Group: Sendable>: Sendable {
    /// The last part of the tweak's name.
    let name: String
    let property: any PartialKeyPath<Group> & Sendable
    /// Makes the field's tweak.
    let make: @Sendable (TweakStore, TweakKey, Group) throws(TweakError) -> BoundField<Group>
    /// Finds the field's tweak, which must have its type.
    let find: @Sendable (TweakStore, TweakKey) throws(TweakError) -> BoundField<Group>
    /// Binds the field to its tweak's record in the binary.
    let bind: @Sendable (UnsafeRawPointer, Group) -> BoundField<Group>

    /// Creates a field of any type.
    ///
    /// - Parameters:
    ///   - name: The last part of the tweak's name.
    ///   - property: The property of the group.
    ///   - unit: The unit of the numbers, such as `kg`.
    ///   - description: A description for people.
    public init<Value: TweakableValue>(
        _ name: String, _ property: any WritableKeyPath<Group, Value> & Sendable, unit: String? = nil,
        description: String? = nil
    ) {
        self.init(name, property) { (store, key, value) throws(TweakError) in
            try store.make(
                key.category, key.collection, key.name, default: value, unit: unit, description: description)
        }
    }

    /// Creates a numeric field with limits.
    ///
    /// - Parameters:
    ///   - name: The last part of the tweak's name.
    ///   - property: The property of the group.
    ///   - limits: The minimum and maximum. A default outside the limits widens them.
    ///   - step: The increment of a slider or stepper.
    ///   - unit: The unit of the numbers, such as `kg`.
    ///   - description: A description for people.
    public init<Value: TweakableValue & Comparable>(
        _ name: String, _ property: any WritableKeyPath<Group, Value> & Sendable,
        in limits: ClosedRange<Value>, step: Value? = nil, unit: String? = nil, description: String? = nil
    ) {
        self.init(name, property) { (store, key, value) throws(TweakError) in
            try store.make(
                key.category, key.collection, key.name, default: value,
                in: min(limits.lowerBound, value)...max(limits.upperBound, value), step: step, unit: unit,
                description: description)
        }
    }

    /// Creates a field of a built-in group.
    init<Value: TweakableValue>(
        _ field: GroupField, _ property: any WritableKeyPath<Group, Value> & Sendable
    ) {
        self.init(field.name, property) { (store, key, value: Value) throws(TweakError) in
            try store.make(field.declaration(key, default: value.tweakValue))
            return try store.tweak(key.category, key.collection, key.name)
        }
    }

    @inline(__always)
    private init<Value: TweakableValue>(
        _ name: String, _ property: any WritableKeyPath<Group, Value> & Sendable,
        make: @escaping @Sendable (TweakStore, TweakKey, Value) throws(TweakError) -> Tweak<Value>
    ) {
        self.name = name
        self.property = property
        self.make = { (store, key, group) throws(TweakError) in
            BoundField(property, try make(store, key, group[keyPath: property]))
        }
        find = { (store, key) throws(TweakError) in
            BoundField(property, try store.tweak(key.category, key.collection, key.name))
        }
        bind = { record, group in
            BoundField(property, Tweak(__record: record, default: group[keyPath: property]))
        }
    }
}

/// A field and its tweak.
struct BoundField<Group: Sendable>: Sendable {
    /// A `Tweak<Value>`.
    let tweak: any Sendable
    let key: TweakKey
    let property: any PartialKeyPath<Group> & Sendable
    /// Reads the tweak.
    let read: @Sendable (inout Group) -> Void
    /// Stores a tweak's value in the group.
    let take: @Sendable (TweakValue, inout Group) -> Void
    /// Sets the tweak in a batch.
    let write: @Sendable (Group, inout TweakBatch) throws(TweakError) -> Void

    @inline(__always)
    init<Value: TweakableValue>(
        _ property: any WritableKeyPath<Group, Value> & Sendable, _ tweak: Tweak<Value>
    ) {
        self.tweak = tweak
        self.property = property
        key = tweak.key
        if let offset = MemoryLayout<Group>.offset(of: property) {
            // For stored properties, access through the key path is not needed.
            read = { group in
                withUnsafeMutableBytes(of: &group) { bytes in
                    let address = bytes.baseAddress.map { $0 + offset }
                    address?.assumingMemoryBound(to: Value.self).pointee = tweak.value
                }
            }
        } else {
            read = { $0[keyPath: property] = tweak.value }
        }
        take = { value, group in
            if let value = Value(tweakValue: value) { group[keyPath: property] = value }
        }
        write = { (group, batch) throws(TweakError) in try batch.set(group[keyPath: property], for: tweak) }
    }
}
