import Foundation
import TestSupport
import Testing

@Suite struct `The command tools/install` {
    @Test(arguments: [
        ["--bogus"], ["file"], ["--prefix"], ["--prefix", "relative"], ["--prefix", "/with a space"],
        ["--prefix=/usr", "--libdir", "/lib"],
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

    @Test func `Below a destdir files name the prefix, and a second time nothing changes`() throws {
        let destination = try TemporaryDirectory()
        for _ in 1...2 {
            let result = try Installation.install([
                "--prefix", "/usr", "--libdir=lib/multiarch", "--destdir", destination.path,
            ])
            try #require(result.succeeded, "\(result.error)")
        }
        #expect(try FileManager.default.contentsOfDirectory(atPath: destination.path) == ["usr"])
        let libraries = "usr/lib/multiarch"
        let names = try FileManager.default.contentsOfDirectory(atPath: destination(libraries)).sorted()
        let version = try text(Locations.package + "/tools/packaging/VERSION").trimmingCharacters(
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

    private func text(_ path: String) throws -> String { try String(contentsOfFile: path, encoding: .utf8) }
}
