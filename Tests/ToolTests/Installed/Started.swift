// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// The program in `Tests/Programs/started`, built in every way in which a program gets the library.
enum Started {
    private static let sources = Locations.package + "/Tests/Programs/started"

    /// How the program gets the library.
    enum Way: String, CaseIterable, CustomTestStringConvertible {
        case linked, preloaded
        case plugIn = "plug-in"
        case staticRuntime = "static-lld"
        case packageWithStaticRuntime = "package-static"
        case packageWithSharedRuntime = "package-shared"
        case staticRuntimeByBFD = "static-bfd"
        case staticRuntimeByGold = "static-gold"
        case staticRuntimeByMold = "static-mold"
        case linkedWithConstructors = "early-linked"
        case staticRuntimeWithConstructors = "early-static-lld"
        case staticRuntimeWithConstructorsByBFD = "early-static-bfd"
        case staticRuntimeWithConstructorsByGold = "early-static-gold"
        case staticRuntimeWithConstructorsByMold = "early-static-mold"

        /// One of each kind.
        static let kinds: [Way] = [
            .linked, .preloaded, .plugIn, .staticRuntime, .packageWithStaticRuntime,
            .packageWithSharedRuntime,
        ]
        /// Those of the kinds that other linkers make.
        static let otherLinkers: [Way] = [.staticRuntimeByBFD, .staticRuntimeByGold, .staticRuntimeByMold]
        /// With constructors that use the library before `main`.
        static let early: [Way] = [
            .linkedWithConstructors, .staticRuntimeWithConstructors, .staticRuntimeWithConstructorsByBFD,
            .staticRuntimeWithConstructorsByGold, .staticRuntimeWithConstructorsByMold,
        ]

        var testDescription: String { rawValue }
    }

    /// What the program finds when it starts: the folders in `states`.
    enum State: String, CaseIterable, CustomTestStringConvertible {
        case none, few, overrides, features, providers, environment, corrupt, others

        /// Whether at least one override is kept.
        var hasOverrides: Bool { self != .none && self != .corrupt }
        var testDescription: String { rawValue }
    }

    /// A sanitizer that watches the program. What is installed is not built with it.
    enum Sanitizing: String, CaseIterable, CustomTestStringConvertible {
        case addressInC, addressInSwift, threadInC

        /// Those that can be linked. Of a Swift program with the static library ThreadSanitizer does not export its
        /// functions: it ends when what `strdup` gave is freed. In C it needs libdispatch if it is Swift's.
        var ways: [Way] {
            self == .addressInSwift
                ? [.staticRuntime, .staticRuntimeByBFD, .staticRuntimeByGold, .staticRuntimeByMold]
                : [.linked, .preloaded, .plugIn, .linkedWithConstructors]
        }

        fileprivate var environment: [String: String] {
            get throws {
                switch self {
                case .addressInC: ["CFLAGS": "-fsanitize=address"]
                case .addressInSwift:
                    [
                        "CC": try Compiler.clang.path(for: .c), "CFLAGS": "-fsanitize=address",
                        "SWIFTFLAGS": "-sanitize=address",
                    ]
                case .threadInC: ["CFLAGS": "-fsanitize=thread"]
                }
            }
        }

        var testDescription: String { rawValue }
    }

    /// The folders with a folder for each way, which are built when the first test asks.
    private static let folders = Locked<[Sanitizing?: Result<String, any Error>]>([:])

    private static func folder(_ sanitizing: Sanitizing? = nil) throws -> String {
        try folders.withLock { folders in
            let folder = folders[sanitizing] ?? Result { try build(sanitizing) }
            folders[sanitizing] = folder
            return folder
        }.get()
    }

    private static func build(_ sanitizing: Sanitizing?) throws -> String {
        let folder = Locations.package + "/.build/started" + (sanitizing.map { "-\($0)" } ?? "")
        let result = try start(
            "build",
            [Installation.prefix.get(), folder] + (sanitizing?.ways ?? Way.allCases).map(\.rawValue),
            sanitizing?.environment ?? ["STARTED_PROGRAM": Locations.product("started-program")]
        ).wait()
        guard result.succeeded else { throw CompilationError(description: result.output + result.error) }
        return folder
    }

    /// The path of the program, or of another file there.
    static func path(_ way: Way, _ name: String = "started") throws -> String {
        try "\(folder())/\(way.rawValue)/\(name)"
    }

    static var otherLibrary: String { get throws { try "\(folder())/libother.so" } }

    /// Starts the program many times in each way, in all ways at once: most of the time is waiting for some long lives.
    ///
    /// - Returns: What went wrong; nothing if all was right.
    static func failures(
        _ ways: [Way], _ state: State, count: Int, atOnce: Int = isLong ? 84 : 48, scenarios: [String] = [],
        settings: [String] = [], options: [String] = [], sanitizing: Sanitizing? = nil
    ) throws -> String {
        let (prefix, folder) = try (Installation.prefix.get(), folder(sanitizing))
        let options =
            ["-n", "\(count)", "-m", "\(max(1, atOnce / ways.count))"] + options
            + settings.flatMap { ["-e", $0] }
        let environment = scenarios.isEmpty ? [:] : ["SCENARIOS": scenarios.joined(separator: ",")]
        let running = try ways.map {
            try start("run", [prefix, folder, $0.rawValue, state.rawValue] + options, environment)
        }
        return zip(ways, running.map { $0.wait() }).filter { !$1.succeeded }.map { way, result in
            "\(way.rawValue):\n\(result.output)\(result.error)"
        }.joined(separator: "\n")
    }

    /// What ThreadSanitizer must be told: how a library that it does not see into keeps threads apart it cannot know.
    static let threadSanitizerOptions =
        "TSAN_OPTIONS=die_after_fork=0:suppressions=\(sources)/thread-sanitizer.suppressions"

    /// Starts a script with the user's own settings: the package manager may need its mirrors and caches.
    private static func start(
        _ name: String, _ arguments: [String], _ environment: [String: String]
    ) throws -> RunningCommand {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "\(sources)/\(name)")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        return try RunningCommand(process)
    }
}
