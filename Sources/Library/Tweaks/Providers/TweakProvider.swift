public import TweakRecords

/// A source of values for tweaks.
///
/// The store asks a provider when it is added, and again for what the provider reports as changed; reading a tweak asks
/// nobody. Every method is called without any lock of the store held, on the thread that adds the provider or reports, by one
/// thread at a time, so it may be slow and may call the store. It can be in one store. Test a provider with
/// `ProviderConformance` from the library `TweaksProviderTesting`.
public protocol TweakProvider: AnyObject, Sendable {
    /// What its values are labelled with. No other provider of the store has the same.
    var source: TweakSource { get }

    /// The names of all tweaks that it has values for.
    ///
    /// - Throws: What is reported; the store keeps the values that it has.
    var keys: Set<TweakKey> { get throws }

    /// Whether ``keys`` has every name that it answers for. One that cannot list its names is asked for all tweaks that are
    /// declared, also for those that come later, and for features and their variables when the program first asks for them.
    var listsAllKeys: Bool { get }

    /// What it says about a tweak; `nil` if the next provider is to be asked.
    ///
    /// - Throws: What is reported; the store keeps the value that it has.
    func value(for key: TweakKey) throws -> ProvidedValue?

    /// What it knows of a tweak that no binary needs to declare, so that the tweak is there like all others; `nil` if only
    /// declared tweaks are meant, and features: these are there with no more than a value. A declaration in a binary counts more.
    func declaration(of key: TweakKey) -> TweakDeclaration?

    /// Takes what is called when values have changed. The store calls this once, before it asks for anything, and with
    /// `nil` when the provider is removed.
    func onChange(_ report: (@Sendable (TweakProviderChange) -> Void)?)
}

extension TweakProvider {
    /// `true`.
    public var listsAllKeys: Bool { true }
    /// `nil`: values are for tweaks that are declared, and for features.
    public func declaration(of key: TweakKey) -> TweakDeclaration? { nil }
    /// Does nothing: the values stay as they are.
    public func onChange(_ report: (@Sendable (TweakProviderChange) -> Void)?) {}
}

/// A provider that keeps what a person sets.
public protocol MutableTweakProvider: TweakProvider {
    /// Keeps a value, or forgets it with `nil`, and reports the change.
    ///
    /// - Throws: Why it cannot.
    func set(_ value: TweakValue?, for key: TweakKey) throws
}

/// What a provider says has changed.
public enum TweakProviderChange: Sendable {
    /// Some tweaks, also those that have come or gone.
    case tweaks([TweakKey])
    /// Perhaps everything.
    case everything
    /// Perhaps everything, since what it has was loaded anew. Observers of ``TweakStore/observeLoads(_:)`` are told.
    case loaded
    /// Nothing, since it could not be loaded, and why. They are told, once for each reason until something is loaded.
    case failed(String)
}

/// What came of an attempt to load the values of a provider, see ``TweakStore/observeLoads(_:)``.
public struct TweakLoad: Hashable, Sendable {
    /// Whose values they are.
    public let source: TweakSource
    /// Why they are what they were before; `nil` if they were loaded.
    public let problem: String?
}

/// What a provider says about one tweak.
public enum ProvidedValue: Hashable, Sendable {
    /// A value. An integer is also taken for a floating-point tweak, and a text for a colour.
    case value(TweakValue)
    /// A text that a person typed. ``TweakDeclaration/admit(text:current:)`` reads it by the tweak's type.
    case text(String)
    /// Something that no tweak can take, in words: `an array` for example.
    case unusable(String)
}

extension ProvidedValue {
    /// The form in which a tweak takes it.
    func admission(for tweak: TweakDeclaration) throws(TweakValueError) -> TweakDeclaration.Admission {
        switch self {
        case .value(let value): try tweak.admit(value)
        case .text(let text): try tweak.admit(text: text)
        case .unusable(let what): throw .wrongType(tweak, given: what)
        }
    }
}
