// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// The tests of the example set tweaks, and expect the defaults before. All are planned in the same folder, so one after
/// the other.
@Suite(.serialized) struct `The tests of a package` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    /// The files and folders of the library.
    private var files: [String] {
        let files = FileManager.default.enumerator(atPath: home.path)?.compactMap { $0 as? String } ?? []
        return files.filter { $0.split(separator: "/").contains("tweaks") }
    }

    /// The ids of the processes with this home directory.
    private var processes: [String] {
        get throws {
            try FileManager.default.contentsOfDirectory(atPath: "/proc").filter {
                let variables = FileManager.default.contents(atPath: "/proc/\($0)/environ") ?? Data()
                return variables.range(of: Data("HOME=\(home.path)\0".utf8)) != nil
            }
        }
    }

    private func run(_ environment: [String: String] = [:]) throws -> CommandResult {
        try Example.startTests(home: home, environment: environment).wait()
    }

    private func expectSuccess() throws {
        let result = try run()
        #expect(result.succeeded, "\(result)")
        #expect(
            result.output.contains(#"Test "A run that is killed changes nothing for the next one" passed"#))
    }

    /// Kills `swift test` while a test has set tweaks, and the process of the tests, which goes on.
    private func killRun(_ environment: [String: String] = [:]) throws {
        let file = home("pause")
        let run = try Example.startTests(
            home: home, environment: environment.merging(["SPRING_TESTS_PAUSE": file]) { $1 })
        var tests: Int32?
        defer {
            run.kill()
            if let tests { kill(tests, SIGKILL) }
            #expect(run.wait().status == 128 + SIGKILL)
        }
        // The package manager plans first, which takes minutes on a busy machine.
        while tests == nil, run.isRunning {
            tests = (try? String(contentsOfFile: file, encoding: .utf8)).flatMap { Int32($0) }
            usleep(10_000)
        }
        let running = try #require(tests, "\(run.written)")
        #expect(try processes.contains("\(running)"))
        try FileManager.default.removeItem(atPath: file)
    }

    @Test func `Every run starts with the defaults, even after one that was killed`() throws {
        try expectSuccess()
        try killRun()
        try expectSuccess()
        #expect(files == [])
        #expect(try processes == [])
    }

    @Test func `Only with TWEAKS_TESTING=0 a run keeps what it sets, and sees what is kept`() throws {
        try killRun(["TWEAKS_TESTING": "0"])
        let file = home(try #require(files.first { $0.hasSuffix("/overrides.json") }))
        let kept = try String(contentsOfFile: file, encoding: .utf8)
        #expect(kept.contains("coil") && kept.contains("Repetitions"))

        try expectSuccess()
        #expect(try String(contentsOfFile: file, encoding: .utf8) == kept)

        let result = try run(["TWEAKS_TESTING": "0"])
        #expect(result.status == 1 && result.output.contains(#""coil") == "spring""#), "\(result)")
        #expect(try processes == [])
    }
}
