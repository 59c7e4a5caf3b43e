// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@testable import Tweaks

@Suite struct `Deeply nested overrides` {
    private func nested(_ depth: Int) -> [UInt8] {
        let levels = depth - 1
        return Array(
            (String(repeating: "{\"a\":", count: levels) + "{}" + String(repeating: "}", count: levels)).utf8)
    }

    @Test(arguments: [101, 510, 511, 512, 513, 100_000, 1_000_000])
    func `More than 100 levels are an error`(depth: Int) {
        #expect(throws: OverridesError.self) { try OverridesDocument(json: nested(depth), path: "") }
        let arrays = [UInt8](repeating: UInt8(ascii: "["), count: depth - 1)
        let closed = arrays + [UInt8](repeating: UInt8(ascii: "]"), count: depth - 1)
        #expect(throws: OverridesError.self) {
            try OverridesDocument(json: Array("{\"a\":".utf8) + arrays, path: "")
        }
        #expect(throws: OverridesError.self) {
            try OverridesDocument(json: Array("{\"a\":".utf8) + closed + Array("}".utf8), path: "")
        }
    }

    @Test func `100 levels are read and written`() throws {
        let document = try OverridesDocument(json: nested(100), path: "")
        #expect(try OverridesDocument(json: document.json(), path: "") == document)
    }

    @Test func `The message states the limit`() {
        #expect(
            throws: OverridesError.corrupt(path: "x", reason: "more than 100 levels are nested")
        ) { try OverridesDocument(json: nested(101), path: "x") }
    }

    @Test func `Brackets in strings are not levels`() throws {
        let text = String(repeating: "[{", count: 1000) + "\\\"" + String(repeating: "[", count: 1000)
        _ = try OverridesDocument(json: Array("{\"A\": {\"B\": {\"C\": \"\(text)\"}}}".utf8), path: "")
    }

    @Test func `UTF-16 does not bypass the limit`() throws {
        let text = "{\"a\":" + String(repeating: "[", count: 512)
        let bytes = text.utf16.flatMap {
            [UInt8(truncatingIfNeeded: $0), UInt8(truncatingIfNeeded: $0 >> 8)]
        }
        #expect(throws: OverridesError.self) { try OverridesDocument(json: bytes, path: "") }
    }

    /// The thread that writes in the background has a small stack; around 512 levels is the parser's own limit.
    @Test(arguments: [100, 101, 510, 511, 512, 513, 100_000])
    func `The writer thread survives them`(depth: Int) throws {
        let home = try TemporaryDirectory()
        let file = OverridesFile(path: try home.write("overrides.json", Data(nested(depth))))
        let writer = OverridesWriter(file: file) { _ in }
        writer.enqueue(1, for: .test("Count"))
        while (try? file.load())?[.test("Count")] == nil { usleep(1000) }
        #expect(FileManager.default.fileExists(atPath: file.path + ".broken") == (depth > 100))
    }
}
