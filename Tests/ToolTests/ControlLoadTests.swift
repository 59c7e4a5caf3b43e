import Foundation
import TestSupport
import Testing

@Suite struct `A program that clients change all the time` {
    /// What no file backs, in KB.
    private func memory(of process: Int32) throws -> Int {
        let text = try String(contentsOfFile: "/proc/\(process)/smaps_rollup", encoding: .utf8)
        let line = try #require(text.split(separator: "\n").first { $0.hasPrefix("Anonymous:") })
        return try #require(line.split(separator: " ").compactMap { Int($0) }.first)
    }

    @Test func `No last value is lost, the file is written now and then, and memory stays as it is`() throws {
        let program = try SetterProgram()
        try #require(mkdir(program.home("runtime"), 0o700) == 0)
        let process = try start(SetterProgram.path, ["follow"], home: program.home)
        defer { process.kill() }
        let socket = program.home("runtime/tweaks/\(process.processID).sock")
        let (setter, reader) = (try ControlClient(socket), try ControlClient(socket))
        _ = try reader.request("subscribe", ["tweaks": ["Setter/Slots/Slot 0"]])
        let silent = try ControlClient(socket)
        _ = try silent.request("subscribe")

        let seconds = isLong ? 60 : 1
        let start = ContinuousClock.now
        var (last, memoryAfterWarming, inodes) = (0, 0, Set<UInt64>())
        while ContinuousClock.now < start + .seconds(seconds) {
            // 10,000 a second, a hundred at a time.
            let requests = (1...100).map { offset in
                (
                    "set",
                    ["tweak": "Setter/Slots/Slot \(offset % 8)", "value": last + offset] as [String: Any]
                )
            }
            _ = try setter.answer(to: try setter.post(requests))
            last += 100
            if let status = FileStatus(program.overridesPath) { inodes.insert(status.inode) }
            if last == 10_000 { memoryAfterWarming = try memory(of: process.processID) }
            let ahead = start + .milliseconds(last / 10) - .now
            if ahead > .zero { usleep(useconds_t(ahead / .microseconds(1))) }
        }
        // What the 96th of the last hundred set.
        let expected = last - 4
        for client in [reader, silent] {
            var value = 0
            while value != expected {
                for change in try client.nextChanges()
                where change["tweak"] as? String == "Setter/Slots/Slot 0" {
                    value = try #require(change["newValue"] as? Int)
                }
            }
        }
        #expect(try waitUntil { try program.overrides()["Setter"]?["Slots"]?["Slot 0"] == expected })
        if isLong {
            #expect(last >= 500_000)
            #expect(try memory(of: process.processID) < memoryAfterWarming + 1024)
        }
        // The file system may use numbers again, so this is the least.
        #expect(inodes.count <= seconds * 20 + 2)
    }
}
