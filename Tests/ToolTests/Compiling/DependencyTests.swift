// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `As a dependency` {
    @Test(arguments: [
        ("FBTweak", ", traits: []", []),
        ("Tweaks", #", traits: ["Library"]"#, ["swift-log"]),
        ("Tweaks", "", ["swift-argument-parser", "swift-log"]),
        ("Tweaks", #", traits: ["Macros"]"#, ["swift-log", "swift-syntax"]),
    ])
    func `the package brings along only what its traits need`(
        product: String, traits: String, packages: [String]
    ) throws {
        let directory = try TemporaryDirectory()
        try Example.writeManifest(
            in: directory,
            target:
                ".target(name: \"Dependent\", dependencies: [.product(name: \"\(product)\", package: \"tweaks\")])",
            traits: traits)
        try directory.write("Sources/Dependent/Dependent.swift", "import \(product)\n")
        let result = try Example.swift([
            "package", "--package-path", directory.path, "show-dependencies", "--format", "flatlist",
        ])
        #expect(result.succeeded, "\(result.error)")
        // The package itself is named after its folder.
        let names = result.output.split(separator: "\n").map(String.init).filter {
            !Locations.package.hasSuffix("/" + $0)
        }
        #expect(names.sorted() == packages, "\(result.output)")
    }

    @Test func `C macros are built without any other package`() throws {
        let directory = try TemporaryDirectory()
        try Example.writeManifest(
            in: directory,
            target:
                #".executableTarget(name: "App", dependencies: [.product(name: "FBTweak", package: "tweaks")])"#,
            traits: ", traits: []")
        try directory.write(
            "Sources/App/main.c",
            """
            #include <fbtweak.h>
            int main(void) { return FBTweakValue("App", "Start", "Status", 7); }
            """)
        let result = try Example.swift(["run", "--package-path", directory.path, "App"])
        #expect(result.status == 7, "\(result.error)")
    }
}
