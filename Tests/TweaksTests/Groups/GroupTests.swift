// SPDX-License-Identifier: BSD-3-Clause
import TestSupport
import Testing

@testable import Tweaks

@Suite struct `Groups` {
    private let store = TweakStore()

    @Test func `are made under several names`() throws {
        let bounce = try store.make(group: TweakSpring(stiffness: 200), "UI", "Card", "Bounce")
        let slide = try store.make(group: .spring, "UI", "Card", "Slide")
        #expect(
            bounce.keys.map(\.name) == [
                "Bounce Mass", "Bounce Stiffness", "Bounce Damping", "Bounce Initial Velocity",
            ])
        try bounce.damping.set(3)
        #expect(bounce.value == TweakSpring(stiffness: 200, damping: 3))
        #expect(slide.value == TweakSpring())
        #expect(bounce.stiffness.limits == (0, 1000))
        #expect(bounce.stiffness.defaultValue == 200)
    }

    @Test func `are taken with the values that they have`() throws {
        let bounce = try store.make(group: TweakSpring(stiffness: 200), "UI", "Card", "Bounce")
        // It is nil while other threads set, as other tests do.
        #expect(waitUntil { bounce.taken == TweakSpring(stiffness: 200) })
        try bounce.set(TweakSpring(mass: 2, damping: 15))
        #expect(waitUntil { bounce.taken == TweakSpring(mass: 2, damping: 15) })
    }

    @Test func `are never mixed when they are taken while another thread sets them`() async throws {
        let insets = try store.make(group: TweakEdgeInsets(), "UI", "Card", "Text")
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                var number = 0.0
                while !Task.isCancelled {
                    number = number == 50 ? 0 : number + 1
                    try insets.set(
                        TweakEdgeInsets(top: number, left: number, bottom: number, right: number))
                }
            }
            var taken = 0
            var seen: Set<Double> = []
            while taken < 10_000 || seen.count < 10 {
                await Task.yield()
                guard let now = insets.taken else { continue }
                taken += 1
                seen.insert(now.top)
                let isWhole = now.left == now.top && now.bottom == now.top && now.right == now.top
                if !isWhole { Issue.record("mixed: \(now)") }
            }
            group.cancelAll()
            try await group.waitForAll()
        }
    }

    @Test func `for animations, shadows and insets are there`() throws {
        let animation = try store.make(group: TweakAnimation(curve: .linear), "UI", "Card", "Fade")
        try animation.curve.set(.easeOut)
        try animation.duration.set(.seconds(2))
        #expect(animation.value == TweakAnimation(duration: .seconds(2), curve: .easeOut))
        #expect(animation.curve.choices == TweakAnimation.Curve.allCases)

        let shadow = try store.make(group: .shadow, "UI", "Card", "")
        try shadow.color.set(TweakColor(red: 9, green: 9, blue: 9))
        #expect(shadow.value.color == TweakColor(red: 9, green: 9, blue: 9))
        #expect(shadow.keys.first == TweakKey("UI", "Card", "Color"))
        #expect(try shadow.opacity.set(2) == 1)

        let insets = try store.make(
            group: TweakEdgeInsets(top: 1, left: 2, bottom: 3, right: 4), "UI", "Page", "Text")
        #expect(insets.value == TweakEdgeInsets(top: 1, left: 2, bottom: 3, right: 4))
    }

    private func expectLayout<Group: TweakGroup>(_ layout: GroupLayout?, _ group: Group) throws {
        #expect(layout?.type == "\(Group.self)")
        let made = try store.make(group: group, "A", "B", layout?.type ?? "")
        let declarations = made.keys.map { try? store.status(of: $0).declaration }
        #expect(declarations.map { $0?.key.name } == layout?.fields.map { "\(Group.self) \($0.name)" })
        #expect(declarations.map { $0?.defaultValue } == layout?.fields.map(\.defaultValue))
        #expect(declarations.map { $0?.type.isNumeric } == declarations.map { $0?.minimum != nil })
    }

    @Test func `of the library are as the macros have them`() throws {
        let layouts = Dictionary(uniqueKeysWithValues: GroupLayout.all.map { ($0.usual, $0) })
        #expect(layouts.count == 4)
        try expectLayout(layouts["animation"], .animation)
        try expectLayout(layouts["spring"], .spring)
        try expectLayout(layouts["shadow"], .shadow)
        try expectLayout(layouts["edgeInsets"], .edgeInsets)
        #expect(
            TweakAnimation.Curve.allCases.map { TweakChoice(.string($0.rawValue)) }
                == GroupField.curve.declaration(TweakKey("A", "B", "C"), default: "linear").choices)
    }

    @Test func `that are constants have their values`() {
        let constant = GroupedTweaks(__constant: TweakSpring(mass: 5))
        let changes = Recorded<GroupedTweaks<TweakSpring>.Change>()
        let token = constant.observe(initially: true) { changes.append($0) }
        #expect(throws: Never.self) { try constant.set(.spring) }
        #expect(constant.value.mass == 5 && constant.mass.value == 5 && constant.keys.isEmpty)
        #expect(changes.all.map(\.newValue.mass) == [5])
        token.cancel()
    }

    @Test func `are found again`() throws {
        let made = try store.make(group: .spring, "UI", "Card", "Bounce")
        try made.mass.set(5)
        let found = try store.tweaks(of: .spring, "UI", "Card", "Bounce")
        #expect(found.value.mass == 5)
        #expect(throws: TweakError.self) { try store.tweaks(of: .shadow, "UI", "Card", "Bounce") }
    }

    @Test func `are set, reset and removed as one`() throws {
        let bounce = try store.make(group: .spring, "UI", "Card", "Bounce")
        let changes = Recorded<GroupedTweaks<TweakSpring>.Change>()
        let token = bounce.observe { changes.append($0) }
        let value = TweakSpring(mass: 2, stiffness: 3, damping: 4, initialVelocity: 5)
        try bounce.set(value)
        try bounce.reset()
        #expect(
            changes.all == [
                .init(oldValue: TweakSpring(), newValue: value),
                .init(oldValue: value, newValue: TweakSpring()),
            ])
        token.cancel()
        try store.remove(bounce)
        #expect(store.categories.isEmpty)
        #expect(bounce.value == TweakSpring())
    }

    @Test func `can be observed from their current values on`() throws {
        let bounce = try store.make(group: .spring, "UI", "Card", "Bounce")
        let changes = Recorded<GroupedTweaks<TweakSpring>.Change>()
        let token = bounce.observe(initially: true) { changes.append($0) }
        try bounce.mass.set(2)
        #expect(changes.all.map(\.newValue.mass) == [1, 2])
        #expect(changes.all.map(\.oldValue.mass) == [1, 1])
        token.cancel()
    }

    @Test func `are not made in part`() throws {
        try store.make("UI", "Card", "Bounce Damping", default: 1)
        #expect(throws: TweakError.exists(TweakKey("UI", "Card", "Bounce Damping"))) {
            try store.make(group: .spring, "UI", "Card", "Bounce")
        }
        #expect(store.categories.flatMap(\.collections).flatMap(\.tweaks).count == 1)
    }

    @Test func `may have a default outside the usual limits`() throws {
        let stiff = try store.make(group: TweakSpring(stiffness: 5000), "UI", "Card", "Stiff")
        #expect(stiff.value.stiffness == 5000)
    }

    @Test func `of a spring may have a damping ratio`() {
        let spring = TweakSpring(dampingRatio: 0.5, mass: 4, stiffness: 100)
        #expect(spring.damping == 20 && spring.dampingRatio == 0.5)
        #expect(TweakSpring().dampingRatio == 0.5)
    }

    /// With a computed property, a text, and a property that is not a field.
    private struct Caption: TweakGroup {
        var text = "hello"
        var size = 12
        var note = "none"
        var doubleSize: Int {
            get { size * 2 }
            set { size = newValue / 2 }
        }
        static let fields: [TweakField<Caption>] = [
            TweakField("Text", \.text), TweakField("Double Size", \.doubleSize, in: 2...100),
        ]
    }

    @Test func `can be a program's own`() throws {
        let caption = try store.make(group: Caption(), "UI", "Card", "Caption")
        try caption.text.set(String(repeating: "long ", count: 20))
        try caption.doubleSize.set(40)
        for _ in 1...3 {
            #expect(caption.value.text.count == 100)
            #expect(caption.value.size == 20)
        }
        #expect(caption.note.value == "none")
        #expect(caption.note.declaration == nil)
    }
}
