// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

/// A change of the value of one tweak.
public struct TweakChange: Hashable, Sendable {
    /// The tweak's name.
    public let key: TweakKey
    /// The old value; ``TweakValue/nothing`` if the tweak did not exist.
    public let oldValue: TweakValue
    /// The new value; ``TweakValue/nothing`` if the tweak no longer exists, such as a feature that no provider
    /// has any more.
    public let newValue: TweakValue
    /// The provider of the new value.
    public let source: TweakSource

    /// Makes a change, for tests.
    public init(key: TweakKey, oldValue: TweakValue, newValue: TweakValue, source: TweakSource) {
        (self.key, self.oldValue, self.newValue, self.source) = (key, oldValue, newValue, source)
    }
}

/// A tweak with its current value.
public struct TweakStatus: Hashable, Sendable {
    /// The tweak's declaration.
    public let declaration: TweakDeclaration
    /// The current value.
    public let value: TweakValue
    /// The provider of the current value.
    public let source: TweakSource
    /// A new value that does not count yet: that of a tweak that needs a restart, after the next start of the program; that
    /// of a tweak below a gate, until the program's loop passes it.
    public let pendingValue: TweakValue?
    /// The name of the gate that changes of the tweak wait for.
    var gate: String?

    /// Makes a status, for tests.
    public init(
        declaration: TweakDeclaration, value: TweakValue, source: TweakSource,
        pendingValue: TweakValue? = nil
    ) {
        (self.declaration, self.value, self.source) = (declaration, value, source)
        self.pendingValue = pendingValue
    }
}

/// Tweaks of one category, by collection.
public struct TweakCategory: Hashable, Sendable {
    /// The category's name.
    public let name: String
    /// Its collections, sorted by name.
    public let collections: [TweakCollection]
}

/// Tweaks of one collection.
public struct TweakCollection: Hashable, Sendable {
    /// The collection's name.
    public let name: String
    /// Its tweaks, in the order of declaration.
    public let tweaks: [TweakStatus]
}
