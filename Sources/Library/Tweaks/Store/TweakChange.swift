// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

/// A change of the value of one tweak.
public struct TweakChange: Hashable, Sendable {
    /// The tweak's name.
    public let key: TweakKey
    /// The old value; ``TweakValue/nothing`` if the tweak did not exist.
    public let oldValue: TweakValue
    /// The new value; ``TweakValue/nothing`` if the tweak no longer exists, such as a feature that its last
    /// provider has dropped.
    public let newValue: TweakValue
    /// The provider of the new value.
    public let source: TweakSource

    /// Creates a change, for tests.
    public init(key: TweakKey, oldValue: TweakValue, newValue: TweakValue, source: TweakSource) {
        (self.key, self.oldValue, self.newValue, self.source) = (key, oldValue, newValue, source)
    }
}

/// A tweak's declaration, current value and source.
public struct TweakStatus: Hashable, Sendable {
    /// The tweak's declaration.
    public let declaration: TweakDeclaration
    /// The current value.
    public let value: TweakValue
    /// The provider of the current value.
    public let source: TweakSource
    /// A new value that has not taken effect: a tweak that needs a restart takes it at the program's next
    /// start, a tweak of a gate when the program's loop passes that. `nil` if there is none.
    public let pendingValue: TweakValue?
    /// The name of the gate that changes of the tweak wait for; `nil` without one.
    var gate: String?

    /// Creates a status, for tests.
    public init(
        declaration: TweakDeclaration, value: TweakValue, source: TweakSource,
        pendingValue: TweakValue? = nil
    ) {
        (self.declaration, self.value, self.source) = (declaration, value, source)
        self.pendingValue = pendingValue
    }
}

/// The tweaks of one category, by collection.
public struct TweakCategory: Hashable, Sendable {
    /// The category's name.
    public let name: String
    /// The category's collections, sorted by name.
    public let collections: [TweakCollection]
}

/// The tweaks of one collection.
public struct TweakCollection: Hashable, Sendable {
    /// The collection's name.
    public let name: String
    /// The collection's tweaks, in the order of declaration.
    public let tweaks: [TweakStatus]
}
