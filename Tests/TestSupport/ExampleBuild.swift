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
    /// Whether only the example is compiled, without the package manager, and linked with what was built for an installation.
    /// That takes seconds.
    private var isDirect = false

    /// A debug build.
    public static let debug = ExampleBuild(isRelease: false)
    /// A release build.
    public static let release = ExampleBuild(isRelease: true)
    /// A release build of the example alone, with the static standard library.
    public static let direct = ExampleBuild.release.withStaticLibrary.with(\.isDirect)
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
            + (hasTrait ? "-trait" : "") + (isDirect ? "-direct" : "")
    }

    private static let builds = Locked<[ExampleBuild: Task<String, any Error>]>([:])

    /// The path of something that was built. Builds when the first test asks, one after the other, and takes no thread
    /// from other tests for the minutes that this needs.
    public func path(_ name: String) async throws -> String {
        let task = Self.builds.withLock { builds in
            if let task = builds[self] { return task }
            let others = Array(builds.values)
            let task = Task.detached {
                for other in others { _ = await other.result }
                return try await withCheckedThrowingContinuation { continuation in
                    Thread.detachNewThread { continuation.resume(with: Result { try build() }) }
                }
            }
            builds[self] = task
            return task
        }
        return try await "\(task.value)/\(name)"
    }

    private func build() throws -> String {
        if isDirect { return try Self.buildDirectly() }
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

    private static func buildDirectly() throws -> String {
        let folder = Locations.package + "/.build/example/direct"
        let sources = Example.package + "/Sources"
        let physics = Example.package + "/SpringPhysics/Sources/SpringPhysics"
        try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
        try "module SpringScene { umbrella \"\(sources)/SpringScene/include\" export * }".write(
            toFile: folder + "/module.modulemap", atomically: true, encoding: .utf8)
        let home = try TemporaryDirectory()
        let headers = [physics + "/include", sources + "/SpringScene/include"].flatMap { ["-I", $0] }
        let (library, scene) = (folder + "/libSpringPhysics.so", folder + "/scene.o")
        try Compiler.gcc.compile(
            ["\(physics)/spring_physics.c"], to: library,
            ["-std=c11", "-O2", "-fPIC", "-shared", "-Wl,-soname,libSpringPhysics.so"] + headers, home: home)
        try Compiler.gcc.compile(
            ["\(sources)/SpringScene/spring_scene.c"], to: scene, ["-std=c11", "-O2", "-c"] + headers,
            home: home)
        // Its modules have no macros. With those for debugging the macros make the same code.
        _ = try Installation.prefix.get()
        let objects = try Example.libraryObjects(
            linkedInto: Locations.package + "/.build/install/release/TweaksShared")
        let options = headers + ["-I", Locations.include, "-fmodule-map-file=\(folder)/module.modulemap"]
        let result = try run(
            Locations.program("swiftc"),
            ["-swift-version", "6", "-parse-as-library", "-O", "-static-stdlib", "-module-name", "spring"]
                + options.flatMap { ["-Xcc", $0] } + Example.compilerFlags
                + ["\(sources)/spring/Spring.swift", scene] + objects
                + [library, "-lelf", "-lstdc++", "-Xlinker", "-rpath", "-Xlinker", folder]
                + ["-o", folder + "/spring"], home: home)
        guard result.succeeded else { throw CompilationError(description: result.error) }
        return folder
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
