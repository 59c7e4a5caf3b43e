// SPDX-License-Identifier: BSD-3-Clause
/// The provider of a value, as named in ``TweakStatus`` and ``TweakChange``. Each provider in a store has a
/// source of its own.
public struct TweakSource: Hashable, Sendable {
    /// The name, as printed by commands.
    public let name: String

    /// Creates a source with a name.
    public init(_ name: String) { self.name = name }

    /// Values that are set until the process exits.
    public static let session = TweakSource("session")
    /// Values of clients that end at a time or with a connection; see <doc:ControlProtocol>.
    public static let lease = TweakSource("lease")
    /// Features that `tweak fleet kill` has switched off on all hosts; see <doc:RemoteValues>.
    public static let kill = TweakSource("kill")
    /// The environment at the start of the process; see ``EnvironmentVariables``.
    public static let environment = TweakSource("environment")
    /// Values that a person set, kept in the overrides file.
    public static let overrides = TweakSource("override")
    /// Values for this host from a web server, fetched by an agent.
    public static let remote = TweakSource("remote")
    /// Values for a fleet of hosts, fetched by an agent.
    public static let fleet = TweakSource("fleet")
    /// The constant in the binary.
    public static let binary = TweakSource("default")
    /// A value that was stored in the memory of a process without the library.
    package static let memory = TweakSource("memory")
    /// A value that was stored in a variable by the program itself, or by something unknown.
    package static let program = TweakSource("program")
    /// A value that applies while a closure runs; see
    /// ``TweakStore/withValues(_:_:)-([TweakKey:TweakValue],_)``.
    public static let scope = TweakSource("scope")

    /// Whether agents provide the values, for tweaks that the program may not have.
    package var isOfAgents: Bool { self == .kill || self == .remote || self == .fleet }
}

extension TweakSource: CustomStringConvertible {
    /// The name of the source.
    public var description: String { name }
}
