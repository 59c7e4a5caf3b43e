// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

/// What the tests see that people install, and in the state in which people have it: overrides are there when the
/// program starts, and it lives on.
///
/// One after the other: the kernel lets a user watch files with 128 processes, also those of other tests.
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
    func `However the library is loaded, they have their values, can be changed and survive`(
        state: Started.State
    ) throws {
        try expectAllRight(
            Started.Way.kinds, state,
            count: state.hasOverrides ? (isLong ? 10_000 : 120) : (isLong ? 1000 : Self.few))
    }

    @Test(arguments: Started.State.allCases)
    func `Whichever linker adds the Swift library, they have their values and survive`(
        state: Started.State
    ) throws {
        try expectAllRight(Started.Way.otherLinkers, state, count: isLong ? 1000 : Self.few)
    }

    @Test(arguments: Started.State.allCases)
    func `Calls from constructors before the library is ready have the documented effect`(
        state: Started.State
    ) throws {
        try expectAllRight(Started.Way.early, state, count: isLong ? 1000 : Self.few)
    }

    @Test(arguments: Started.State.allCases)
    func `Nothing hashed before main is looked up later`(state: Started.State) throws {
        try expectAllRight(
            [.packageWithSharedRuntime], state, count: isLong ? 1000 : 2 * Self.few,
            settings: ["STARTED_WITH_OTHER_SEEDS=1"])
    }

    @Test(.enabled(if: isLong), arguments: Started.Sanitizing.allCases, Started.State.allCases)
    func `Sanitizers find nothing in them`(sanitizing: Started.Sanitizing, state: Started.State)
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

    @Test func `Their memory, threads and descriptors do not grow over time`() throws {
        let failures = try Started.failures(
            [.linked, .preloaded, .plugIn, .staticRuntime], .overrides, count: 1, scenarios: ["soaks"],
            settings: [
                "STARTED_LIBRARY=\(Started.otherLibrary)", "STARTED_SECONDS=\(isLong ? 300 : 3)",
            ], options: ["-t", "900"])
        #expect(failures.isEmpty, "\(failures)")
    }
}
