// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `The command tools/install` {
    @Test(arguments: [
        ["--bogus"], ["file"], ["--prefix"], ["--prefix", "relative"], ["--prefix", "/with a space"],
        ["--prefix=/usr", "--libdir", "/lib"], ["--sysroot"],
        ["--target"], ["--target", "aarch64-linux-gnu"], ["--target=sparc-linux-gnu", "--prefix", "/tweaks"],
        ["--target=aarch64-linux-gnu", "--prefix", "/tweaks", "--with-ui"],
        ["--target=aarch64-linux-gnu", "--prefix", "/tweaks", "--swift-sdk", "debian-arm64"],
    ])
    func `A wrong command line ends with status 64 and the usage`(arguments: [String]) throws {
        let result = try Installation.install(arguments)
        #expect(result.status == 64)
        #expect(result.output.isEmpty)
        #expect(result.error.contains("usage: tools/install"))
    }

    @Test func `Help is printed`() throws {
        let result = try Installation.install(["--help"])
        #expect(result.succeeded)
        #expect(result.output.hasPrefix("usage: tools/install"))
    }

    @Test func `A destination that is a file is refused before anything is built`() throws {
        let directory = try TemporaryDirectory()
        let result = try Installation.install(["--prefix", directory.write("file", "")])
        #expect(result.status == 73)
        #expect(result.output.isEmpty)
    }

    @Test func `A sysroot without the libraries is refused before anything is built`() throws {
        let directory = try TemporaryDirectory()
        let result = try Installation.install(["--prefix", directory("prefix"), "--sysroot", directory.path])
        #expect(result.status == 69 && result.output.isEmpty)
        #expect(result.error.contains("no libc.so in \(directory.path); make"))
    }

    @Test(arguments: ["aarch64-linux-gnu", "riscv64-linux-gnu", "x86_64-linux-musl"])
    func `A sysroot without a target's libraries is refused before anything is built`(target: String) throws {
        let directory = try TemporaryDirectory()
        let result = try Installation.install([
            "--target", target, "--prefix", directory("prefix"), "--sysroot", directory.path,
        ])
        #expect(result.status == 69 && result.output.isEmpty)
        #expect(result.error.contains("for \(target) in \(directory.path)\n"), "\(result.error)")
        #expect(try files(in: directory).isEmpty)
    }

    @Test func `Articles refer to each other's files`() throws {
        let folder = try Installation.path("share/doc/tweaks")
        let names = try FileManager.default.contentsOfDirectory(atPath: folder).filter {
            $0.hasSuffix(".md")
        }
        #expect(names.contains("TuneYourFirstProgram.md") && names.contains("RecordFormat.md"))
        for name in names {
            let article = try text("\(folder)/\(name)")
            #expect(!article.contains("doc:"), "\(name)")
            for link in article.matches(of: /\]\(([^)#:]+)[)#]/) {
                #expect(names.contains(String(link.1)), "\(name): \(link.0)")
            }
        }
    }

    @Test func `Files below a DESTDIR refer to the prefix, and a second run changes nothing`() throws {
        let destination = try TemporaryDirectory()
        for run in 1...2 {
            let result = try Installation.install(
                Installation.everything + [
                    "--prefix", "/usr", "--libdir=lib/multiarch", "--destdir", destination.path,
                ])
            try #require(result.succeeded, "\(result.error)")
            if run == 2 { #expect(!result.output.contains("building")) }
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: destination.path) == ["usr"])
        let libraries = "usr/lib/multiarch"
        let names = try FileManager.default.contentsOfDirectory(atPath: destination(libraries)).sorted()
        let version = try text(Locations.package + "/tools/development/packaging/VERSION").trimmingCharacters(
            in: .newlines)
        #expect(names == ["cmake", "libtweaks.so", "libtweaks.so.0", "libtweaks.so.\(version)", "pkgconfig"])
        #expect(
            try FileManager.default.destinationOfSymbolicLink(
                atPath: destination("\(libraries)/libtweaks.so.0"))
                == "libtweaks.so.\(version)")

        for file in ["pkgconfig/fbtweak.pc", "pkgconfig/tweaks.pc", "cmake/tweaks/tweaks-config.cmake"] {
            let text = try text(destination("\(libraries)/\(file)"))
            #expect(text.contains("/usr"))
            #expect(!text.contains(destination.path) && !text.contains("@"))
        }
        #expect(try text(destination("\(libraries)/pkgconfig/tweaks.pc")).contains("Version: \(version)\n"))
        #expect(FileManager.default.isExecutableFile(atPath: destination("usr/bin/tweak")))
    }

    @Test func `Uninstalling removes everything installed, and nothing else`() throws {
        let destination = try TemporaryDirectory()
        let arguments = ["--prefix", "/opt/tweaks", "--destdir", destination.path]
        try destination.write("opt/tweaks/share/man/man1/other.1", "of another program")
        try FileManager.default.createDirectory(
            atPath: destination("opt/tweaks/bin"), withIntermediateDirectories: true)
        let before = try files(in: destination)

        let installed = try Installation.install(Installation.everything + arguments)
        try #require(installed.succeeded, "\(installed.error)")
        #expect(try files(in: destination).count > before.count + 30)
        try destination.write("opt/tweaks/share/doc/tweaks/notes", "of a person")

        let result = try Installation.install(["--uninstall"] + arguments)
        try #require(result.succeeded, "\(result.error)")
        #expect(result.output.isEmpty && result.error.isEmpty)
        let kept = ["share/doc", "share/doc/tweaks", "share/doc/tweaks/notes"].map { "opt/tweaks/" + $0 }
        #expect(try files(in: destination) == (before + kept).sorted())
    }

    @Test func `Folders created for the prefix are removed too`() throws {
        let destination = try TemporaryDirectory()
        let installed = destination("a/b/share/tweaks/installed")
        try destination.write(
            "a/b/share/tweaks/installed",
            """
            \(destination.path)/a/
            \(destination.path)/a/b/
            \(destination.path)/a/b/share/
            \(destination.path)/a/b/share/tweaks/
            \(installed)
            \(destination.path)/a/b/missing

            """)
        let result = try Installation.install([
            "--uninstall", "--prefix", destination("a/b"), "--destdir", "",
        ])
        #expect(result.succeeded, "\(result.error)")
        #expect(try files(in: destination).isEmpty)
    }

    /// Of two updates of the cache at once one fails, and most prefixes do not concern it.
    @Test(arguments: ["lib", "libraries"])
    func `The dynamic linker is told of a folder where it looks`(_ folder: String) throws {
        let directory = try TemporaryDirectory()
        try directory.write("prefix/share/tweaks/installed", "")
        try directory.write(
            "bin/ldconfig",
            """
            #!/bin/sh
            case $* in
            -NXv) printf '%s: (from somewhere:1)\n\tlibother.so.1 -> libother.so.1.2\n' '\(directory("prefix/lib"))' ;;
            "") touch '\(directory("told"))' ;;
            esac
            """)
        chmod(directory("bin/ldconfig"), 0o755)
        let path = ProcessInfo.processInfo.environment["PATH"] ?? ""
        let result = try Installation.install(
            ["--uninstall", "--prefix", directory("prefix"), "--libdir", folder],
            environment: ["PATH": directory("bin") + ":" + path])
        #expect(result.succeeded, "\(result.error)")
        let isTold = FileManager.default.fileExists(atPath: directory("told"))
        #expect(isTold == (folder == "lib" && geteuid() == 0))
    }

    @Test func `Uninstalling without an installation says so`() throws {
        let directory = try TemporaryDirectory()
        let result = try Installation.install(["--uninstall", "--prefix", directory.path, "--destdir", ""])
        #expect(result.status == 66)
        #expect(result.error.contains("nothing is installed in \(directory.path)"))
    }

    @Test func `A manipulated list of installed files cannot remove others`() throws {
        let directory = try TemporaryDirectory()
        let precious = try directory.write("precious", "")
        let prefix = directory("prefix")
        try directory.write(
            "prefix/share/tweaks/installed", "\(precious)\n\(prefix)/../precious\n\(prefix)/bin/tweak\n")
        try directory.write("prefix/bin/tweak", "")
        let result = try Installation.install(["--uninstall", "--prefix", prefix, "--destdir", ""])
        #expect(result.succeeded)
        #expect(result.error.contains("not below \(prefix): \(precious)"))
        #expect(FileManager.default.fileExists(atPath: precious))
        #expect(!FileManager.default.fileExists(atPath: prefix + "/bin/tweak"))
    }

    private func files(in directory: TemporaryDirectory) throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: directory.path).sorted()
    }

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
}
