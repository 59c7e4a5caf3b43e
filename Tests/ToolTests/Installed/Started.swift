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

    /// The folder with a folder for each way. Built when the first test asks.
    private static let folder = Result<String, any Error> {
        let folder = Locations.package + "/.build/started"
        try script(
            "build", [Installation.prefix.get(), folder],
            ["STARTED_PROGRAM": Locations.product("started-program")])
        return folder
    }

    /// The path of the program, or of another file there.
    static func path(_ way: Way, _ name: String = "started") throws -> String {
        try "\(folder.get())/\(way.rawValue)/\(name)"
    }

    static var otherLibrary: String { get throws { try "\(folder.get())/libother.so" } }

    /// Starts the program many times.
    ///
    /// - Returns: What went wrong; `nil` if nothing did.
    static func failure(
        _ way: Way, _ state: State, count: Int, atOnce: Int = 64, scenarios: [String] = [],
        settings: [String] = [], options: [String] = []
    ) throws -> String? {
        let arguments =
            try [Installation.prefix.get(), folder.get(), way.rawValue, state.rawValue, "-n", "\(count)"]
            + ["-m", "\(atOnce)"] + options + settings.flatMap { ["-e", $0] }
        let environment = scenarios.isEmpty ? [:] : ["SCENARIOS": scenarios.joined(separator: ",")]
        do { try script("run", arguments, environment) } catch let error as CompilationError {
            return error.description
        }
        return nil
    }

    /// Runs a script with the user's own settings: the package manager may need its mirrors and caches.
    private static func script(
        _ name: String, _ arguments: [String], _ environment: [String: String]
    ) throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "\(sources)/\(name)")
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        let result = try RunningCommand(process).wait()
        guard result.succeeded else { throw CompilationError(description: result.output + result.error) }
    }
}
