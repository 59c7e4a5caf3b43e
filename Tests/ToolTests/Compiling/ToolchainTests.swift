// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// What `tools/development/toolchains` says of single cells of its table.
@Suite struct `The table of toolchains` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    /// A static program with a sanitizer, which GCC refuses, or without one.
    private func table(_ sanitizer: String, cannot: String) throws -> CommandResult {
        try run(
            Locations.package + "/tools/development/toolchains",
            [
                "--only", "gcc", "bfd", "static", "O2", sanitizer, "C11", "--cannot",
                home.write("cannot.json", cannot), "--tweak-dump", Locations.product("tweak-dump"),
            ], home: home)
    }

    private static let listed = #"""
        [{"cells": {"compiler": ["gcc"], "link": ["static"], "sanitizer": ["ASan", "plain"]}, "reason": "in a test"}]
        """#

    @Test func `A cell that cannot, and is in the list, is not a failure`() throws {
        let result = try table("ASan", cannot: Self.listed)
        #expect(result.succeeded && result.output.contains("0 ok, 1 cannot, 0 FAIL"), "\(result.output)")
    }

    @Test func `A cell that cannot, and is not in the list, is a failure`() throws {
        let result = try table("ASan", cannot: "[]")
        #expect(
            result.status == 1 && result.output.contains("it cannot, which is not in the list: gcc: error: "))
    }

    @Test func `A cell that can, and is in the list, is a failure`() throws {
        let result = try table("plain", cannot: Self.listed)
        #expect(result.status == 1 && result.output.contains("it can, although it is in the list: in a test"))
    }

    @Test func `A root has compilers`() throws {
        let result = try run(
            Locations.package + "/tools/development/toolchains", ["--root", home.path], home: home)
        #expect(result.status == 69 && result.error.contains("/usr/bin has no gcc-N and no clang-N"))
    }

    @Test func `Each entry of the list has cells and a reason`() throws {
        let path = Locations.package + "/tools/development/toolchain-probe/cannot.json"
        let data = try #require(FileManager.default.contents(atPath: path))
        let entries = try #require(try JSONSerialization.jsonObject(with: data) as? [[String: Any]])
        let dimensions = ["compiler", "linker", "link", "optimization", "sanitizer", "standard"]
        for entry in entries {
            let cells = try #require(entry["cells"] as? [String: [String]])
            #expect(!cells.isEmpty && cells.keys.allSatisfy(dimensions.contains), "\(entry)")
            #expect((entry["reason"] as? String)?.isEmpty == false, "\(entry)")
        }
    }
}
