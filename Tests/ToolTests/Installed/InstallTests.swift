// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// The example of `tools/development/packaging/examples`, copied, with a home of its own and the installed commands.
private struct Frames {
    let home: TemporaryDirectory
    let prefix: String
    var directory: String { home("examples") }
    var source: String { home("examples/frames.c") }

    init() throws {
        home = try TemporaryDirectory()
        prefix = try Installation.prefix.get()
        try FileManager.default.copyItem(
            atPath: Locations.package + "/tools/development/packaging/examples", toPath: home("examples"))
    }

    static let preloaded = "libtweaks.so.0"
    static let withDefaults = "o\n  o\n    o\n      o\n        o\n"
    static let withOverrides = "#\n    #\n        #\n"

    /// Runs a program that finds what is installed, and only by the ways that the test is about.
    @discardableResult
    func run(_ program: String, _ arguments: [String] = [], environment: [String: String] = [:]) throws
        -> CommandResult
    {
        let result = try TestSupport.run(
            program, arguments, home: home,
            environment: [
                "PKG_CONFIG_PATH": prefix + "/lib/pkgconfig", "LD_LIBRARY_PATH": prefix + "/lib",
            ].merging(environment) { $1 },
            in: directory)
        try #require(result.succeeded, "\(program) \(arguments): \(result.output)\(result.error)")
        return result
    }

    func flags(_ options: String...) throws -> [String] {
        try run(Locations.program("pkg-config"), options).output.split(whereSeparator: \.isWhitespace).map(
            String.init)
    }

    /// Compiles with nothing of the checkout in reach.
    func compile(_ compiler: Compiler, _ flags: [String], libraries: [String] = []) throws -> String {
        let program = home("frames")
        try run(
            compiler.path(for: .c),
            ["-std=c11", "-Wall", "-Wextra", "-Werror"] + flags + [source, "-o", program] + libraries)
        return program
    }

    /// Sets every tweak of the example with the installed command.
    func setOverrides(of program: String) throws {
        for (name, value) in [("Run/Frames", "3"), ("Ball/Speed", "4"), ("Ball/Glyph", "#")] {
            try run(prefix + "/bin/tweak", ["set", program, "Frames/\(name)", value])
        }
    }

    /// Expects that a program which was linked with the library is tweakable.
    func expectTweakable(_ program: String) throws {
        #expect(try run(program).output == Self.withDefaults)
        try setOverrides(of: program)
        let result = try run(program)
        #expect(result.output == Self.withOverrides)
        #expect(result.error.isEmpty)
    }
}

@Suite struct `An installation` {
    private let frames: Frames

    init() throws { frames = try Frames() }

    @Test(arguments: Compiler.allCases)
    func `A program that was built with the header alone is tweakable with the library preloaded`(
        compiler: Compiler
    ) throws {
        let program = try frames.compile(compiler, ["-DDEBUG"] + frames.flags("--cflags", "fbtweak"))
        try frames.setOverrides(of: program)
        #expect(try frames.run(program).output == Frames.withDefaults)
        let result = try frames.run(program, environment: ["LD_PRELOAD": Frames.preloaded])
        #expect(result.output == Frames.withOverrides)
        #expect(result.error.isEmpty)
    }

    @Test(arguments: Compiler.allCases)
    func `A program that links the library is tweakable, even with --as-needed`(
        compiler: Compiler
    ) throws {
        try frames.expectTweakable(
            frames.compile(
                compiler, ["-DDEBUG", "-Wl,--as-needed"] + frames.flags("--cflags", "tweaks"),
                libraries: frames.flags("--libs", "tweaks")))
    }

    @Test(arguments: Compiler.allCases)
    func `A program links the library in whatever order the linker gets the flags`(
        compiler: Compiler
    ) throws {
        try frames.expectTweakable(
            frames.compile(
                compiler, ["-DDEBUG", "-Wl,--as-needed"] + frames.flags("--cflags", "tweaks"),
                libraries: frames.flags("--libs", "tweaks").reversed()))
    }

