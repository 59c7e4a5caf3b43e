// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing
import TweakRecords
import TweakSources

@Suite struct `A folder that is exchanged while sources are written` {
    private static let text = "double d = FBTweakValue(\"A\", \"B\", \"C\", 1.0);\n"

    /// Exchanges a folder with a link to another one, until it is told to stop.
    private static func exchange(_ folder: String, with other: String, until isOver: Locked<Bool>) {
        while !isOver.withLock({ $0 }) {
            rename(folder, folder + "-aside")
            symlink(other, folder)
            unlink(folder)
            rename(folder + "-aside", folder)
        }
    }

    @Test func `It leads nowhere else, and nothing is left in it`() throws {
        let sources = try BakedSources()
        let elsewhere = try TemporaryDirectory()
        try elsewhere.write("a.c", Self.text)
        try sources.home.write("within/a.c", Self.text)
        let isOver = Locked(false)
        let (folder, other) = (sources.home("within"), elsewhere.path)
        let finished = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            Self.exchange(folder, with: other, until: isOver)
            finished.signal()
        }
        var value = 1.0
        for _ in 0..<(isLong ? 3000 : 300) {
            let tweak = BakedSources.tweak(.double, .double(value), at: "within/a.c:1")
            let baking = sources.plan([tweak]) { _ in .double(value + 1) }
            guard !baking.changes.isEmpty, (try? baking.write()) != nil else { continue }
            value += 1
        }
        isOver.withLock { $0 = true }
        finished.wait()
        #expect(try String(contentsOfFile: elsewhere("a.c"), encoding: .utf8) == Self.text)
        #expect(try FileManager.default.contentsOfDirectory(atPath: elsewhere.path) == ["a.c"])
        #expect(try FileManager.default.contentsOfDirectory(atPath: folder) == ["a.c"])
        #expect(try sources.text("within/a.c") == Self.text.replacing("1.0", with: "\(value)"))
    }
}
