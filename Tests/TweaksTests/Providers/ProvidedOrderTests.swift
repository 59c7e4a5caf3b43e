// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

@testable import Tweaks

@Suite struct `The precedence of remote values` {
    private let tweaks = SyntheticTweaks(.integer("Count", 5))
    private var store: TweakStore { tweaks.store }

    init() throws {
        for source in [TweakSource.remote, .fleet] {
            try store.add(ProvidedValues(source, in: []), above: nil)
        }
        try store.add(TestProvider("local", [:]), above: nil)
    }

    @Test func `An order of added providers keeps remote values in place`() throws {
        try store.add(TestProvider("other", [:]), above: nil)
        try store.setOrder(["other", "local"].map { TweakSource($0) })
        #expect(
            store.sources.map(\.name)
                == ["session", "environment", "override", "remote", "fleet", "other", "local"])
    }

    @Test func `An order without them puts them after the overrides`() throws {
        try store.setOrder(["local", "override", "session", "environment"].map { TweakSource($0) })
        #expect(
            store.sources.map(\.name)
                == ["local", "override", "remote", "fleet", "session", "environment"])
    }

    @Test func `An order with them puts them where it says`() throws {
        let order = ["fleet", "session", "environment", "override", "local", "remote"]
        try store.setOrder(order.map { TweakSource($0) })
        #expect(store.sources.map(\.name) == order)
    }

    @Test func `A program can omit them`() throws {
        try store.remove(providerOf: .remote)
        try store.remove(providerOf: .fleet)
        #expect(store.sources.map(\.name) == ["session", "environment", "override", "local"])
    }
}