    @Test func `The header alone brings no library`() throws {
        #expect(try frames.flags("--libs", "fbtweak").isEmpty)
    }

    @Test func `A start with the library touches at most 60 pages more than with the header alone`() throws {
        let source = try frames.home.write(
            "faults.c",
            """
            #include <fbtweak.h>
            #include <stdio.h>
            #include <sys/resource.h>
            int main(void) {
              struct rusage used;
              getrusage(RUSAGE_SELF, &used);
              printf("%ld\\n", used.ru_minflt);
              return FBTweakValue("Frames", "Run", "Failures", 0);
            }
            """)
        func faults(_ package: String, libraries: [String]) throws -> Int {
            let program = frames.home(package)
            try frames.run(
                Compiler.gcc.path(for: .c),
                ["-DDEBUG", source, "-o", program] + frames.flags("--cflags", package) + libraries)
            // A page that has to be read from the disk first, or is in use elsewhere, can cost more than one. Only one
            // start in ten has none of these.
            return try (1...50).compactMap { _ in try Int(frames.run(program).output.dropLast()) }.min()
                ?? .max
        }
        let alone = try faults("fbtweak", libraries: [])
        let linked = try faults("tweaks", libraries: frames.flags("--libs", "tweaks"))
        let most = try Installation.hasSwiftRuntime ? 210 : 60
        #expect(linked - alone <= most, "\(linked) with the library, \(alone) without")
        #expect(linked > alone, "the library is not there")
    }

    @Test func `The library is small`() throws {
        let path = try Installation.path("lib/libtweaks.so.0")
        let size = try #require(FileManager.default.contents(atPath: path)).count
        #expect(try size <= (Installation.hasSwiftRuntime ? 10_250_000 : 3_000_000))
    }

    @Test func `A C++ program with a C++ library of its own runs undisturbed with it`() throws {
        let source = try frames.home.write(
            "thrown.cc",
            """
            #include <fbtweak.h>
            #include <iostream>
            #include <locale>
            #include <stdexcept>
            #include <thread>
            int main() {
              std::locale::global(std::locale::classic());
              std::thread([] {
                try {
                  throw std::runtime_error("caught");
                } catch (const std::exception &error) {
                  std::cout << error.what() << ' ' << FBTweakValue("Frames", "Run", "Ratio", 0.5) << std::endl;
                }
              }).join();
            }
            """)
        let program = frames.home("thrown")
        try frames.run(
            Compiler.gcc.path(for: .cPlusPlus),
            ["-std=c++17", "-DDEBUG", source, "-o", program] + frames.flags("--cflags", "--libs", "tweaks"))
        try frames.run(frames.prefix + "/bin/tweak", ["set", program, "Frames/Run/Ratio", "0.25"])
        #expect(try frames.run(program).output == "caught 0.25\n")
    }

