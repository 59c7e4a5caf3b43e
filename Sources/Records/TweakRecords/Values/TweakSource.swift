/// Where values come from, as ``TweakStatus`` and ``TweakChange`` name it. No two providers of a store have the same.
public struct TweakSource: Hashable, Sendable {
    /// The name, as commands print it.
    public let name: String

    /// Names a source.
    public init(_ name: String) { self.name = name }

    /// What a person set for as long as the process lives.
    public static let session = TweakSource("session")
    /// The environment that the process was started with, see ``EnvironmentVariables``.
    public static let environment = TweakSource("environment")
    /// What a person set, and what is kept in the overrides file.
    public static let overrides = TweakSource("override")
    /// What a web server has for this host, which an agent fetches.
    public static let remote = TweakSource("remote")
    /// What a fleet of hosts has in common, which an agent fetches.
    public static let fleet = TweakSource("fleet")
    /// The constant in the binary.
    public static let binary = TweakSource("default")
    /// A value for the length of a closure, see ``TweakStore/withValues(_:_:)-([TweakKey:TweakValue],_)``.
    public static let scope = TweakSource("scope")
}

extension TweakSource: CustomStringConvertible {
    /// The name.
    public var description: String { name }
}
