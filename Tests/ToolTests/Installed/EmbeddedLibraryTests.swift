// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A program with the library that `tools/development/embedded` makes, and the installed commands.
private struct EmbeddedProgram {
    let home: TemporaryDirectory
    let program: String
    /// The folder of the values that processes have.
    let values: String
    private let library: String

    /// `nil` if the toolchain has no Embedded Swift.
    init?() throws {
        home = try TemporaryDirectory()
        library = home("libtweaks.so.0")
        values = home("values")
        for folder in [home("runtime"), values] { try #require(mkdir(folder, 0o700) == 0) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Locations.package + "/tools/development/embedded")
        process.arguments = ["--library", library]
        let result = try RunningCommand(process).wait()
        if result.status == 69 { return nil }
        try #require(result.succeeded, "\(result.output)\(result.error)")
        program = home("truth")
        try Compiler.gcc.compile(
            [Locations.package + "/Tests/Programs/truth/program.c"], to: program,
            ["-std=gnu11", "-DDEBUG=1", "-DGATE=1"], home: home)
    }

    func start() throws -> RunningCommand {
        try TestSupport.start(
            program, ["run", values, "0"], home: home, environment: ["LD_PRELOAD": library])
    }

    /// The value that a new process begins with.
    func first() throws -> String {
        try TestSupport.run(program, ["once"], home: home, environment: ["LD_PRELOAD": library]).output
    }

    /// The value that the running process has.
    func value() throws -> String { try TestSupport.run(program, ["measure", values], home: home).output }

    func tweak(_ arguments: String...) throws -> String {
        let result = try TestSupport.run(Installation.path("bin/tweak"), arguments, home: home)
        #expect(result.succeeded && result.error.isEmpty, "\(arguments): \(result)")
        return result.output
    }
}

@Suite(.enabled(if: isLong && sanitizer == nil)) struct `The library as Embedded Swift` {
    @Test func `Embedded Swift lists, sets, leases and keeps tweaks, and goes back`() throws {
        guard let program = try EmbeddedProgram() else { return }
        let process = try program.start()
        defer {
            process.kill()
            let result = process.wait()
            #expect(result.status == 128 + SIGKILL && result.error.isEmpty, "\(result)")
        }
        let name = "\(process.processID)"
        let socket = program.home("runtime/tweaks/\(name).sock")
        try #require(waitUntil { access(socket, F_OK) == 0 || !process.isRunning })
        #expect(try program.tweak("list", name).contains("Truth / Values\n"))
        #expect(try program.first() == "1\n")

        _ = try program.tweak("set", name, "Truth/Values/A", "150")
        #expect(try waitUntil { try program.value() == "150\n" })
        #expect(try program.first() == "150\n")

        let leased = try program.tweak(
            "set", name, "Truth/Values/A", "+=10%", "--while", "--", program.program, "measure",
            program.values)
        #expect(leased.contains("165\n"))
        #expect(try waitUntil { try program.value() == "150\n" })
        #expect(try program.first() == "150\n")

        _ = try program.tweak("undo", name)
        #expect(try waitUntil { try program.value() == "1\n" })
        #expect(try program.first() == "1\n")
        #expect(try program.tweak("log", name).contains("Truth/Values/A"))
    }
}
