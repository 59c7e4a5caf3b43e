// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A machine or C library for which `tools/install --target` installs the library.
private enum OtherMachine: String, CaseIterable, CustomTestStringConvertible {
    case aarch64 = "aarch64-linux-gnu"
    case riscv64 = "riscv64-linux-gnu"
    case musl = "x86_64-linux-musl"

    var testDescription: String { rawValue }

    /// The root of a system of it, if somebody put one there. Debian's packages for cross compilation do, too, except for musl.
    var sysroot: String? {
        let folder = "\(Locations.package)/.build/sysroot-\(rawValue)"
        return access(folder, F_OK) == 0 ? folder : nil
    }

    /// The dynamic linker in programs.
    private var usualLoader: String {
        switch self {
        case .aarch64: "/lib/ld-linux-aarch64.so.1"
        case .riscv64: "/lib/ld-linux-riscv64-lp64d.so.1"
        case .musl: "/lib/ld-musl-x86_64.so.1"
        }
    }

    /// The dynamic linker on this machine.
    var loader: String {
        guard let sysroot, access(sysroot + usualLoader, X_OK) == 0 else { return usualLoader }
        return sysroot + usualLoader
    }

    /// The processor in the ELF header.
    var processor: UInt16 {
        switch self {
        case .aarch64: UInt16(EM_AARCH64)
        case .riscv64: UInt16(EM_RISCV)
        case .musl: UInt16(EM_X86_64)
        }
    }

    /// The program that runs those of the machine; `nil` if this machine does.
    func emulator() throws -> String? {
        guard self != .musl else { return nil }
        let name = "qemu-" + rawValue.prefix { $0 != "-" }
        return try (try? Locations.program("\(name)-static")) ?? Locations.program(name)
    }

    /// The options of the Swift toolchain's clang, which also `tools/install` links with.
    var compilerOptions: [String] {
        ["--target=\(rawValue)"] + (sysroot.map { ["--sysroot=\($0)"] } ?? [])
            + (self == .riscv64 ? ["-march=rv64gc", "-mabi=lp64d"] : [])
    }
}

/// A program that is linked with the installed library of another machine, and the commands of this one.
private struct EmulatedProgram {
    let machine: OtherMachine
    let home: TemporaryDirectory
    let destination: TemporaryDirectory
    /// The folder of the values that processes have.
    let values: String
    /// The installed library.
    let library: String
    private let program: String
    private let observer: String
    private let libraries: String

    /// `nil` if something for the machine is missing here, and the test cannot be skipped.
    init?(for machine: OtherMachine) throws {
        self.machine = machine
        home = try TemporaryDirectory()
        destination = try TemporaryDirectory()
        values = home("values")
        for folder in [home("runtime"), values] { try #require(mkdir(folder, 0o700) == 0) }
        _ = try machine.emulator()
        let installed = try Self.install(machine, in: destination)
        if installed.status == EX_UNAVAILABLE {
            #if compiler(>=6.3)
            try Test.cancel(Comment(rawValue: installed.error))
            #else
            return nil
            #endif
        }
        try #require(installed.succeeded, "\(installed.error)")

        let folder = destination("opt/tweaks/lib/\(machine.rawValue)")
        library = "\(folder)/libtweaks.so.0"
        program = home("truth")
        observer = home("observer")
        libraries =
            ([folder]
            + (machine.sysroot.map { ["\($0)/usr/lib/\(machine.rawValue)", "\($0)/usr/lib"] } ?? []))
            .joined(separator: ":")
        try link(
            to: program, ["-L\(folder)", "-Wl,--no-as-needed", "-ltweaks", "-Wl,--allow-shlib-undefined"])
        try Compiler.gcc.compile([Self.source], to: observer, options, home: home)
    }

    private static let source = Locations.package + "/Tests/Programs/truth/program.c"
    private var options: [String] {
        ["-std=gnu11", "-DDEBUG=1", "-DGATE=1", "-I", destination("opt/tweaks/include")]
    }

    private func link(to path: String, _ libraryOptions: [String]) throws {
        let linked = try run(
            Locations.program("bash"),
            ["-euc", "cd \(Locations.package); . tools/development/building; tweaks_clang \"$@\"", "bash"]
                + machine.compilerOptions + options
                + [Self.source, "-o", path, "-fuse-ld=lld", "-Wl,--dynamic-linker=\(machine.loader)"]
                + libraryOptions,
            home: home)
        try #require(linked.succeeded, "\(linked.error)")
    }

    /// Links the program, with the same name, without the library.
    func linkWithoutLibrary() throws -> String {
        try #require(mkdir(home("bare"), 0o700) == 0)
        let path = home("bare/truth")
        try link(to: path, [])
        return path
    }

    private static func install(
        _ machine: OtherMachine, in destination: TemporaryDirectory, _ options: String...
    ) throws -> CommandResult {
        try Installation.install(
            ["--target", machine.rawValue, "--prefix", "/opt/tweaks", "--destdir", destination.path]
                + ["--libdir", "lib/\(machine.rawValue)"]
                + (machine.sysroot.map { ["--sysroot", $0] } ?? []) + options)
    }

    func uninstall() throws -> CommandResult { try Self.install(machine, in: destination, "--uninstall") }

    func start(_ arguments: String...) throws -> RunningCommand {
        // The emulator itself is for this machine.
        guard let emulator = try machine.emulator() else {
            return try TestSupport.start(
                program, arguments, home: home, environment: ["LD_LIBRARY_PATH": libraries])
        }
        return try TestSupport.start(
            emulator, ["-E", "LD_LIBRARY_PATH=\(libraries)", program] + arguments, home: home)
    }

    /// The value that a new process begins with.
    func first() throws -> String {
        let result = try start("once").wait()
        #expect(result.succeeded && result.error.isEmpty, "\(result)")
        return result.output
    }

    /// The smallest value that running processes have.
    func value() throws -> String { try TestSupport.run(observer, ["measure", values], home: home).output }

    /// The running processes.
    func processes() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: values).filter {
            access(home("runtime/tweaks/\($0).sock"), F_OK) == 0
        }
    }

    @discardableResult
    func tweak(_ arguments: String...) throws -> String {
        let result = try TestSupport.run(Installation.path("bin/tweak"), arguments, home: home)
        #expect(result.succeeded && result.error.isEmpty, "\(arguments): \(result)")
        return result.output
    }

    /// Sets a value while the observer runs, and returns what that saw.
    func lease(_ process: String, _ change: String) throws -> String {
        try tweak(
            "set", process, "Truth/Values/A", change, "--while", "--", observer, "measure", values)
    }
}

