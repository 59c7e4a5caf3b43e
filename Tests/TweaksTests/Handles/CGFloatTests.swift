// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import Testing
import TweaksFoundation

@testable import Tweaks

@Suite struct `Tweaks that are a CGFloat` {
    private struct Margins: TweakGroup {
        var left: CGFloat = 8
        static let fields: [TweakField<Margins>] = [TweakField("Left", \.left, in: 0...100)]
    }
    private let store = TweakStore()

    @Test func `are made, set and read as a Double`() throws {
        let inset: Tweak<CGFloat> = try store.make("UI", "Page", "Inset", default: 8, in: 0...100)
        #expect(inset.declaration?.type == .double)
        try inset.set(12.5)
        #expect(inset.value == 12.5)
        #expect(try store.value(of: inset.key) == 12.5)
        #expect(try inset.set(1000) == 100)
        #expect(try store.tweak("UI", "Page", "Inset", as: Double.self).value == 100)
        #expect(inset.defaultValue == 8)
        #expect(inset.limits == (0, 100))
        try store.set(3, for: inset.key)
        #expect(inset.value == 3)
    }

    @Test func `are fields of groups`() throws {
        let margins = try store.make(group: Margins(), "UI", "Page", "Text")
        try margins.left.set(20)
        #expect(margins.value.left == 20)
    }

    @Test func `are variables of features`() throws {
        @FeatureVariable("search", "width", store: store) var width: CGFloat = 40
        width = 60.5
        #expect(width == 60.5)
        #expect(try store.value(ofFeature: "search", variable: "width", as: Double.self) == 60.5)
    }
}