    @Test func `A Swift program with a Swift library of its own runs undisturbed with it`() throws {
        let arguments = ["set", "Setter/Values/Count", "7"]
        let result = try frames.run(
            SetterProgram.path, arguments, environment: ["LD_PRELOAD": Frames.preloaded])
        #expect(result.error.isEmpty)
        #expect(try frames.run(SetterProgram.path, ["show"]).output.contains(" 7 "))
        #expect(
            try frames.run(SetterProgram.path, ["show"], environment: ["LD_PRELOAD": Frames.preloaded]).output
                .contains(" 7 "))
    }

    @Test func `The command tweak has at most 20 MB, with the YAML reader`() throws {
        let size = try FileManager.default.attributesOfItem(atPath: frames.prefix + "/bin/tweak")[.size]
        #expect(try #require(size as? Int) <= 20_000_000)
        try FileManager.default.copyItem(
            atPath: Locations.package + "/tools/example/Sources/switches/features.json",
            toPath: frames.directory + "/features.json")
        try "plist_output: made".write(
            toFile: frames.directory + "/.flip.yml", atomically: true, encoding: .utf8)
        let result = try frames.run(frames.prefix + "/bin/tweak", ["generate", "plist"])
        #expect(result.output == "made/Features.plist: written\n")
    }

    @Test(arguments: [
        (["tweak", "set"], "tweak"), (["tweak", "set"], "tweak-set"), (["tweak", "undo"], "tweak-undo"),
        (["tweak", "preset", "save"], "tweak-preset"),
        (["tweak", "generate", "accessors"], "tweak-generate"), (["tweak-dump"], "tweak-dump"),
    ])
    func `A man page has each option of its command`(command: [String], name: String) throws {
        let help = try frames.run("\(frames.prefix)/bin/\(command[0])", command.dropFirst() + ["--help"])
            .output
        let page = try String(contentsOfFile: "\(frames.prefix)/share/man/man1/\(name).1", encoding: .utf8)
        let options = Set(help.matches(of: /(?m)^  (?:-\w, )?--([a-z-]+)/).map { String($0.1) })
        #expect(!options.isEmpty)
        for option in options.subtracting(["help", "version"]) {
            #expect(page.contains("Fl Fl \(option)"), "\(option)")
        }
    }

    @Test func `The man pages and the completions are found`() throws {
        for page in [
            "man1/tweak.1", "man1/tweak-dump.1", "man1/tweak-generate.1", "man1/tweak-set.1",
            "man1/tweak-preset.1", "man1/tweak-environment.1", "man3/fbtweak.3", "man3/FBTweakValue.3",
            "man3/fbtweak_find.3",
            "man3/fbtweak_observe.3",
        ] {
            let text = try String(contentsOfFile: frames.prefix + "/share/man/\(page)", encoding: .utf8)
            #expect(text.contains(".Os Tweaks 1.") && !text.contains("@"))
        }
        for command in ["tweak", "tweak-dump"] {
            let completions = frames.prefix + "/share/bash-completion/completions/\(command)"
            let result = try frames.run(
                "/bin/bash", ["-c", "source '\(completions)'; complete -p \(command)"])
            #expect(result.output.hasSuffix(" \(command)\n"))
            for file in ["zsh/site-functions/_\(command)", "fish/vendor_completions.d/\(command).fish"] {
                #expect(FileManager.default.fileExists(atPath: frames.prefix + "/share/\(file)"))
            }
        }
    }
}

@Suite struct `Build systems` {
    private let frames: Frames

    init() throws { frames = try Frames() }

    @Test func `Make builds a tweakable program`() throws {
        try frames.run(Locations.program("make"), ["-C", "make"])
        try frames.expectTweakable(frames.directory + "/make/frames")
    }

    @Test func `CMake builds a tweakable program`() throws {
        let cmake = try Locations.program("cmake")
        try frames.run(
            cmake,
            [
                "-S", "cmake", "-B", "built", "-DCMAKE_BUILD_TYPE=Debug",
                "-DCMAKE_PREFIX_PATH=\(frames.prefix)",
            ])
        try frames.run(cmake, ["--build", "built"])
        try frames.expectTweakable(frames.directory + "/built/frames")
    }

    @Test(arguments: [
        ("RelWithDebInfo", "", true), ("MinSizeRel", "", false), ("", "", false),
        ("RelWithDebInfo", "Debug;Profile", false), ("Profile", "Debug;Profile", true),
    ]) func `CMake has tweaks in some configurations`(
        type: String, configurations: String, hasTweaks: Bool
    ) throws {
        let cmake = try Locations.program("cmake")
        let chosen = configurations.isEmpty ? [] : ["-DTWEAKS_CONFIGURATIONS=\(configurations)"]
        try frames.run(
            cmake,
            ["-S", "cmake", "-B", "built", "-DCMAKE_BUILD_TYPE=\(type)"] + chosen
                + ["-DCMAKE_PREFIX_PATH=\(frames.prefix)"])
        try frames.run(cmake, ["--build", "built"])
        let dump = try frames.run(frames.prefix + "/bin/tweak-dump", ["built/frames"])
        #expect(dump.output.contains("no tweaks") != hasTweaks)
        let needed = try frames.run(Locations.program("readelf"), ["-d", "built/frames"])
        // Without a configuration, it depends on the flags whether there are tweaks.
        #expect(needed.output.contains("libtweaks") == (hasTweaks || type.isEmpty))
    }

