// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A mount namespace in which the libraries of the Swift toolchain are not there.
private struct MachineWithoutSwift {
    let home: TemporaryDirectory
    let prefix: String
    /// What `unshare` is told before the program and its arguments.
    private let arguments: [String]

    init() throws {
        home = try TemporaryDirectory()
        prefix = try Installation.prefix.get()
        let script = "mount -t tmpfs none \"$0\" && exec \"$@\""
        arguments = ["--map-root-user", "--mount", "sh", "-c", script, try Self.swiftLibraries()]
    }

    /// Whether this process may make a namespace; containers often forbid it.
    static let isAllowed: Bool = {
        guard let home = try? TemporaryDirectory(), let unshare = try? Locations.program("unshare") else {
            return false
        }
        let result = try? TestSupport.run(
            unshare, ["--map-root-user", "--mount", "mount", "-t", "tmpfs", "none", home.path], home: home)
        return result?.succeeded ?? false
    }()

    private static func swiftLibraries() throws -> String {
        struct TargetInfo: Decodable {
            struct Paths: Decodable { let runtimeResourcePath: String }
            let paths: Paths
        }
        let process = try TestSupport.run(
            Locations.program("swiftc"), ["-print-target-info"], home: TemporaryDirectory())
        return try JSONDecoder().decode(TargetInfo.self, from: Data(process.output.utf8)).paths
            .runtimeResourcePath
    }

    func run(_ program: String, _ arguments: String..., environment: [String: String] = [:]) throws
        -> CommandResult
    {
        // `env` because the shell would be started with the library, too.
        let settings = environment.map { "\($0)=\($1)" }
        return try TestSupport.run(
            Locations.program("unshare"), self.arguments + ["env"] + settings + [program] + arguments,
            home: home,
            environment: ["LD_LIBRARY_PATH": ""])
    }
}

@Suite struct `Without Swift` {
    @Test(.enabled(if: MachineWithoutSwift.isAllowed, "this needs a mount namespace"))
    func `Commands and preloaded library work on a machine that has no Swift`() throws {
        let machine = try MachineWithoutSwift()
        let program = machine.home("frames")
        try Compiler.gcc.compile(
            [Locations.package + "/tools/development/packaging/examples/frames.c"], to: program, ["-DDEBUG"],
            home: machine.home)

        #expect(try machine.run(SetterProgram.path, "show").status == 127, "Swift's libraries are hidden")
        let commands = machine.prefix + "/bin/"
        #expect(try machine.run(commands + "tweak-dump", program).output.contains("Glyph"))
        let set = try machine.run(commands + "tweak", "set", program, "Frames/Ball/Glyph", "#")
        #expect(set.succeeded, "\(set.error)")
        let library = machine.prefix + "/lib/libtweaks.so.0"
        let result = try machine.run(program, environment: ["LD_PRELOAD": library])
        #expect(result.output.split(separator: "\n").last == "        #")
        #expect(result.error.isEmpty)
    }

    @Test(arguments: [
        "bin/tweak", "bin/tweak-dump", "lib/libtweaks.so",
    ])
    func `What is installed names neither Swift's libraries nor the toolchain`(file: String) throws {
        let result = try run(
            Locations.program("readelf"), ["-dW", Installation.path(file)], home: TemporaryDirectory())
        #expect(result.output.contains("[libc.so.6]"))
        for name in ["libswift", "libFoundation", "lib_Foundation", "libdispatch", "RPATH", "RUNPATH"] {
            #expect(!result.output.contains(name))
        }
    }

    @Test func `The library has a soname and exports nothing, so that no program's symbol meets one of it`()
        throws
    {
        let home = try TemporaryDirectory()
        let library = try Installation.path("lib/libtweaks.so")
        let dynamic = try run(Locations.program("readelf"), ["-dW", library], home: home)
        #expect(dynamic.output.contains("soname: [libtweaks.so.0]"))
        let symbols = try run(
            Locations.program("nm"), ["--dynamic", "--defined-only", library], home: home)
        #expect(symbols.succeeded)
        #expect(symbols.output.isEmpty)
    }
}
