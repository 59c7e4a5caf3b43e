// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// How a program is linked.
enum MemoryBuild: String, CaseIterable, CustomTestStringConvertible {
    case pie = "PIE"
    case noPIE = "no PIE"
    case fixed = "static"
    case fixedPIE = "static PIE"
    case stripped
    case headless = "without section headers"
    case musl = "musl static"

    static let present = allCases.filter { $0 != .musl || hasMusl }
    private static let hasMusl = (try? Locations.program("musl-gcc")) != nil

    var testDescription: String { rawValue }

    var isDynamic: Bool { self == .pie || self == .noPIE || self == .stripped }

    fileprivate func compile(
        _ source: String, by compiler: Compiler, to path: String, home: TemporaryDirectory
    ) throws {
        let flags = ["-DDEBUG", "-std=gnu11"]
        switch self {
        case .pie: try compiler.compile([source], to: path, flags + ["-fPIE", "-pie"], home: home)
        case .noPIE: try compiler.compile([source], to: path, flags + ["-fno-PIE", "-no-pie"], home: home)
        case .fixed, .headless: try compiler.compile([source], to: path, flags + ["-static"], home: home)
        case .fixedPIE:
            // The linker that clang takes by itself may be one that cannot.
            try compiler.compile(
                [source], to: path, flags + ["-fPIE", "-static-pie", "-fuse-ld=bfd"], home: home)
        case .stripped: try compiler.compile([source], to: path, flags + ["-O2", "-s"], home: home)
        case .musl: try compileWithMusl(source, flags, compiler, to: path, home)
        }
        if self == .headless { try removeSectionHeaders(path) }
    }

    /// Clang makes the object alone: it has no command of its own for musl.
    private func compileWithMusl(
        _ source: String, _ flags: [String], _ compiler: Compiler, to path: String, _ home: TemporaryDirectory
    ) throws {
        let object = home("bare.o")
        let musl = try Locations.program("musl-gcc")
        var command = [musl]
        if compiler == .clang {
            let clang = try compiler.path(for: .c)
            let resources = try run(clang, ["-print-resource-dir"], home: home).output.split(separator: "\n")[
                0]
            let machine = try run(musl, ["-dumpmachine"], home: home).output.split(separator: "-")[0]
            command = [clang, "-nostdinc"]
            for folder in ["\(resources)/include", "/usr/include/\(machine)-linux-musl"] {
                command += ["-isystem", folder]
            }
        }
        let include = ["-I", Locations.include, "-c", source, "-o", object]
        let compiled = try run(command[0], command.dropFirst() + flags + include, home: home)
        try #require(compiled.succeeded, "\(compiled.error)")
        let linked = try run(musl, ["-static", object, "-o", path], home: home)
        try #require(linked.succeeded, "\(linked.error)")
    }

    private func removeSectionHeaders(_ path: String) throws {
        var file = try Data(contentsOf: URL(fileURLWithPath: path))
        // e_shoff, and e_shnum with e_shstrndx: elf(5).
        file.resetBytes(in: 40..<48)
        file.resetBytes(in: 60..<64)
        try file.write(to: URL(fileURLWithPath: path))
    }
}

extension BareProgram {
    convenience init(
        _ build: MemoryBuild, by compiler: Compiler, _ source: String = BareProgram.source
    ) throws {
        try self.init(named: "bare", source) { source, path, home in
            try build.compile(source, by: compiler, to: path, home: home)
        }
    }
}

@Suite struct `Programs of all builds, without the library` {
    @Test(arguments: Compiler.allCases, MemoryBuild.present)
    func `are listed, asked and changed by their memory`(compiler: Compiler, build: MemoryBuild) throws {
        let program = try BareProgram(build, by: compiler)
        try program.start()
        program.expect(BareProgram.defaults)
        #expect(try program.tweak("list").lines.count == 11)
        #expect(try program.tweak("get", "Mode").output == "slow\n")
        let result = try program.tweak("set", "Count", "7", "Ratio", "-2.5", "Mode", "fast", "Flag", "on")
        #expect(result.status == 0 && result.error == program.notice)
        program.expect("7 -2.5 1 fast hello 1 1 80 7")
        #expect(try program.tweak("get", "Ratio").output == "-2.5\n")
        #expect(try program.tweak("reset", "--all").status == 0)
        program.expect(BareProgram.defaults)
    }

    @Test(
        .enabled(if: sanitizer == nil), arguments: Compiler.allCases, MemoryBuild.present.filter(\.isDynamic))
    func `are left alone with the library and its socket off`(compiler: Compiler, build: MemoryBuild) throws {
        let program = try BareProgram(build, by: compiler)
        try program.start(environment: [
            "LD_PRELOAD": Installation.path("lib/libtweaks.so.0"), "TWEAKS_CONTROL": "0", "TWEAKS_WATCH": "0",
        ])
        program.expect(BareProgram.defaults)
        let result = try program.tweak("set", "Count", "7")
        #expect(
            result.error.contains(
                "it contains the Tweaks library but does not listen, so its memory is left alone"))
        #expect(try program.tweak("list").error.contains("its memory is left alone"))
        #expect(try !program.command(["ps", "--all"]).output.contains("\(program.pid) "))
        let count = sleepCount(of: "\(program.pid)")
        #expect(waitUntil { sleepCount(of: "\(program.pid)") > count + 5 })
        program.expect(BareProgram.defaults)
    }
}
