// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `As a dependency` {
    @Test func `C macros and the store bring no swift-syntax and nothing of HTTP along`() throws {
        let directory = try TemporaryDirectory()
        try Example.writeManifest(
            in: directory,
            target: """
                .target(
                    name: "Dependent",
                    dependencies: [
                        .product(name: "FBTweak", package: "tweaks"), .product(name: "Tweaks", package: "tweaks"),
                    ])
                """)
        try directory.write("Sources/Dependent/Dependent.swift", "import Tweaks\n")
        let result = try Example.swift(["package", "--package-path", directory.path, "show-dependencies"])
        #expect(result.succeeded, "\(result.error)")
        #expect(result.output.contains("swift-log"))
        #expect(!result.output.contains("swift-syntax"))
        for package in [
            "swift-nio", "hummingbird", "swift-certificates", "swift-crypto", "swift-configuration",
            "async-http-client",
        ] {
            #expect(!(result.output + result.error).contains(package), "\(package)")
        }
        // What is not resolved is not there to be built.
        let resolved = try String(contentsOfFile: directory("Package.resolved"), encoding: .utf8)
        #expect(!resolved.contains("hummingbird"))
    }
}
