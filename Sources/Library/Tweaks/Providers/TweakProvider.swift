// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

/// A source of values for tweaks.
///
/// The store queries a provider when it is added, and again for the changes that it reports; reading a tweak
/// queries nothing. Methods are called on the thread that adds the provider or reports a change, by one
/// thread at a time, without any lock of the store held, so they may be slow and may call the store. A
/// provider can be in one store only. Test it with `ProviderConformance` from the library
/// `TweaksProviderTesting`.
public protocol TweakProvider: AnyObject, Sendable {
    /// The provider's name, unique in the store.
    var source: TweakSource { get }

    /// The names of all tweaks that the provider has values for.
    ///
    /// - Throws: An error to report; the store keeps the former values.
    var keys: Set<TweakKey> { get throws(ProviderFailure) }

    /// Whether ``keys`` lists every name. A provider that cannot list its names is queried for all declared
    /// tweaks, also later ones, and for features and their variables when the program first uses them.
    var listsAllKeys: Bool { get }

    /// Returns the provider's value for a tweak, or `nil` to leave the tweak to the next provider.
    ///
    /// - Throws: An error to report; the store keeps the former value.
    func value(for key: TweakKey) throws(ProviderFailure) -> ProvidedValue?

    /// Returns the declaration of a tweak that the provider introduces; `nil` if the provider has values only
    /// for declared tweaks and for features, which need no declaration. A declaration in a binary takes
    /// precedence.
    func declaration(of key: TweakKey) -> TweakDeclaration?

    /// Sets the handler to call after changes. The store calls this once before its first query, and with
    /// `nil` when the provider is removed.
    func onChange(_ report: (@Sendable (TweakProviderChange) -> Void)?)
}

extension TweakProvider {
    /// `true`: ``keys`` lists every name.
    public var listsAllKeys: Bool { true }
    /// `nil`: values are only for declared tweaks and features.
    public func declaration(of key: TweakKey) -> TweakDeclaration? { nil }
    /// Does nothing: the values never change.
    public func onChange(_ report: (@Sendable (TweakProviderChange) -> Void)?) {}
}

/// A provider that can keep the values that a person sets.
public protocol MutableTweakProvider: TweakProvider {
    /// Keeps a value, or removes it with `nil`, and reports the change.
    ///
    /// - Throws: An error if the value cannot be kept.
    func set(_ value: TweakValue?, for key: TweakKey) throws(ProviderFailure)
}

/// A change that a provider reports.
public enum TweakProviderChange: Sendable {
    /// Some tweaks changed, appeared or disappeared.
    case tweaks([TweakKey])
    /// Everything may have changed.
    case everything
    /// Everything may have changed, because the provider has loaded its values. Observers of
    /// ``TweakStore/observeLoads(_:)`` are notified.
    case loaded
    /// Nothing has changed, because loading failed for this reason. Observers of loads are notified once for
    /// each reason until a load succeeds.
    case failed(String)
}

/// The result of loading a provider's values, see ``TweakStore/observeLoads(_:)``.
public struct TweakLoad: Hashable, Sendable {
    /// The provider.
    public let source: TweakSource
    /// The reason if loading failed and the former values stay; `nil` after success.
    public let problem: String?
}

/// A provider's value for one tweak.
public enum ProvidedValue: Hashable, Sendable {
    /// A value. A floating-point tweak also accepts an integer, and a colour tweak a string.
    case value(TweakValue)
    /// Text as a person types it. ``TweakDeclaration/admit(text:current:)`` parses it by the tweak's type.
    case text(String)
    /// A value that no tweak accepts, described in words, such as `an array`.
    case unusable(String)
}

extension ProvidedValue {
    /// Returns the value as the tweak would accept it.
    ///
    /// - Parameters:
    ///   - type: The only type that the tweak may have.
    ///   - current: The value that a text calculates with.
    func admission(
        for tweak: TweakDeclaration, of type: TweakType? = nil, current: TweakValue? = nil
    ) throws(TweakValueError) -> TweakDeclaration.Admission {
        switch self {
        case .value(let value):
            if let type, type != tweak.type { throw .wrongType(tweak, given: value.quoted) }
            return try tweak.admit(value)
        case .text(let text): return try tweak.admit(text: text, current: current)
        case .unusable(let what): throw .wrongType(tweak, given: what)
        }
    }
}
