// SPDX-License-Identifier: BSD-3-Clause
import Foundation

/// The example in `tools/example`, which the tests of the Swift macro need: it alone builds the macro's plugin.
public enum Example {
    static let package = Locations.package + "/tools/example"

    /// The directory with the example's executable, library, tests, modules and plugin.
    ///
    /// Built once, when the first test asks. `TWEAKS_EXAMPLE_BUILT` names the directory of a build that is there
    /// already.
    public static let directory = Result<String, any Error> {
        if let built = ProcessInfo.processInfo.environment["TWEAKS_EXAMPLE_BUILT"], !built.isEmpty {
            return built
        }
        return try build(["build", "--build-tests", "--package-path", package])
    }

    /// Builds, and returns the directory of what was built.
    ///
    /// - Throws: ``CompilationError`` with what the package manager said.
    public static func build(_ arguments: [String]) throws -> String {
        let result = try swift(arguments)
        guard result.succeeded else { throw CompilationError(description: result.output + result.error) }
        let path = try swift(arguments + ["--show-bin-path"])
        guard path.succeeded else { throw CompilationError(description: path.error) }
        return path.output.trimmingCharacters(in: .whitespacesAndNewlines)
    }

    /// The path of something in ``directory``.
    public static func path(_ name: String) throws -> String { try "\(directory.get())/\(name)" }

    /// What the Swift compiler must be told to use the library and its macros as the example does.
    public static var compilerFlags: [String] {
        get throws {
            try libraryFlags(directory.get()) + pluginFlags
        }
    }

    /// What the Swift compiler must be told to expand the macros.
    static var pluginFlags: [String] {
        get throws { ["-load-plugin-executable", try path("TweakMacros-tool") + "#TweakMacros"] }
    }

    /// The object files of the library, to be linked with `-lelf -lstdc++`.
    public static var libraryObjects: [String] {
        get throws { try libraryObjects(linkedInto: path("spring")) }
    }

    /// The object files of the library that the package manager linked into a program.
    public static func libraryObjects(linkedInto program: String) throws -> [String] {
        // The folders of the modules may have objects of files that are gone.
        let linked = try String(contentsOfFile: program + ".product/Objects.LinkFileList", encoding: .utf8)
        let modules = [
            "CTweakSystem", "CTweaks", "FBTweak", "Logging", "TweakELF", "TweakFormats", "TweakJSON",
            "TweakOverrides", "TweakProtocol", "TweakRecords", "TweakSystem", "Tweaks",
        ]
        return linked.split(separator: "\n").map { $0.trimmingCharacters(in: ["'", "\""]) }
            .filter { object in modules.contains { object.contains("/\($0).build/") } }
    }

    /// What the Swift compiler must be told to use the library in a directory of the package manager.
    ///
    /// - Parameter modules: The modules in C of other libraries that are used too.
    public static func libraryFlags(_ directory: String, and modules: [String] = []) -> [String] {
        (["CTweakSystem", "CTweaks", "FBTweak"] + modules).flatMap {
            ["-Xcc", "-fmodule-map-file=\(directory)/\($0).build/module.modulemap"]
        } + ["-I", directory + "/Modules", "-I", Locations.package + "/Sources/System/CLibELF"]
    }

    // As in tools/development/building, so that traits always have the same order and nothing is compiled again.
    private static let order = ["SWIFT_DETERMINISTIC_HASHING": "1"]

    /// Runs `swift` with the user's own settings: the package manager may need its mirrors and caches.
    public static func swift(_ arguments: [String]) throws -> CommandResult {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try Locations.program("swift"))
        process.arguments = arguments
        process.environment = ProcessInfo.processInfo.environment.merging(order) { $1 }
        return try RunningCommand(process).wait()
    }

    /// Writes the manifest of a package that uses the library, into its folder.
    ///
    /// - Parameters:
    ///   - target: The source of its target.
    ///   - traits: An argument for traits that are not the defaults, after a comma.
    public static func writeManifest(
        in package: TemporaryDirectory, target: String, traits: String = ""
    ) throws {
        try package.write(
            "Package.swift",
            """
            // swift-tools-version: 6.2
            import PackageDescription
            let package = Package(
                name: "app", dependencies: [.package(name: "tweaks", path: "\(Locations.package)"\(traits))], targets: [\(target)])
            """)
    }

    /// Starts the example's tests. Settings of the user reach the package manager alone.
    public static func startTests(
        home: TemporaryDirectory, environment: [String: String] = [:]
    ) throws -> RunningCommand {
        _ = try directory.get()
        let variables = ProcessInfo.processInfo.environment
        let settings = variables["XDG_CONFIG_HOME"].map { $0 + "/swiftpm" } ?? NSHomeDirectory() + "/.swiftpm"
        // Nothing is built, so no other build need end first. Files of locks stay, in TMPDIR.
        return try start(
            Locations.program("swift"),
            [
                "test", "--skip-build", "--ignore-lock", "--package-path", package, "--config-path",
                settings + "/configuration",
            ], home: home,
            environment: environment.merging(order) { $1 }.merging(["TMPDIR": home.path]) { $1 })
    }
}
