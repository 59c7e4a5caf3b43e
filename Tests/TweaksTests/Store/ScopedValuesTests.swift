// SPDX-License-Identifier: BSD-3-Clause
import SetterTweaks
import Testing

@testable import Tweaks

@Suite struct `Scoped values` {
    private let store = TweakStore()
    private let width: Tweak<Int>

    init() throws { width = try store.make("A", "B", "Width", default: 1, in: 0...100) }

    @Test func `are seen by handles and the store, and gone afterwards`() throws {
        let calls = Recorded<TweakChange>()
        let token = store.observe(didChange: calls.append)
        let result = try width.withValue(7) { () throws in
            #expect(width.value == 7)
            #expect(try store.value(of: width.key) == 7)
            #expect(try store.status(of: width.key).source == .scope)
            #expect(width.source == .scope)
            #expect(try store.tweak("A", "B", "Width", as: Int.self).value == 7)
            return width.value * 2
        }
        #expect(result == 14)
        #expect(width.value == 1)
        #expect(calls.all.isEmpty)
        token.cancel()
    }

    @Test func `are seen by tasks inside and not by others`() async throws {
        await width.withValue(7) {
            await Task.yield()
            #expect(width.value == 7)
            async let inside = width.value
            #expect(await inside == 7)
            let task = Task { width.value }
            #expect(await task.value == 7)
            let detached = Task.detached { [width] in width.value }
            #expect(await detached.value == 1)
        }
        #expect(width.value == 1)
    }

    @Test(arguments: 1...8)
    func `do not disturb tests that run at the same time`(number: Int) async throws {
        let shared = try TweakStore.shared.tweak("Setter", "Values", "Count", as: Int32.self)
        for _ in 1...20 {
            await shared.withValue(Int32(number)) {
                await Task.yield()
                #expect(shared.value == number)
            }
        }
        #expect(shared.value == 5)
        // C reads the cell.
        #expect(setter_count() == 5)
    }

    @Test func `can be several, and be inside each other`() throws {
        let height = try store.make("A", "B", "Height", default: 2)
        try store.withValues([width.key: 10, height.key: 20]) {
            width.withValue(11) {
                #expect([width.value, height.value] == [11, 20])
            }
            #expect([width.value, height.value] == [10, 20])
        }
    }

    @Test func `are checked like others, but apply to read-only tweaks too`() throws {
        #expect(throws: TweakError.self) { try store.withValues([width.key: "wide"]) {} }
        #expect(throws: TweakError.self) { try store.withValues([.test("Missing"): 1]) {} }
        let fixed = try store.make("A", "B", "Fixed", default: 2, readOnly: true)
        fixed.withValue(3) { #expect(fixed.value == 3) }
    }

    @Test func `of a handle fail a test if they are clamped or refused`() throws {
        withKnownIssue {
            width.withValue(1000) { #expect(width.value == 100) }
        } matching: { issue in
            issue.comments == ["A/B/Width: 1000 is outside of its limits, and becomes 100"]
        }
        let mode = try store.make("A", "B", "Mode", default: 2, choices: [2, 4])
        withKnownIssue {
            mode.withValue(3) { #expect(mode.value == 2) }
        } matching: { issue in
            issue.comments.first?.rawValue.hasPrefix("A/B/Mode: 3 is not among the choices") == true
        }
    }

    @Test func `end with a closure that throws`() async {
        struct Failure: Error {}
        do throws(Failure) { try width.withValue(7) { () throws(Failure) in throw Failure() } } catch {
            #expect(width.value == 1)
        }
        do throws(Failure) {
            try await width.withValue(7) { () async throws(Failure) in
                await Task.yield()
                throw Failure()
            }
        } catch {
            #expect(width.value == 1)
        }
    }

    @Test func `are seen where a record in the binary is read`() throws {
        let tweaks = SyntheticTweaks(.integer("Count", 5, type: .int64))
        let cell = try #require(UnsafeRawPointer(bitPattern: tweaks.address(0)))
        try tweaks.store.withValues([.test("Count"): 9]) {
            #expect(Int.__load(cell, default: 5) == 9)
        }
        #expect(Int.__load(cell, default: 5) == 5)
    }

    @Test func `hide values set meanwhile until the end`() throws {
        try width.withValue(7) {
            try width.set(8)
            #expect(width.value == 7)
        }
        #expect(width.value == 8)
    }
}
