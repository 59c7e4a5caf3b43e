// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import Testing

/// Where things are on this machine and in this checkout.
public enum Locations {
    /// The top of the checkout.
    public static let package = URL(fileURLWithPath: #filePath)
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent().path
    /// What the package manager built for the tests.
    public static let products = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        .deletingLastPathComponent().path
    /// The folder of `tweak` and the other commands, for a search path.
    public static var commands: String {
        URL(fileURLWithPath: product("tweak")).deletingLastPathComponent().path
    }
    /// The folder of `fbtweak.h`.
    public static let include = package + "/CSupport/include"

    /// A program that tests start, such as `tweak`.
    ///
    /// The commands and the programs in C are those of the installation, as people have them. The package manager builds the
    /// others, which test the Swift package, and with a sanitizer all.
    public static func product(_ name: String) -> String {
        guard sanitizer == nil else { return "\(products)/\(name)" }
        do {
            switch name {
            case "tweak", "tweak-agent", "tweak-dump": return try Installation.path("bin/\(name)")
            case "tweak-adopt", "tweak-ui":
                return try Installation.path("libexec/tweaks/\(name)")
            case "interface-scenarios", "live-program": return try ProgramBuild.usual.path(name)
            default: return "\(products)/\(name)"
            }
        } catch { fatalError("\(name) cannot be built, and so not tested: \(error)") }
    }

    /// A program on the search path. A test that needs another one is skipped, unless `tools/test` runs it.
    public static func program(_ name: String) throws -> String {
        let directories = (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":")
        for directory in directories where access("\(directory)/\(name)", X_OK) == 0 {
            return "\(directory)/\(name)"
        }
        // With Swift 6.2 the test fails, because it cannot be skipped once it runs.
        #if compiler(>=6.3)
        guard ProcessInfo.processInfo.environment["TWEAKS_TEST_ALL"] != nil else {
            try Test.cancel("needs \(name), which tools/test installs")
        }
        #endif
        throw MissingProgram(name: name)
    }
}

/// A program that a test needs is not on the search path.
public struct MissingProgram: Error {
    /// The program.
    public let name: String
}

/// A compiler refused a source.
public struct CompilationError: Error, CustomStringConvertible {
    /// What the compiler said.
    public let description: String

    /// Makes an error of what the compiler said.
    public init(description: String) { self.description = description }
}

/// A language that `fbtweak.h` is for.
public enum Language: String, CaseIterable, Sendable, CustomStringConvertible {
    case c = "C"
    case cPlusPlus = "C++"

    /// The name of the language.
    public var description: String { rawValue }

    /// What a source file's name ends with.
    public var suffix: String { self == .c ? "c" : "cpp" }
}

/// A compiler of C and C++.
public enum Compiler: String, CaseIterable, Sendable, CustomStringConvertible {
    case gcc
    /// The one that comes with Swift, whatever others are on the search path.
    case clang
    /// The one of the distribution, which is older.
    case olderClang = "older clang"

    /// Those that the tests run with.
    public static let allCases: [Compiler] = [.gcc, .clang]

    /// Those and the older one, where it is installed.
    public static let present =
        allCases + (access("/usr/bin/clang++", X_OK) == 0 ? [Compiler.olderClang] : [])

    /// The name of the command.
    public var description: String { rawValue }

    /// The command for a language.
    public func path(for language: Language) throws -> String {
        switch self {
        case .gcc: try Locations.program(language == .c ? "gcc" : "g++")
        case .olderClang: language == .c ? "/usr/bin/clang" : "/usr/bin/clang++"
        case .clang:
            URL(fileURLWithPath: try Locations.program("swiftc")).resolvingSymlinksInPath()
                .deletingLastPathComponent().appendingPathComponent(language == .c ? "clang" : "clang++").path
        }
    }

    /// Compiles, and links unless `-c` is among the flags.
    ///
    /// - Returns: What the compiler said, which is only warnings.
    /// - Throws: ``CompilationError`` with the errors.
    @discardableResult
    public func compile(
        _ sources: [String], as language: Language = .c, to output: String, _ flags: [String] = [],
        home: TemporaryDirectory
    ) throws -> String {
        // The default of older ones is older than the header.
        let standard = language == .cPlusPlus && self == .olderClang ? ["-std=c++17"] : []
        let arguments = standard + flags + ["-I", Locations.include, "-o", output] + sources
        let result = try run(path(for: language), arguments, home: home)
        guard result.succeeded else { throw CompilationError(description: result.error) }
        return result.error
    }
}
