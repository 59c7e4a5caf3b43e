// SPDX-License-Identifier: BSD-3-Clause
import Synchronization
import Tweaks

/// A provider whose values the program changes.
final class MemoryProvider: TweakProvider {
    private struct Content {
        var values: [TweakKey: ProvidedValue]
        var report: (@Sendable (TweakProviderChange) -> Void)?
    }

    let source: TweakSource
    private let content: Mutex<Content>

    init(_ name: String, _ values: [TweakKey: ProvidedValue]) {
        source = TweakSource(name)
        content = Mutex(Content(values: values))
    }

    func change(_ key: TweakKey, to value: ProvidedValue) {
        let report = content.withLock { content in
            content.values[key] = value
            return content.report
        }
        report?(.tweaks([key]))
    }

    var keys: Set<TweakKey> { content.withLock { Set($0.values.keys) } }
    func value(for key: TweakKey) -> ProvidedValue? { content.withLock { $0.values[key] } }
    func onChange(_ report: (@Sendable (TweakProviderChange) -> Void)?) {
        content.withLock { $0.report = report }
    }
}
