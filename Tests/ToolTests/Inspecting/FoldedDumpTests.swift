// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `The table of tweak-dump` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func rows(_ tweaks: [AssembledTweak]) throws -> [String] {
        let object = try AssembledTweak.object(tweaks, home: home)
        return try dump([object], home: home).output.split(separator: "\n").map {
            $0.replacing(object, with: "object").split(separator: " ").joined(separator: " ")
        }
    }

    @Test func `Declarations that say the same are one row`() throws {
        #expect(
            try rows([
                .integer("Items", 64, "at=aof.c:1789"), .integer("Items", 64, "at=aof.c:1900"),
                .integer("Other", 1, "at=b.c:1"), .integer("Items", 64, "at=rdb.c:5"),
            ]) == [
                "object (x86_64)", "NAME TYPE DEFAULT DECLARED AT", "Test / Values",
                "Items int64 64 aof.c:1789 and 2 more", "Other int64 1 b.c:1",
            ])
    }

    @Test func `Declarations that differ are not`() throws {
        #expect(
            try rows([.integer("Items", 64, "at=a.c:1"), .integer("Items", 65, "at=a.c:2")]).suffix(2) == [
                "Items int64 64 a.c:1", "Items int64 65 a.c:2",
            ])
    }

    @Test func `Files are shown below the folder that they have in common`() throws {
        #expect(
            try rows([
                .integer("A", 1, "at=/home/ada/game/src/a.c:1"),
                .integer("B", 2, "at=/home/ada/game/source/b/b.c:2"),
            ]) == [
                "object (x86_64), declared in /home/ada/game", "NAME TYPE DEFAULT DECLARED AT",
                "Test / Values", "A int64 1 src/a.c:1", "B int64 2 source/b/b.c:2",
            ])
        #expect(
            try rows([.integer("A", 1, "at=/a.c:1"), .integer("B", 2, "at=/b.c:2")]).suffix(2) == [
                "A int64 1 /a.c:1", "B int64 2 /b.c:2",
            ])
        #expect(try rows([.integer("A", 1, "at=/src/é.c:1"), .integer("B", 2)]).last == "B int64 2")
    }
}
