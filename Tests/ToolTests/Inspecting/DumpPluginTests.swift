// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// The package is built for each, which takes minutes.
@Suite(.enabled(if: isLong)) struct `swift package tweak-dump` {
    private let package: TemporaryDirectory

    init() throws {
        package = try TemporaryDirectory()
        try Example.writeManifest(
            in: package,
            target:
                #".executableTarget(name: "App", dependencies: [.product(name: "FBTweak", package: "tweaks")])"#
        )
        try package.write(
            "Sources/App/main.c",
            """
            #include <fbtweak.h>
            int main(void) { return FBTweakValue("App", "Start", "Status", 0); }
            """)
    }

    private func swift(_ arguments: String...) throws -> CommandResult {
        try Example.swift(
            Array(arguments.prefix(1)) + ["--package-path", package.path] + Array(arguments.dropFirst()))
    }

    @Test func `Is the gate of a release, and passes on its arguments and status`() throws {
        let debug = try swift("package", "tweak-dump", "--forbid")
        #expect(debug.status == 1)
        #expect(debug.output.contains("/debug/App: App/Start/Status, declared at "), "\(debug.error)")
        let release = try swift("package", "tweak-dump", "--forbid", "--configuration", "release")
        #expect(release.status == 0, "\(release.output)\(release.error)")
        let product = try swift("package", "tweak-dump", "--product", "App", "--format", "csv")
        #expect(product.status == 0)
        #expect(product.output.split(separator: "\n").count { $0.contains(",Status,") } == 1)
    }

    @Test func `Builds no module of its own before it is asked`() throws {
        let result = try swift("build")
        #expect(result.succeeded, "\(result.error)")
        let built = result.output.split(separator: "\n").filter {
            $0.contains("Compiling") && !$0.contains("plugin")
        }
        #expect(!built.contains { $0.contains("tweak_dump") || $0.contains("ArgumentParser") }, "\(built)")
    }
}
