// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Tweaks

/// A provider whose values a test changes.
final class TestProvider: MutableTweakProvider {
    private struct State {
        var values: [TweakKey: ProvidedValue] = [:]
        var report: (@Sendable (TweakProviderChange) -> Void)?
        var problem: String?
        var asked: [TweakKey] = []
    }
    struct Failure: Error, CustomStringConvertible { let description: String }

    let source: TweakSource
    /// Whether tweaks that no binary declares are there.
    let declares: Bool
    /// Whether it lists its names.
    let listsAllKeys: Bool
    private let state = Locked(State())

    init(
        _ name: String = "test", _ values: [TweakKey: TweakValue] = [:], declares: Bool = false,
        lists: Bool = true
    ) {
        source = TweakSource(name)
        listsAllKeys = lists
        self.declares = declares
        state.withLock { $0.values = values.mapValues { .value($0) } }
    }

    var asked: [TweakKey] { state.withLock { $0.asked } }
    var isHeard: Bool { state.withLock { $0.report != nil } }

    /// From now on the provider throws; until `nil`.
    func fail(with problem: String?) { state.withLock { $0.problem = problem } }

    func change(_ values: [TweakKey: ProvidedValue?], reporting: Bool = true) {
        let report = state.withLock { state in
            for (key, value) in values { state.values[key] = value }
            return state.report
        }
        if reporting { report?(.tweaks(Array(values.keys))) }
    }

    func reportEverything() { report(.everything) }

    func report(_ change: TweakProviderChange) { state.withLock { $0.report }?(change) }

    var keys: Set<TweakKey> {
        get throws {
            try checkHealth()
            return listsAllKeys ? state.withLock { Set($0.values.keys) } : []
        }
    }

    func value(for key: TweakKey) throws -> ProvidedValue? {
        try checkHealth()
        return state.withLock { state in
            state.asked.append(key)
            return state.values[key]
        }
    }

    func declaration(of key: TweakKey) -> TweakDeclaration? {
        guard declares, case .value(let value)? = state.withLock({ $0.values[key] }) else { return nil }
        return TweakDeclaration(key: key, type: .int64, defaultValue: value)
    }

    func onChange(_ report: (@Sendable (TweakProviderChange) -> Void)?) {
        state.withLock { $0.report = report }
    }

    func set(_ value: TweakValue?, for key: TweakKey) throws {
        try checkHealth()
        change([key: value.map { .value($0) }])
    }

    private func checkHealth() throws {
        if let problem = state.withLock({ $0.problem }) { throw Failure(description: problem) }
    }
}