    @Test func `CMake raises the language standard as needed, and keeps a later one`() throws {
        try frames.home.write(
            "examples/old/CMakeLists.txt",
            """
            cmake_minimum_required(VERSION 3.16)
            project(old C CXX)
            set(CMAKE_C_STANDARD 99)
            set(CMAKE_CXX_STANDARD 14)
            find_package(tweaks 1.0 REQUIRED)
            file(WRITE ${CMAKE_BINARY_DIR}/use.c "#include <fbtweak.h>\nlong version = __STDC_VERSION__;\n")
            file(WRITE ${CMAKE_BINARY_DIR}/use.cpp "#include <fbtweak.h>\n#if __cplusplus != CPP\n#error CPP\n#endif\n")
            add_library(old OBJECT ${CMAKE_BINARY_DIR}/use.c ${CMAKE_BINARY_DIR}/use.cpp)
            target_compile_definitions(old PRIVATE CPP=201703L)
            add_library(later OBJECT ${CMAKE_BINARY_DIR}/use.cpp)
            target_compile_definitions(later PRIVATE CPP=202002L)
            set_target_properties(later PROPERTIES CXX_STANDARD 20)
            foreach(target old later)
              target_link_libraries(${target} PRIVATE tweaks::fbtweak)
            endforeach()

            """)
        let cmake = try Locations.program("cmake")
        try frames.run(
            cmake,
            [
                "-S", "old", "-B", "built", "-DCMAKE_PREFIX_PATH=\(frames.prefix)",
                "-DCMAKE_C_COMPILER=gcc", "-DCMAKE_CXX_COMPILER=g++",
            ])
        try frames.run(cmake, ["--build", "built"])
    }

    @Test func `CMake builds a tweakable program as pkg-config says`() throws {
        try frames.home.write(
            "examples/found/CMakeLists.txt",
            """
            cmake_minimum_required(VERSION 3.16)
            project(frames C)
            find_package(PkgConfig REQUIRED)
            pkg_check_modules(tweaks REQUIRED IMPORTED_TARGET tweaks)
            add_executable(frames ../frames.c)
            target_compile_definitions(frames PRIVATE DEBUG)
            target_link_libraries(frames PRIVATE PkgConfig::tweaks)
            """)
        let cmake = try Locations.program("cmake")
        try frames.run(
            cmake, ["-S", "found", "-B", "built", "-DCMAKE_EXE_LINKER_FLAGS=-Wl,--as-needed"])
        try frames.run(cmake, ["--build", "built"])
        try frames.expectTweakable(frames.directory + "/built/frames")
    }

    @Test func `Meson builds a tweakable program`() throws {
        let meson = try Locations.program("meson")
        try frames.run(meson, ["setup", "built", "meson"])
        try frames.run(meson, ["compile", "-C", "built"])
        try frames.expectTweakable(frames.directory + "/built/frames")
    }

    @Test func `Release builds contain no trace of tweaks`() throws {
        try frames.run(Locations.program("make"), ["-C", "make", "release"])
        let cmake = try Locations.program("cmake")
        try frames.run(
            cmake,
            [
                "-S", "cmake", "-B", "with-cmake", "-DCMAKE_BUILD_TYPE=Release",
                "-DCMAKE_PREFIX_PATH=\(frames.prefix)",
            ])
        try frames.run(cmake, ["--build", "with-cmake"])
        let meson = try Locations.program("meson")
        try frames.run(meson, ["setup", "--buildtype=release", "with-meson", "meson"])
        try frames.run(meson, ["compile", "-C", "with-meson"])

        for program in ["make/frames", "with-cmake/frames", "with-meson/frames"] {
            let dump = try frames.run(frames.prefix + "/bin/tweak-dump", [program])
            #expect(dump.output.contains("no tweaks"), "\(program)")
            let needed = try frames.run(Locations.program("readelf"), ["-d", program])
            #expect(!needed.output.contains("libtweaks"), "\(program)")
        }
    }
}
