import TestSupport
import Testing

/// What the tests see that people install, and in the state in which people have it: overrides are there when the
/// program starts, and it lives on.
///
/// One after the other: the kernel lets a user watch files with 128 processes.
@Suite(.serialized, .enabled(if: sanitizer == nil)) struct `Starting programs with the installed library` {
    /// How many starts have each scenario once.
    private static let few = 12

    private func expectAllRight(
        _ ways: [Started.Way], _ state: Started.State, count: Int, settings: [String] = [],
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let failures = try Started.failures(ways, state, count: count, settings: settings)
        #expect(failures.isEmpty, "\(failures)", sourceLocation: location)
    }

    @Test(arguments: Started.State.allCases)
    func `However they get the library, they have their values, are changed and live on`(
        state: Started.State
    ) throws {
        try expectAllRight(
            Started.Way.kinds, state,
            count: state.hasOverrides ? (isLong ? 10_000 : 120) : (isLong ? 1000 : Self.few))
    }

    @Test(arguments: Started.State.allCases)
    func `Whatever linker puts the Swift library into them, they have their values and live on`(
        state: Started.State
    ) throws {
        try expectAllRight(Started.Way.otherLinkers, state, count: isLong ? 1000 : Self.few)
    }

    @Test(arguments: Started.State.allCases)
    func `What their constructors do before the library is ready has the effect that they are told`(
        state: Started.State
    ) throws {
        try expectAllRight(Started.Way.early, state, count: isLong ? 1000 : Self.few)
    }

    @Test(arguments: Started.State.allCases)
    func `Nothing that is hashed before main is looked for later`(state: Started.State) throws {
        try expectAllRight(
            [.packageWithSharedRuntime], state, count: isLong ? 1000 : 2 * Self.few,
            settings: ["STARTED_WITH_OTHER_SEEDS=1"])
    }

    @Test(.enabled(if: isLong), arguments: Started.Sanitizing.allCases, Started.State.allCases)
    func `Sanitizers find nothing in what they do`(sanitizing: Started.Sanitizing, state: Started.State)
        throws
    {
        let (forking, others) = (
            ["forks"],
            [
                "lives", "set", "reset", "unwatched", "watched", "edited", "makes", "presets",
                "set-by-command", "ends",
            ]
        )
        for scenarios in [forking, others] {
            var settings = [Started.threadSanitizerOptions]
            // What the threads held that a child does not have is lost in it.
            if scenarios == forking { settings.append("ASAN_OPTIONS=detect_leaks=0") }
            let failures = try Started.failures(
                sanitizing.ways, state, count: scenarios.count * 10, atOnce: 32, scenarios: scenarios,
                settings: settings, options: sanitizing == .threadInC ? ["-f"] : [], sanitizing: sanitizing)
            #expect(failures.isEmpty, "\(failures)")
        }
    }

    @Test func `In a long life what they use of memory, threads and descriptors does not grow`() throws {
        let failures = try Started.failures(
            [.linked, .preloaded, .plugIn, .staticRuntime], .overrides, count: 1, scenarios: ["soaks"],
            settings: [
                "STARTED_LIBRARY=\(Started.otherLibrary)", "STARTED_SECONDS=\(isLong ? 300 : 3)",
            ], options: ["-t", "900"])
        #expect(failures.isEmpty, "\(failures)")
    }
}
