// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import Glibc
import TestSupport
import Testing
import TweakELF
import TweakMemory
import TweakRecords

@Suite struct `A core` {
    @Test func `has the values of the process`() throws {
        var core = SyntheticCore()
        core.set(0, bytes(Int32(7)))
        core.set(1, bytes((-2.25).bitPattern))
        #expect(try SyntheticCore.values(of: core.content) == ["Count": 7, "Ratio": -2.25, "Mode": "slow"])
    }

    @Test func `has the text of a string cell`() throws {
        var core = SyntheticCore()
        // The category of the first record.
        core.set(2, bytes(SyntheticCore.address + UInt64(core.recordsOffset + RecordLayout.textOffset)))
        #expect(try SyntheticCore.values(of: core.content)["Mode"] == "Core")
    }

    @Test(arguments: [
        1, UInt64.max, UInt64.max - 7, SyntheticCore.address - 1, SyntheticCore.address + 1 << 20,
    ])
    func `whose cell leads nowhere has no text`(address: UInt64) throws {
        var core = SyntheticCore()
        core.set(2, bytes(address))
        let values = try SyntheticCore.values(of: core.content)
        #expect(values["Mode"] == nil && values["Count"] == 5)
    }

    @Test func `without names of files is refused, because nothing could be found in it`() throws {
        var content = SyntheticCore().content
        let type = try #require(content.firstRange(of: bytes(UInt32(0x4649_4C45)))?.lowerBound)
        content[type] = 0
        #expect(throws: MemoryError.self) { try CoreMemory(bytes: content, path: "core") }
    }

    @Test func `is not read as a binary`() throws {
        let directory = try TemporaryDirectory()
        let path = try directory.write("core", Data(SyntheticCore().content))
        #expect(throws: ELFError.core(path: path)) {
            try ELFFile(path: path).forEachObject { (object) throws(ELFError) in _ = try object.recordRanges()
            }
        }
    }

    @Test func `names the executable`() throws {
        let memory = try CoreMemory(bytes: SyntheticCore().content, path: "core")
        #expect(memory.executable == SyntheticCore.path)
    }

    @Test func `names the file that it needs for missing pages`() throws {
        var core = SyntheticCore()
        core.dumped = 4096
        let memory = try CoreMemory(bytes: core.content, path: "core")
        let found = try MemoryImages(in: memory, executable: nil)
        #expect(found.images.isEmpty)
        #expect(
            found.problems == [
                "/nowhere/program: its tweaks are not in the core, and there is no file with the same build id"
            ])
    }

    @Test func `reports that the executable is missing`() throws {
        var core = SyntheticCore()
        core.dumped = 0
        let memory = try CoreMemory(bytes: core.content, path: "core")
        let found = try MemoryImages(in: memory, executable: memory.executable)
        #expect(
            found.problems == ["/nowhere/program: it is neither in memory nor a readable file"]
        )
    }

    @Test(arguments: [
        ([], "it does not start like an ELF file"),
        (Array("core".utf8), "it does not start like an ELF file"),
        (SyntheticCore().image, "it is another kind of ELF file"),
        (Array(SyntheticCore().content.prefix(100)), "it is cut off"),
    ])
    func `is not accepted if it is another kind of file`(content: [UInt8], reason: String) {
        #expect(throws: MemoryError.noCore(path: "file", reason: reason)) {
            try CoreMemory(bytes: content, path: "file")
        }
    }

    @Test func `with endless notes in an image is read by the notes in the file`() throws {
        var core = SyntheticCore()
        // The offset of the second program header, and its size in memory.
        core.image.replaceSubrange(128..<136, with: bytes(UInt64(1 << 20)))
        core.image.replaceSubrange(160..<168, with: bytes(UInt64.max / 8))
        #expect(try SyntheticCore.values(of: core.content)["Count"] == 5)
    }

    @Test func `that is damaged is read as far as possible`() {
        let core = SyntheticCore().content
        for damaged in damaged(core, count: isLong ? 20_000 : 1000) {
            _ = try? SyntheticCore.values(of: damaged)
        }
    }
}

@Suite struct `Reasons why memory cannot be read` {
    private func rule(
        users: String = "1000\t1000\t1000\t1000", capabilities: String = "0", own: UInt32 = 1000,
        owner: UInt32? = 1000,
        yama: Int? = nil
    ) -> AccessRule {
        AccessRule(
            status: "Name:\tbare\nUid:\t\(users)\nCapPrm:\t\(capabilities)\n",
            ownStatus: "Uid:\t\(own)\t\(own)\t\(own)\t\(own)\nCapEff:\t\(own == 0 ? "1ffffffffff" : "0")\n",
            owner: owner,
            yamaScope: yama)
    }

    @Test func `The user, its capabilities, and Yama`() {
        #expect(rule(users: "0\t0\t0\t0") == .otherUser("root"))
        #expect(rule(users: "1000\t0\t0\t0") == .otherUser("root"))
        #expect(rule(capabilities: "2000") == .capabilities)
        #expect(rule(owner: 0) == .notDumpable)
        #expect(rule(yama: 1) == .yama(1))
        #expect(rule(own: 0, yama: 3) == .yama(3))
        #expect(rule(yama: 0) == .unknown && rule() == .unknown)
        #expect(AccessRule(status: "", ownStatus: "", owner: nil, yamaScope: nil) == .unknown)
    }

    @Test(arguments: [
        (AccessRule.otherUser("root"), ["a process of root", "as root"]),
        (.capabilities, ["capabilities", "as root"]),
        (.notDumpable, ["not dumpable", "as root"]),
        (.yama(1), ["kernel.yama.ptrace_scope is 1", "as root", "sysctl", "PR_SET_PTRACER"]),
        (.yama(2), ["kernel.yama.ptrace_scope is 2", "as root", "sysctl"]),
        (.yama(3), ["kernel.yama.ptrace_scope is 3", "until a reboot"]), (.unknown, ["security module"]),
    ])
    func `The message names the rule and the remedies`(rule: AccessRule, parts: [String]) {
        for part in parts + ["link the program with the Tweaks library"] {
            #expect(rule.description.contains(part), "\(rule.description)")
        }
    }
}

@Suite struct `Seeds of the fuzzers` {
    @Test(arguments: ["values", "text"]) func `has tweaks`(name: String) throws {
        let path = Locations.package + "/tools/development/fuzzing/corpus/core/" + name
        let core = Array(try Data(contentsOf: URL(fileURLWithPath: path)))
        let values = try SyntheticCore.values(of: core)
        #expect(values["Count"] == 7 && values["Mode"] == (name == "text" ? "Core" : "slow"))
    }
}
