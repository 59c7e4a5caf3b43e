// SPDX-License-Identifier: BSD-3-Clause
internal import Foundation
public import Testing
public import Tweaks

/// A test trait that replaces the values of tweaks during a test.
public struct TweakValuesTrait: TestTrait, SuiteTrait, TestScoping {
    fileprivate var store = TweakStore.shared
    fileprivate let values: [TweakKey: TweakValue]
    fileprivate let isForProcess: Bool

    /// Runs a test with the values.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        let none = TweakKey("", "", "")
        guard !values.keys.contains(none) else {
            throw TweakError.invalid(
                none,
                reason: "the tweak of the trait is disabled; FB_TWEAK_ENABLED enables it in a release build")
        }
        if isForProcess {
            try await Turns.current.wait(as: testCase == nil ? "suite \(test.name)" : "test \(test.name)") {
                try await store.withProcessValues(values, function)
            }
        } else {
            try await store.withValues(values, function)
        }
    }
}

extension Trait where Self == TweakValuesTrait {
    /// Replaces the values of tweaks for the task of a test, or of each test of a suite.
    ///
    ///     @Test(.tweaks([TweakKey("Spring", "Physics", "Mass"): 4]))
    ///     func `A heavy spring swings slowly`() { … }
    ///
    /// Other tests may run at the same time: only the test's own task, its child tasks and `Task { }` see the
    /// values. C and C++, other threads, detached tasks and observers do not see them, nor do reads in a
    /// release build; see ``TweakStore/withValues(_:_:)-([TweakKey:TweakValue],_)``.
    ///
    /// The test fails if a tweak does not exist, refuses its value or clamps it.
    ///
    /// - Parameter values: The values by name. Read-only tweaks accept values here, too.
    public static func tweaks(_ values: [TweakKey: TweakValue]) -> Self {
        Self(values: values, isForProcess: false)
    }

    /// Replaces a tweak's value for the task of a test, or of each test of a suite, as ``tweaks(_:)`` does.
    ///
    ///     @Test(.tweaks(Model.$gain, 0.75), .tweaks(Model.$rate, 30))
    ///     func `A loud model is slow`() { … }
    ///
    /// Here `Model` is in another module than the test. The arguments of an attribute cannot use handles that
    /// macros make in the same module; give such a handle a name first: `let gain = Model.$gain`.
    ///
    /// The test fails if the tweak refuses the value or clamps it, and where tweaks are disabled.
    ///
    /// - Parameters:
    ///   - tweak: The tweak, which may be read-only.
    ///   - value: The value.
    public static func tweaks<Value>(_ tweak: Tweak<Value>, _ value: Value) -> Self {
        Self(store: tweak.store, values: [tweak.key: value.tweakValue], isForProcess: false)
    }

    /// Replaces the values of tweaks for the whole process during a test, so that C, other threads and
    /// observers see them.
    ///
    ///     @Test(.processTweaks([TweakKey("Sound", "Mixer", "Rate"): 44100]))
    ///     func `The mixer in C resamples`() { … }
    ///
    /// Tests with this trait run one at a time. Tests without it can run at the same time and see the values,
    /// so give the trait to every test that depends on one of these tweaks, if need be with the value that it
    /// expects. A suite with the trait takes one turn; the tests in it that also have the trait take turns
    /// among themselves. A test that has waited for ten seconds prints on standard error which test it waits
    /// for.
    ///
    /// Afterwards each tweak has its former value again, even if the test has set it. The values of the trait
    /// are not written into the overrides file. The test fails if a tweak does not exist, clamps its value or
    /// refuses it, as read-only tweaks do.
    ///
    /// - Parameter values: The values by name.
    public static func processTweaks(_ values: [TweakKey: TweakValue]) -> Self {
        Self(values: values, isForProcess: true)
    }

    /// Replaces a tweak's value for the whole process during a test, as ``processTweaks(_:)`` does.
    ///
    ///     @Test(.processTweaks(Mixer.$rate, 44_100))
    ///     func `The mixer in C resamples`() { … }
    ///
    /// - Parameters:
    ///   - tweak: The tweak, in another module than the test or with a name; see ``tweaks(_:_:)``.
    ///   - value: The value.
    public static func processTweaks<Value>(_ tweak: Tweak<Value>, _ value: Value) -> Self {
        Self(store: tweak.store, values: [tweak.key: value.tweakValue], isForProcess: true)
    }
}

extension TweakStore {
    /// Replaces the values of tweaks for all threads while a closure runs.
    func withProcessValues(_ values: [TweakKey: TweakValue], _ body: () async throws -> Void) async throws {
        let before = try values.keys.map { ($0, try opinions(on: $0)) }
        func putBack() throws(TweakError) {
            for (key, opinions) in before {
                for source in [TweakSource.overrides, .session] {
                    try set(opinions.first { $0.source == source }?.value, for: key, in: source)
                }
            }
        }
        do {
            for (key, value) in values {
                if let admission = try? status(of: key).declaration.admit(value) {
                    reportClamping(admission, of: value, for: key)
                }
                try set(value, for: key, in: .session)
            }
            try await body()
        } catch {
            try putBack()
            throw error
        }
        try putBack()
    }
}

/// A queue in which tests take turns, in order of arrival.
actor Turns {
    /// The queue for the tests of this task. The tests of a suite that has its turn share a queue of the
    /// suite.
    @TaskLocal static var current = Turns()

    private var holder: String?
    private var waiting: [CheckedContinuation<Void, Never>] = []

    /// Waits for a test's turn, and calls a closure.
    ///
    /// - Parameters:
    ///   - name: The name of the waiting test, for messages.
    ///   - patience: The wait after which a message names the test that has the turn.
    func wait(
        as name: String, patience: Duration = .seconds(10),
        report: @escaping @Sendable (String) -> Void = {
            FileHandle.standardError.write(Data("\($0)\n".utf8))
        },
        _ body: @Sendable () async throws -> Void
    ) async throws {
        if holder != nil {
            let reporter = Task {
                try await Task.sleep(for: patience)
                report("\(name) waits for \(holder ?? ""), because both have processTweaks")
            }
            await withCheckedContinuation { waiting.append($0) }
            reporter.cancel()
        }
        // Until the next one has its turn, it is taken.
        holder = name
        defer { if waiting.isEmpty { holder = nil } else { waiting.removeFirst().resume() } }
        try await Self.$current.withValue(Turns()) { try await body() }
    }
}

/// Records an issue of the running test. By this symbol the library also recognises a process that runs
/// tests.
@_cdecl("fbtweak__fail_test") func failTest(_ problem: UnsafePointer<CChar>) {
    Issue.record("\(String(cString: problem))")
}
