// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// The program in `Tests/Programs/guests` with a home of its own, where an override is kept.
private struct Host {
    let home: TemporaryDirectory
    let build: ProgramBuild
    var overridesPath: String { home("config/tweaks/guests/overrides.json") }

    init(_ build: ProgramBuild) throws {
        self.build = build
        home = try TemporaryDirectory()
        for folder in ["root", "runtime"] { try #require(mkdir(home(folder), 0o700) == 0) }
        try home.write("config/tweaks/guests/overrides.json", #"{"Host": {"Mixer": {"Level": 6}}}"#)
    }

    func run(_ scenario: String, environment: [String: String] = [:]) throws -> CommandResult {
        // What is preloaded comes before the library that a program was linked with, and behind one that is preloaded.
        let library = try build.environment["LD_PRELOAD"]
        let preloaded = [environment["LD_PRELOAD"], library].compactMap(\.self)
        return try TestSupport.run(
            build.path("guests"), [scenario], home: home,
            environment: [
                "HOST_OVERRIDES": overridesPath, "HOST_ROOT": home("root"), "HOST_STACK": "\(64 << 10)",
            ].merging(environment) { $1 }.merging(
                preloaded.isEmpty ? [:] : ["LD_PRELOAD": preloaded.joined(separator: ":")]
            ) { $1 })
    }

    /// What is kept of a tweak.
    func kept(_ collection: String = "Mixer", _ name: String = "Level") throws -> Int? {
        let data = try Data(contentsOf: URL(fileURLWithPath: overridesPath))
        let all = try JSONSerialization.jsonObject(with: data) as? [String: [String: [String: Any]]]
        return all?["Host"]?[collection]?[name] as? Int
    }
}

@Suite(.enabled(if: sanitizer == nil)) struct `Hosts are no worse off with what is installed` {
    @Test(arguments: ProgramBuild.all)
    func `Exceptions of callbacks reach the host's handlers`(build: ProgramBuild) throws {
        let result = try Host(build).run("throws")
        #expect(result.succeeded && result.error.isEmpty, "\(result)")
    }

    @Test(
        arguments: [
            ("main-thread-exits", 7), ("main-thread-exits-late", 7), ("main-thread-exits-first", 8),
        ], ProgramBuild.all)
    func `A program whose main thread calls pthread_exit ends with its last thread`(
        scenario: (name: String, level: Int), build: ProgramBuild
    ) throws {
        let host = try Host(build)
        let result = try host.run(scenario.name)
        #expect(result.succeeded && result.output == "goodbye\n" && result.error.isEmpty, "\(result)")
        #expect(try host.kept() == scenario.level)
    }

    @Test(arguments: ProgramBuild.all)
    func `A program whose main thread never finishes exiting follows its file`(build: ProgramBuild)
        throws
    {
        let result = try Host(build).run("main-thread-parks")
        #expect(result.succeeded && result.error.isEmpty, "\(result)")
    }

    @Test(
        arguments: [
            ("becomes-daemon", 119), ("becomes-daemon-twice", 159), ("becomes-daemon-late", 130),
            ("leaves-a-child", 141),
        ],
        ProgramBuild.all)
    func `A program that becomes a daemon after a set saves the value once, and holds no lock`(
        scenario: (name: String, level: Int), build: ProgramBuild
    ) throws {
        let host = try Host(build)
        let result = try host.run(scenario.name)
        // The last of many, after the process that was started.
        #expect(result.succeeded && result.output == "still there\n" && result.error.isEmpty, "\(result)")
        #expect(try host.kept() == scenario.level)
    }

    @Test(arguments: ProgramBuild.all)
    func `Children inherit no lock from a parent that sets`(build: ProgramBuild) throws {
        let host = try Host(build)
        let result = try host.run("forks-while-it-sets")
        #expect(result.succeeded && result.error.isEmpty, "\(result)")
        #expect(try host.kept() == 249)
    }

    @Test(
        arguments: [
            "may-not-poll", "may-not-read", "may-not-start-threads", "may-open-no-files", "has-no-memory",
        ],
        ProgramBuild.all)
    func `A program that loses system calls or memory survives`(
        scenario: String, build: ProgramBuild
    ) throws {
        let result = try Host(build).run(scenario)
        #expect(result.succeeded, "\(result)")
        // Each thing is said once.
        let lines = result.error.split(separator: "\n").map { $0.drop { $0 != "[" } }
        #expect(Set(lines).count == lines.count && lines.count <= 3, "\(result.error)")
    }

    @Test(.enabled(if: geteuid() == 0, "needs root"), arguments: ProgramBuild.all)
    func `A program in a chroot keeps its values, and reads nothing there`(
        build: ProgramBuild
    ) throws {
        let host = try Host(build)
        let result = try host.run("changes-root")
        #expect(result.succeeded, "\(result)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: host.home("root")).isEmpty)
        #expect(try host.kept() == 6)
    }

    @Test(arguments: ProgramBuild.all)
    func `A signal handler can read through a handle at any time`(build: ProgramBuild) throws {
        let result = try Host(build).run("reads-in-handler")
        #expect(result.succeeded && result.error.isEmpty, "\(result)")
    }

    /// The thread may hold any lock of the library then.
    @Test(arguments: ProgramBuild.all)
    func `A signal handler can exit while its thread is inside the library`(build: ProgramBuild) throws {
        let host = try Host(build)
        for round in 1...(isLong ? 200 : 10) {
            // Half of them while the library's thread is there.
            let delay = round % 2 == 0 ? 300_000 + 37 * round : 370 * round
            let process = try start(
                build.path("guests"), ["exits-in-handler"], home: host.home,
                environment: ["HOST_OVERRIDES": host.overridesPath, "HOST_EXITS": "\(delay)"]
                    .merging(build.environment) { $1 })
            let hasEnded = waitUntil { !process.isRunning }
            if !hasEnded { process.kill() }
            let result = process.wait()
            #expect(hasEnded && result.succeeded && result.output == "goodbye\n", "\(delay): \(result)")
            #expect(result.error.isEmpty)
            #expect(throws: Never.self) { try host.kept() }
            let sockets = try? FileManager.default.contentsOfDirectory(atPath: host.home("runtime/tweaks"))
            #expect((sockets ?? []).allSatisfy { !$0.hasSuffix(".sock") }, "\(sockets ?? [])")
        }
    }

    @Test(arguments: ProgramBuild.all)
    func `A thread with the documented minimum stack can set`(build: ProgramBuild) throws {
        let host = try Host(build)
        let result = try host.run("has-small-stack")
        #expect(result.succeeded && result.error.isEmpty, "\(result)")
        #expect(try host.kept() == 18)
    }

    @Test(arguments: ProgramBuild.all)
    func `A flush before exec saves everything, and leaves nothing behind`(build: ProgramBuild) throws {
        let host = try Host(build)
        try host.home.write("config/tweaks/guests/overrides.json.tmp", "of a writer that was killed")
        let result = try host.run("calls-exec")
        #expect(result.succeeded && result.error.isEmpty, "\(result)")
        #expect(try host.kept() == 20)
        let left = try FileManager.default.contentsOfDirectory(atPath: host.home("config/tweaks/guests"))
        #expect(left.sorted() == ["overrides.json", "overrides.json.lock"])
    }

    @Test(arguments: ProgramBuild.all)
    func `A set in a later library destructor is saved`(build: ProgramBuild) throws {
        let host = try Host(build)
        let library = host.home("liblate.so")
        try Compiler.gcc.compile(
            [Locations.package + "/Tests/Programs/guests/late/late.c"], to: library,
            ["-std=gnu11", "-shared", "-fPIC", "-DDEBUG=1"], home: host.home)
        let result = try host.run(
            "sets-and-returns", environment: ["LD_PRELOAD": library, "HOST_SETS_LATE": "1"])
        #expect(result.succeeded && result.error.isEmpty, "\(result)")
        #expect(try host.kept() == 19)
        #expect(try host.kept("Late", "Count") == 42)
    }

    /// Other allocators, before the library and its constructors.
    @Test(
        arguments: [
            "libtcmalloc_minimal.so.4", "libjemalloc.so.2", "libmimalloc.so.2",
            "libmemusage.so",
        ],
        ProgramBuild.all)
    func `A program with another allocator starts, sets and saves`(allocator: String, build: ProgramBuild)
        throws
    {
        let host = try Host(build)
        for level in 1...(isLong ? 50 : 3) {
            let result = try host.run("sets-and-returns", environment: ["LD_PRELOAD": allocator])
            // memusage prints what was allocated.
            #expect(
                result.succeeded && (allocator == "libmemusage.so" || result.error.isEmpty),
                "\(level): \(result)")
            #expect(try host.kept() == 19)
        }
    }

    @Test(arguments: ProgramBuild.all)
    func `No thread frees memory after the end of an allocator`(build: ProgramBuild) throws {
        let host = try Host(build)
        let library = host.home("libended.so")
        try Compiler.gcc.compile(
            [Locations.package + "/Tests/Programs/guests/ended/ended.c"], to: library,
            ["-std=gnu11", "-shared", "-fPIC"], home: host.home)
        // Only the first changes a value.
        for _ in 1...5 {
            let result = try host.run("sets-and-returns", environment: ["LD_PRELOAD": library])
            #expect(result.succeeded && result.error.isEmpty, "\(result)")
            #expect(try host.kept() == 19)
        }
    }

    @Test func `ThreadSanitizer finds no races in the library`() throws {
        let host = try Host(ProgramBuild.usual)
        let (compiler, program) = (Compiler.gcc, host.home("watched"))
        let libraries = try Installation.path("lib")
        try compiler.compile(
            [Locations.package + "/Tests/Programs/guests/crowd/crowd.c"], to: program,
            [
                "-std=gnu11", "-g", "-DDEBUG=1", "-fsanitize=thread", "-pthread", "-Wl,--no-as-needed",
                "-Wl,-rpath,\(libraries)", "-L\(libraries)", "-ltweaks",
            ], home: host.home)
        let result = try TestSupport.run(program, home: host.home)
        #expect(result.succeeded && result.error.isEmpty, "\(result)")
    }
}

@Suite(.enabled(if: sanitizer == nil)) struct `The installed library as a file` {
    private func read(_ options: String...) throws -> [Substring] {
        let home = try TemporaryDirectory()
        let result = try TestSupport.run(
            Locations.program("readelf"), ["--wide"] + options + [Installation.path("lib/libtweaks.so.0")],
            home: home)
        try #require(result.succeeded, "\(result.error)")
        return result.output.split(separator: "\n")
    }

    @Test func `It depends only on the C library and the unwinder, and with a Swift runtime on libelf`()
        throws
    {
        let needed = try read("--dynamic").filter { $0.contains("(NEEDED)") }
            .compactMap { $0.split(separator: "[").last?.prefix { $0 != "]" } }
        // Those of the C library are one in newer versions.
        let allowed: Set<Substring> = try [
            Installation.hasSwiftRuntime ? "libelf.so.1" : "", "libgcc_s.so.1", "libc.so.6", "libm.so.6",
            "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1",
        ]
        #expect(Set(needed).isSubset(of: allowed) && needed.contains("libgcc_s.so.1"), "\(needed)")
    }

    @Test func `It starts without libelf, unless it has a Swift runtime`() throws {
        guard try !Installation.hasSwiftRuntime else { return }
        let home = try TemporaryDirectory()
        let source = try home.write("main.c", "int main(void) { return 0; }")
        try Compiler.gcc.compile([source], to: home("program"), Installation.linkerFlags, home: home)
        // The dynamic linker takes it for libelf.
        try home.write("broken/libelf.so.1", "")
        let result = try TestSupport.run(
            home("program"), home: home, environment: ["LD_LIBRARY_PATH": home("broken")])
        #expect(result.succeeded && result.error.isEmpty, "\(result)")
    }

    @Test func `It exports nothing`() throws {
        // Index, value, size, type, binding, visibility, section, name.
        let exported = try read("--dyn-syms").map { $0.split(separator: " ") }.filter {
            $0.count >= 8 && ["GLOBAL", "WEAK"].contains($0[4]) && $0[6] != "UND"
        }
        #expect(exported.isEmpty, "\(exported)")
    }

    @Test func `It contains no unwinder`() throws {
        let symbols = try read("--dyn-syms").map { $0.split(separator: " ") }.filter { $0.count >= 8 }
        for function in ["_Unwind_RaiseException", "_Unwind_Resume", "_Unwind_Backtrace"] {
            let section = symbols.first { $0[7].split(separator: "@").first == function[...] }?[6]
            #expect(section == "UND", "\(function)")
        }
    }

    @Test
    func `It has no writable and executable segments, and relocations are read-only`()
        throws
    {
        let segments = try read("--segments").map { $0.split(separator: " ") }
        #expect(segments.contains { $0.first == "GNU_RELRO" })
        #expect(segments.contains { $0.first == "LOAD" })
        for segment in segments where ["LOAD", "GNU_STACK"].contains(segment.first) {
            let rights = segment.dropFirst(6).dropLast().joined()
            #expect(!(rights.contains("W") && rights.contains("E")), "\(segment)")
        }
        let dynamic = try read("--dynamic")
        #expect(dynamic.contains { $0.contains("NOW") })
        #expect(!dynamic.contains { $0.contains("TEXTREL") })
    }
}
