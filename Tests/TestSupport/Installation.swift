import Foundation

/// What `tools/install` makes of this checkout.
public enum Installation {
    /// The prefix of an installation: `bin`, `include`, `lib` and `share` are in it.
    ///
    /// Made once, when the first test asks. `TWEAKS_INSTALLED` names one that is there already.
    public static let prefix = Result<String, any Error> {
        if let installed = ProcessInfo.processInfo.environment["TWEAKS_INSTALLED"], !installed.isEmpty {
            return installed
        }
        let prefix = Locations.package + "/.build/installed"
        let result = try install(["--prefix", prefix, "--destdir", ""])
        guard result.succeeded else { throw CompilationError(description: result.output + result.error) }
        return prefix
    }

    /// The path of something in ``prefix``.
    public static func path(_ name: String) throws -> String { try "\(prefix.get())/\(name)" }

    /// What the Swift compiler must be told to use the library that was built for release, which has no macros.
    public static var compilerFlags: [String] {
        get throws {
            _ = try prefix.get()
            return Example.libraryFlags(Locations.package + "/.build/install/release")
        }
    }

    /// Runs `tools/install` with the user's own settings: the package manager may need its mirrors and caches.
    public static func install(_ arguments: [String]) throws -> CommandResult {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Locations.package + "/tools/install")
        process.arguments = arguments
        return try RunningCommand(process).wait()
    }
}
