// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import Logging
import TestSupport
import Testing

@testable import Tweaks

@Suite struct `Messages of a store` {
    private let diagnostics = Diagnostics()
    private let messages = CollectedMessages()

    init() { diagnostics.logger = messages.logger }

    @Test func `Control characters, newlines and changes of direction are escaped`() {
        diagnostics.warn("a\u{1B}[2J\n\u{7}\u{7F}\u{9B}\u{202E}\u{2066}\u{200F}\u{61C}\u{2028}z")
        #expect(
            messages.all == [
                #"a\u{1b}[2J\u{a}\u{7}\u{7f}\u{9b}\u{202e}\u{2066}\u{200f}\u{61c}\u{2028}z"#
            ])
    }

    @Test func `Invalid UTF-8 is escaped`() {
        diagnostics.warn(String(decoding: [0x61, 0xFF, 0x62], as: UTF8.self))
        #expect(messages.all == [#"a\u{fffd}b"#])
    }

    @Test(arguments: ["a", "ä", "𝄞", "\u{1B}"]) func `A message of megabytes is cut`(character: String) {
        diagnostics.warn(String(repeating: character, count: 1_000_000))
        #expect(messages.all.first?.hasSuffix("…") == true)
        #expect(messages.all.first.map { $0.utf8.count <= 3503 } == true)
    }

    @Test func `A message is printed once`() {
        for _ in 1...3 { for number in 1...1000 { diagnostics.warn("\(number)") } }
        #expect(messages.all == (1...1000).map(String.init))
    }

    @Test func `The memory for printed messages is bounded`() {
        for number in 1...5000 { diagnostics.warn("\(number)") }
        #expect(diagnostics.state.withLock { $0.reported.count } == 1000)
        diagnostics.warn("5000")
        diagnostics.warn("1")
        #expect(messages.all.count == 5001)
    }

    @Test func `Standard error is written while another thread has locked its stream`() throws {
        // Swift 6 does not see the variable, since any thread may change it.
        let variable = try #require(dlsym(nil, "stderr"))
        let stream = variable.load(as: UnsafeMutablePointer<FILE>.self)
        flockfile(stream)
        let isDone = Locked(false)
        Thread {
            Diagnostics().warn("a test: this line belongs here")
            isDone.withLock { $0 = true }
        }.start()
        #expect(waitUntil { isDone.withLock { $0 } })
        funlockfile(stream)
    }
}
