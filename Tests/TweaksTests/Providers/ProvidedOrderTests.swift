import TestSupport
import Testing

@testable import Tweaks

@Suite struct `The place of values from afar` {
    private let tweaks = SyntheticTweaks(.integer("Count", 5))
    private var store: TweakStore { tweaks.store }

    init() throws {
        for source in [TweakSource.remote, .fleet] {
            try store.add(ProvidedValues(source, in: []), above: nil)
        }
        try store.add(TestProvider("local", [:]), above: nil)
    }

    @Test func `An order of what was added leaves them where they are`() throws {
        try store.add(TestProvider("other", [:]), above: nil)
        try store.setOrder(["other", "local"].map { TweakSource($0) })
        #expect(
            store.sources.map(\.name)
                == ["session", "environment", "override", "remote", "fleet", "other", "local"])
    }

    @Test func `An order that does not know them has them behind the overrides`() throws {
        try store.setOrder(["local", "override", "session", "environment"].map { TweakSource($0) })
        #expect(
            store.sources.map(\.name)
                == ["local", "override", "remote", "fleet", "session", "environment"])
    }

    @Test func `An order that knows them has them where it says`() throws {
        let order = ["fleet", "session", "environment", "override", "local", "remote"]
        try store.setOrder(order.map { TweakSource($0) })
        #expect(store.sources.map(\.name) == order)
    }

    @Test func `A program can do without them`() throws {
        try store.remove(providerOf: .remote)
        try store.remove(providerOf: .fleet)
        #expect(store.sources.map(\.name) == ["session", "environment", "override", "local"])
    }
}
