import TestSupport
import Testing

/// What the tests see that people install, and in the state in which people have it: overrides are there when the
/// program starts, and it lives on.
///
/// One after the other: the kernel lets a user watch files with 128 processes.
@Suite(.serialized, .enabled(if: sanitizer == nil && isLong))
struct `Programs that start with what is installed` {
    private func expectAllRight(
        _ way: Started.Way, _ state: Started.State, count: Int, settings: [String] = [],
        _ location: SourceLocation = #_sourceLocation
    ) throws {
        let failure = try Started.failure(way, state, count: count, settings: settings)
        #expect(failure == nil, "\(failure ?? "")", sourceLocation: location)
    }

    @Test(arguments: Started.Way.kinds, Started.State.allCases)
    func `However they get the library, they have their values, are changed and live on`(
        way: Started.Way, state: Started.State
    ) throws {
        try expectAllRight(
            way, state, count: state.hasOverrides ? (isLong ? 10_000 : 200) : (isLong ? 1000 : 21))
    }

    @Test(arguments: Started.Way.otherLinkers, Started.State.allCases)
    func `Whatever linker puts the Swift library into them, they have their values and live on`(
        way: Started.Way, state: Started.State
    ) throws {
        try expectAllRight(way, state, count: isLong ? (state.hasOverrides ? 10_000 : 1000) : 21)
    }

    @Test(arguments: Started.Way.early, Started.State.allCases)
    func `What their constructors do before the library is ready has the effect that they are told`(
        way: Started.Way, state: Started.State
    ) throws {
        try expectAllRight(way, state, count: isLong ? 1000 : 21)
    }

    @Test(arguments: Started.State.allCases)
    func `Nothing that is hashed before main is looked for later`(state: Started.State) throws {
        try expectAllRight(
            .packageWithSharedRuntime, state, count: isLong ? 1000 : 24,
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
        for way in sanitizing.ways {
            for scenarios in [forking, others] {
                var settings = [Started.threadSanitizerOptions]
                // What the threads held that a child does not have is lost in it.
                if scenarios == forking { settings.append("ASAN_OPTIONS=detect_leaks=0") }
                let failure = try Started.failure(
                    way, state, count: scenarios.count * 20, atOnce: 20, scenarios: scenarios,
                    settings: settings,
                    options: sanitizing == .threadInC ? ["-f"] : [], sanitizing: sanitizing)
                #expect(failure == nil, "\(way): \(failure ?? "")")
            }
        }
    }

    @Test(arguments: [Started.Way.linked, .preloaded, .plugIn, .staticRuntime])
    func `In a long life what they use of memory, threads and descriptors does not grow`(
        way: Started.Way
    ) throws {
        let failure = try Started.failure(
            way, .overrides, count: 1, scenarios: ["soaks"],
            settings: [
                "STARTED_LIBRARY=\(Started.otherLibrary)", "STARTED_SECONDS=\(isLong ? 300 : 3)",
            ], options: ["-t", "900"])
        #expect(failure == nil, "\(failure ?? "")")
    }
}

/// A slice of the above that takes seconds, in the two ways in which C programs get the library.
@Suite(.serialized, .enabled(if: sanitizer == nil)) struct `C programs that start with overrides` {
    @Test(arguments: [Started.Way.linked, .preloaded], [Started.State.few, .overrides])
    func `They have their values, are changed and live on`(way: Started.Way, state: Started.State) throws {
        let failure = try Started.failure(way, state, count: 200, onlyInC: true)
        #expect(failure == nil, "\(failure ?? "")")
    }
}
