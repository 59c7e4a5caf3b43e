// SPDX-License-Identifier: BSD-3-Clause
import Foundation

/// A way to build the example that is not that of ``Example/directory``.
public struct ExampleBuild: Hashable, Sendable, CustomStringConvertible {
    /// Whether it is for release.
    public var isRelease: Bool
    /// Whether `FB_TWEAK_ENABLED` is defined, which a release build needs to have tweaks.
    public var enablesTweaks = false
    /// Whether the Swift standard library becomes part of the executable.
    public var isStatic = false
    /// Whether the trait `Macros` is on, as the manifest of the example says. The package manager compiles swift-syntax
    /// for release then, which takes more than ten minutes.
    ///
    /// Without it the compiler is given the plug-in of ``Example/directory``, which makes the same of the macros.
    public var hasTrait = false

    /// A debug build.
    public static let debug = ExampleBuild(isRelease: false)
    /// A release build.
    public static let release = ExampleBuild(isRelease: true)
    /// A release build with tweaks.
    public static let enabled = ExampleBuild(isRelease: true, enablesTweaks: true)

    /// The same with the static standard library.
    public var withStaticLibrary: ExampleBuild { with(\.isStatic) }
    /// The same with the trait.
    public var withTrait: ExampleBuild { with(\.hasTrait) }

    private func with(_ property: WritableKeyPath<ExampleBuild, Bool>) -> ExampleBuild {
        var build = self
        build[keyPath: property] = true
        return build
    }

    /// What is particular about it, such as `release-enabled-static`.
    public var description: String {
        (isRelease ? "release" : "debug") + (enablesTweaks ? "-enabled" : "") + (isStatic ? "-static" : "")
            + (hasTrait ? "-trait" : "")
    }

    private static let directories = Locked<[ExampleBuild: Result<String, any Error>]>([:])

    /// The path of something that was built. Builds when the first test asks, one after the other.
    public func path(_ name: String) throws -> String {
        let directory = Self.directories.withLock { directories in
            let directory = directories[self] ?? Result { try build() }
            directories[self] = directory
            return directory
        }
        return try "\(directory.get())/\(name)"
    }

    private func build() throws -> String {
        var arguments = ["build", "--product", "spring", "-c", isRelease ? "release" : "debug"]
        if enablesTweaks { arguments += ["-Xswiftc", "-DFB_TWEAK_ENABLED", "-Xcc", "-DFB_TWEAK_ENABLED=1"] }
        if isStatic { arguments.append("--static-swift-stdlib") }
        if hasTrait {
            arguments += ["--package-path", Example.package]
        } else {
            let package = try Self.packageWithoutTrait()
            arguments += ["--package-path", package, "--scratch-path", "\(package)/.build/\(self)"]
            arguments += (["-DMacros"] + (try Example.pluginFlags)).flatMap { ["-Xswiftc", $0] }
        }
        return try Example.build(arguments)
    }

    /// A copy of the example without the trait, as deep in the checkout since the manifests say `../..`.
    private static func packageWithoutTrait() throws -> String {
        let files = FileManager.default
        let copy = Locations.package + "/.build/example"
        for folder in ["", "/SpringPhysics"] {
            try files.createDirectory(atPath: copy + folder, withIntermediateDirectories: true)
            // Written each time, since the package manager overlooks files that are new in a package which another one
            // depends on by path.
            try String(contentsOfFile: "\(Example.package)\(folder)/Package.swift", encoding: .utf8)
                .replacingOccurrences(of: ", traits: [\"Macros\"]", with: "")
                .write(toFile: "\(copy)\(folder)/Package.swift", atomically: true, encoding: .utf8)
        }
        for folder in ["Sources", "Tests", "SpringPhysics/Sources"]
        where !files.fileExists(atPath: "\(copy)/\(folder)") {
            try files.createSymbolicLink(
                atPath: "\(copy)/\(folder)", withDestinationPath: "\(Example.package)/\(folder)")
        }
        return copy
    }
}
