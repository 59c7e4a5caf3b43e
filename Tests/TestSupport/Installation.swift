// SPDX-License-Identifier: BSD-3-Clause
import Foundation

/// What `tools/install` makes of this checkout.
public enum Installation {
    /// What is built for tests, with all that can be installed: otherwise most would be compiled again.
    public static let everything = ["--with-ui", "--with-agent", "--with-adopt"]

    /// The prefix of an installation of everything: `bin`, `include`, `lib` and `share` are in it.
    ///
    /// Made when the first test asks and something in it has changed. `TWEAKS_INSTALLED` names one that is there already.
    public static let prefix = Result<String, any Error> {
        if let installed = ProcessInfo.processInfo.environment["TWEAKS_INSTALLED"], !installed.isEmpty {
            return installed
        }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try Locations.program("bash"))
        process.arguments = ["-euc", ". tools/development/building; tweaks_install_for_tests"]
        process.currentDirectoryURL = URL(fileURLWithPath: Locations.package)
        let result = try RunningCommand(process).wait()
        guard result.succeeded else { throw CompilationError(description: result.output + result.error) }
        return Locations.package + "/.build/installed"
    }

    /// The folder of `tools/development/sysroot`, which `tools/test` has made.
    public static let sysroot = Locations.package + "/.build/sysroot"

    /// The path of something in ``prefix``.
    public static func path(_ name: String) throws -> String { try "\(prefix.get())/\(name)" }

    /// Whether the library contains Swift's runtime, as without Embedded Swift in the toolchain.
    public static var hasSwiftRuntime: Bool {
        get throws {
            try Data(contentsOf: URL(fileURLWithPath: path("lib/libtweaks.so.0")))
                .range(of: Data("swift5_".utf8)) != nil
        }
    }

    /// What a C compiler must be told to link the library, even if nothing refers to it.
    public static var linkerFlags: [String] {
        get throws {
            let library = try path("lib")
            return ["-L\(library)", "-Wl,--no-as-needed", "-ltweaks", "-Wl,-rpath,\(library)"]
        }
    }

    /// What the Swift compiler must be told to use the library that was built for release, which has no macros.
    public static var compilerFlags: [String] {
        get throws {
            _ = try prefix.get()
            return Example.libraryFlags(Locations.package + "/.build/install/release")
        }
    }

    /// Runs `tools/install` with the user's own settings: the package manager may need its mirrors and caches.
    public static func install(
        _ arguments: [String], environment: [String: String] = [:]
    ) throws -> CommandResult {
        let process = Process()
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        process.executableURL = URL(fileURLWithPath: Locations.package + "/tools/install")
        process.arguments = arguments
        return try RunningCommand(process).wait()
    }
}