/// Each library takes minutes to compile.
@Suite(.enabled(if: isLong && sanitizer == nil), .serialized) struct `The library for another machine` {
    @Test(arguments: OtherMachine.allCases)
    fileprivate func `is installed, serves the commands of this one, and is removed`(machine: OtherMachine)
        throws
    {
        guard let program = try EmulatedProgram(for: machine) else { return }
        try expectInstalled(program)
        try expectTunable(program)
        try expectStarted(program)
        try expectForking(program)

        let removed = try program.uninstall()
        #expect(removed.succeeded, "\(removed.error)")
        #expect(try FileManager.default.contentsOfDirectory(atPath: program.destination.path) == [])
    }

    private func expectInstalled(_ program: EmulatedProgram) throws {
        let prefix = program.destination("opt/tweaks")
        let library = "\(prefix)/lib/\(program.machine.rawValue)"
        #expect(
            try FileManager.default.contentsOfDirectory(atPath: prefix).sorted() == [
                "include", "lib", "share",
            ])
        for path in [
            "\(library)/pkgconfig/tweaks.pc", "\(library)/cmake/tweaks/tweaks-config.cmake",
            "\(prefix)/share/man/man3/FBTweakValue.3", "\(prefix)/share/doc/tweaks/LICENSE",
        ] {
            #expect(access(path, R_OK) == 0, "\(path)")
        }
        let header = try #require(FileManager.default.contents(atPath: "\(library)/libtweaks.so.0")).prefix(
            20)
        #expect(UInt16(header[18]) | UInt16(header[19]) << 8 == program.machine.processor)
    }

    private func expectTunable(_ program: EmulatedProgram) throws {
        let process = try program.start("run", program.values, "0")
        defer {
            process.kill()
            let result = process.wait()
            #expect(result.status == 128 + SIGKILL && result.error.isEmpty, "\(result)")
        }
        let name = "\(process.processID)"
        try #require(waitUntil { try program.processes() == [name] || !process.isRunning })
        #expect(try program.tweak("list", name).contains("Truth / Values\n"))
        #expect(try program.first() == "1\n")

        try program.tweak("set", name, "Truth/Values/A", "150")
        #expect(try waitUntil { try program.value() == "150\n" })
        #expect(try program.first() == "150\n")

        #expect(try program.lease(name, "+=10%").contains("165\n"))
        #expect(try waitUntil { try program.value() == "150\n" })
        #expect(try program.first() == "150\n")

        try program.tweak("set", name, "Truth/Values/A", "7")
        #expect(try waitUntil { try program.value() == "7\n" })
        try program.tweak("undo", name)
        #expect(try waitUntil { try program.value() == "150\n" })
        #expect(try program.first() == "150\n")
        #expect(try program.tweak("log", name).contains("Truth/Values/A"))
    }

    private func expectStarted(_ program: EmulatedProgram) throws {
        // `tweak exec` starts only programs of this machine.
        guard try program.machine.emulator() == nil else { return }
        let bare = try program.linkWithoutLibrary()
        #expect(try program.tweak("exec", "--library", program.library, bare, "once") == "150\n")
    }

    private func expectForking(_ program: EmulatedProgram) throws {
        for file in try FileManager.default.contentsOfDirectory(atPath: program.values) {
            try FileManager.default.removeItem(atPath: "\(program.values)/\(file)")
        }
        let parent = try program.start("run", program.values, "2")
        defer {
            // Its workers end with it.
            parent.kill()
            _ = parent.wait()
        }
        try #require(waitUntil { try program.processes().count == 3 || !parent.isRunning })
        #expect(try program.value() == "150\n")
        for process in try program.processes() { try program.tweak("set", process, "Truth/Values/A", "33") }
        #expect(try waitUntil { try program.value() == "33\n" })
        #expect(parent.written.error.isEmpty, "\(parent.written.error)")
    }
}
