// SPDX-License-Identifier: BSD-3-Clause
import SetterTweaks
import Synchronization
import Testing
import Tweaks

@testable import TweaksTesting

private let slot = TweakKey("Setter", "Slots", "Slot 6")
private let processSlot = TweakKey("Setter", "Slots", "Slot 7")

private let store = TweakStore()
private let width: Tweak<Int> = store.tweak(TweakKey("A", "B", "Width"), default: 1)
private let disabled = Tweak(__constant: 5)

private func current(_ key: TweakKey) throws -> TweakValue { try TweakStore.shared.value(of: key) }

@Suite struct `The trait with values` {
    @Test(.tweaks([slot: 3]), arguments: 1...4)
    func `gives the task of a test its values`(number: Int) async throws {
        #expect(try current(slot) == 3)
        await Task.yield()
        #expect(try current(slot) == 3)
        #expect(try await Task { try current(slot) }.value == 3)
        #expect(try await Task.detached { try current(slot) }.value == 0)
        #expect(setter_slot(6) == 0)
    }

    @Test(arguments: 1...4) func `leaves tests alone that run at the same time`(number: Int) async throws {
        #expect(try current(slot) == 0)
        await Task.yield()
        #expect(try current(slot) == 0)
    }

    @Suite(.tweaks([slot: 4])) struct `of a suite` {
        @Test func `gives its tests the values`() throws { #expect(try current(slot) == 4) }
        @Test(.tweaks([slot: 5])) func `yields to that of a test`() throws { #expect(try current(slot) == 5) }
    }

    @Test(.tweaks(width, 3), .tweaks([slot: 3])) func `takes handles, of any store`() async throws {
        #expect(width.value == 3)
        #expect(await Task.detached { width.value }.value == 1)
        #expect(try current(slot) == 3)
    }

    @Test(.processTweaks(width, 4)) func `takes handles for the process`() async throws {
        #expect(await Task.detached { width.value }.value == 4)
    }

    @Test func `fails a test with a handle where tweaks are disabled`() async throws {
        let test = try #require(Test.current)
        for trait in [TweakValuesTrait.tweaks(disabled, 6), .processTweaks(disabled, 6)] {
            let error = await #expect(throws: TweakError.self) {
                try await trait.provideScope(for: test, testCase: nil) { Issue.record("it ran") }
            }
            #expect(error?.description.contains("the tweak of the trait is disabled") == true)
        }
    }

    @Test func `fails a test whose values are clamped`() async throws {
        let test = try #require(Test.current)
        let count = TweakKey("Setter", "Values", "Count")
        try await withKnownIssue {
            try await TweakValuesTrait.tweaks([count: 2_000_000]).provideScope(for: test, testCase: nil) {
                let value = try current(count)
                #expect(value == 1_000_000)
            }
        } matching: { issue in
            issue.comments.contains("\(count): 2000000 is outside of its limits, and becomes 1000000")
        }
    }

    @Test func `fails a test whose values no tweak takes`() async throws {
        let test = try #require(Test.current)
        for values in [[TweakKey("No", "Such", "Tweak"): 1], [slot: "wide"]] as [[TweakKey: TweakValue]] {
            for trait in [TweakValuesTrait.tweaks(values), .processTweaks(values)] {
                await #expect(throws: TweakError.self) {
                    try await trait.provideScope(for: test, testCase: nil) { Issue.record("it ran") }
                }
            }
        }
        #expect(setter_slot(6) == 0)
    }
}

@Suite struct `The trait with values for the process` {
    private static let users = Mutex(0)

    @Test(.processTweaks([processSlot: 3]), arguments: 1...4)
    func `shows them to C and other threads, one test after the other`(number: Int) async throws {
        #expect(
            Self.users.withLock {
                $0 += 1; return $0
            } == 1)
        for _ in 1...20 {
            #expect(setter_slot(7) == 3)
            await Task.yield()
        }
        #expect(try await Task.detached { try current(processSlot) }.value == 3)
        Self.users.withLock { $0 -= 1 }
    }

    @Suite(.processTweaks([processSlot: 4])) struct `of a suite` {
        @Test func `gives its tests the values`() async throws {
            for _ in 1...20 {
                // Another test of the suite may have its turn.
                #expect([4, 5, 6].contains(setter_slot(7)))
                await Task.yield()
            }
        }

        @Test(.processTweaks([processSlot: 5])) func `yields to that of a test`() async throws {
            for _ in 1...20 {
                #expect(setter_slot(7) == 5)
                await Task.yield()
            }
        }

        @Test(.processTweaks([processSlot: 6])) func `takes turns with the others of the suite`() async throws
        {
            for _ in 1...20 {
                #expect(setter_slot(7) == 6)
                await Task.yield()
            }
        }
    }

    @Test func `says for whom it waits`() async throws {
        let turns = Turns()
        let (said, saying) = AsyncStream.makeStream(of: String.self)
        try await turns.wait(as: "the first") {
            Task {
                try await turns.wait(
                    as: "the second", patience: .milliseconds(1), report: { saying.yield($0) }
                ) { saying.finish() }
            }
            var messages = said.makeAsyncIterator()
            let message = await messages.next()
            #expect(message == "the second waits for the first, because both have processTweaks")
        }
        for await message in said { Issue.record("\(message)") }
    }

    @Test func `puts back the values of before`() async throws {
        let store = TweakStore()
        let width = try store.make("A", "B", "Width", default: 1)
        struct Stop: Error {}
        for source in [TweakSource.binary, .overrides, .session] {
            if source != .binary { try store.set(2, for: width.key, in: source) }
            let before = try store.opinions(on: width.key)
            await #expect(throws: Stop.self) {
                try await store.withProcessValues([width.key: 5]) {
                    #expect(width.value == 5)
                    try width.set(6)
                    #expect(width.value == 6)
                    throw Stop()
                }
            }
            #expect(try store.opinions(on: width.key) == before)
        }
    }
}
