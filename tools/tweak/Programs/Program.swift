import Glibc
import TweakProtocol
import CommandSupport
import Tweaks

/// A program whose tweaks are shown and changed, whether it runs or not.
protocol Program: AnyObject {
    /// `nil` if it does not run.
    var pid: pid_t? { get }
    /// What tells it from other programs: `spring (123)`, or the path of the executable.
    var title: String { get }
    /// What its JSON form begins with.
    var description: ProgramDescription { get throws(Failure) }

    /// All tweaks, in the order of declaration.
    func tweaks() throws(Failure) -> [JSONTweak]
    /// One of them; `nil` if there is none of the name.
    func tweak(_ key: TweakKey) throws(Failure) -> JSONTweak?
    /// Sets a tweak.
    ///
    /// - Parameters:
    ///   - tweak: The tweak as the program had it.
    ///   - text: What a person typed.
    /// - Returns: The tweak as the program has it now.
    func set(_ tweak: JSONTweak, to text: String) throws(Failure) -> JSONTweak
    /// Takes overrides away, as one change.
    func reset(_ scope: TweakScope) throws(Failure)
    /// Sets several tweaks, as one change. What one of them cannot take is reported, and the others are set unless it is to
    /// be all or nothing.
    func apply(
        _ values: OverridesDocument, resettingOthers: Bool, allOrNothing: Bool
    ) throws(Failure) -> SetManyTweaks.Answer
    /// The values that were set, with those of tweaks that the program does not have as far as they are known.
    var overrides: OverridesDocument { get throws(Failure) }
    /// Who has which opinion about the value of a tweak that the program has.
    func explain(_ key: TweakKey) throws(Failure) -> ExplainTweak.Answer
}

/// The JSON form of a program: keys are a promise to scripts.
struct ProgramDescription: Encodable {
    /// The path of the executable; `nil` if only the application's name is known.
    let program: String?
    /// The last component of that path, by which overrides and presets are kept.
    let application: String
    /// The path of the overrides file; `nil` if values are not kept.
    let overrides: String?
    /// `nil` if the program does not run.
    let pid: Int32?
}

extension Program {
    /// The tweak that a person names, see ``TweakName``.
    func tweak(named text: String) throws(Failure) -> JSONTweak {
        let name = try TweakName(text)
        // One question is enough for most, and a program may have many tweaks.
        if let key = name.key, let tweak = try tweak(key) { return tweak }
        let tweaks = try tweaks()
        let key = try name.key(among: tweaks.map(\.declaration.key))
        guard let tweak = tweaks.first(where: { $0.declaration.key == key }) else { throw gone(key) }
        return tweak
    }

    /// A tweak that was there a moment ago.
    func tweakAgain(_ key: TweakKey) throws(Failure) -> JSONTweak {
        guard let tweak = try tweak(key) else { throw gone(key) }
        return tweak
    }

    /// The values as a preset has them.
    ///
    /// - Parameter includingDefaults: Whether values that nobody has set are in it too.
    func values(includingDefaults: Bool) throws(Failure) -> OverridesDocument {
        var values = OverridesDocument()
        for tweak in try tweaks() where tweak.declaration.type != .action && !tweak.declaration.isReadOnly {
            if includingDefaults || tweak.nextValue != tweak.declaration.defaultValue {
                values.set(tweak.nextValue, for: tweak.declaration.key)
            }
        }
        return values
    }

    private func gone(_ key: TweakKey) -> Failure {
        Failure("\(key): the tweak is gone; its library has been closed", EX_UNAVAILABLE)
    }
}

extension JSONTweak {
    /// The value with which the program starts the next time.
    var nextValue: TweakValue? { pendingValue ?? value }
}
