// SPDX-License-Identifier: BSD-3-Clause
import Foundation

/// A way in which a program of `Tests/Programs` in C and C++ is built and gets the library that is installed.
public struct ProgramBuild: Hashable, Sendable, CustomStringConvertible {
    /// The compiler, or `nil` if the package manager builds the program and the library with a sanitizer.
    private let compiler: Compiler?
    /// Whether the program knows the header alone, and the library is loaded before it.
    private let isPreloaded: Bool

    /// Every way: with GCC and with the distribution's clang, linked and preloaded. With a sanitizer only that of the
    /// package manager.
    public static let all: [ProgramBuild] =
        sanitizer != nil
        ? [ProgramBuild(compiler: nil, isPreloaded: false)]
        : [.gcc, Compiler.present.contains(.olderClang) ? .olderClang : .clang].flatMap { compiler in
            [false, true].map { ProgramBuild(compiler: compiler, isPreloaded: $0) }
        }
    /// The way of programs for tests that are not about the ways.
    public static let usual = all[0]

    /// What is particular about it, such as `gcc-linked`.
    public var description: String {
        guard let compiler else { return "package" }
        return (compiler == .gcc ? "gcc" : "clang") + (isPreloaded ? "-preloaded" : "-linked")
    }

    private struct Key: Hashable {
        let build: ProgramBuild
        let name: String
    }
    private static let paths = Locked<[Key: Result<String, any Error>]>([:])

    /// The path of a program, which is built when the first test asks.
    public func path(_ name: String) throws -> String {
        try Self.paths.withLock { paths in
            let key = Key(build: self, name: name)
            let path = paths[key] ?? Result { try build(name) }
            paths[key] = path
            return path
        }.get()
    }

    /// The variables with which the program has the library.
    public var environment: [String: String] {
        get throws { isPreloaded ? ["LD_PRELOAD": try Installation.path("lib/libtweaks.so.0")] : [:] }
    }

    private func build(_ name: String) throws -> String {
        guard let compiler else { return "\(Locations.products)/\(name)" }
        let path = "\(Locations.package)/.build/programs/\(self)/\(name)"
        // Other processes with tests may build it, too, and run it.
        let built = "\(path)-\(getpid())"
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Locations.package + "/Tests/Programs/build")
        process.arguments = [
            try Installation.prefix.get(), name, isPreloaded ? "preloaded" : "linked", built,
        ]
        process.environment = ProcessInfo.processInfo.environment.merging([
            "CC": try compiler.path(for: .c), "CXX": try compiler.path(for: .cPlusPlus),
        ]) { $1 }
        let result = try RunningCommand(process).wait()
        guard result.succeeded else { throw CompilationError(description: result.output + result.error) }
        guard rename(built, path) == 0 else { throw CompilationError(description: "cannot replace \(path)") }
        return path
    }
}
