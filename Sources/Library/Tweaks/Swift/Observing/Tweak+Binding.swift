// SPDX-License-Identifier: BSD-3-Clause
extension Tweak {
    /// Keeps a property of an object equal to the tweak, as long as the object exists.
    ///
    ///     stiffness.bind(to: spring, \.stiffness)
    ///
    /// The property is set now, and on each thread that changes the tweak, as the object's Sendable
    /// conformance allows.
    ///
    /// - Parameters:
    ///   - object: The object, not retained.
    ///   - property: The property to set.
    /// - Returns: The observation, for ending it early. It need not be held.
    @discardableResult
    public func bind<Object: AnyObject & Sendable>(
        to object: Object, _ property: any ReferenceWritableKeyPath<Object, Value> & Sendable
    ) -> TweakObservation {
        observe(owner: object, initially: true) { $0[keyPath: property] = $1.newValue }
    }

    /// Keeps a property of an object equal to the tweak, as long as the object exists.
    ///
    /// For the Swift 5 language mode, in which key paths are not Sendable. The key path's subscript indices
    /// must be usable on every thread.
    ///
    /// - Parameters:
    ///   - object: The object, not retained.
    ///   - property: The property to set.
    /// - Returns: The observation, for ending it early. It need not be held.
    @available(swift, obsoleted: 6)
    @discardableResult
    public func bind<Object: AnyObject & Sendable>(
        to object: Object, _ property: ReferenceWritableKeyPath<Object, Value>
    ) -> TweakObservation {
        nonisolated(unsafe) let property = property
        return observe(owner: object, initially: true) { $0[keyPath: property] = $1.newValue }
    }

    /// Keeps a property of a main-actor object equal to the tweak, as long as the object exists.
    ///
    /// The property is set now, and on the main actor after each change.
    ///
    /// - Parameters:
    ///   - object: The object, not retained.
    ///   - property: The property to set.
    /// - Returns: The observation, for ending it early. It need not be held.
    @MainActor @discardableResult
    public func bind<Object: AnyObject>(
        to object: Object, _ property: ReferenceWritableKeyPath<Object, Value>
    ) -> TweakObservation {
        let bound = BoundProperty(object: object, property: property)
        // Begun before the value is read, so that no change is missed; the main actor is busy until it is set.
        let observation = observe(initially: false, isGone: { bound.isGone }, lastsWithoutHolder: true) {
            change, call in
            await MainActor.run { call { bound.set(change.newValue) } }
        }
        object[keyPath: property] = value
        return observation
    }
}

/// `@unchecked Sendable`: the key path is constant and used only on the main actor, like the object; `isGone`
/// may be read everywhere.
private final class BoundProperty<Object: AnyObject, Value>: @unchecked Sendable {
    private weak let object: Object?
    private let property: ReferenceWritableKeyPath<Object, Value>

    init(object: Object, property: ReferenceWritableKeyPath<Object, Value>) {
        self.object = object
        self.property = property
    }

    var isGone: Bool { object == nil }

    @MainActor
    func set(_ value: Value) { object?[keyPath: property] = value }
}
