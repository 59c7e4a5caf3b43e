// swift-tools-version: 6.2
// SPDX-License-Identifier: BSD-3-Clause

import PackageDescription

// A program with 10,000 tweaks that get values from providers. `tools/bench` writes the C sources of the tweaks into
// the build directory first.
let package = Package(
    name: "provide-benchmark",
    dependencies: [
        .package(name: "tweaks", path: "../../../.."),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.0.0"),
    ],
    targets: [
        .target(
            name: "CChain",
            dependencies: [.product(name: "FBTweak", package: "tweaks")],
            path: "CChain",
            cSettings: [.define("FB_TWEAK_ENABLED", to: "1")]),
        .target(
            name: "ProvidedTweaks",
            dependencies: [.product(name: "FBTweak", package: "tweaks")],
            path: ".build/generated/ProvidedTweaks",
            // Only the records matter, not the code.
            cSettings: [.define("FB_TWEAK_ENABLED", to: "1"), .unsafeFlags(["-O1"])]),
        .executableTarget(
            name: "provide-benchmark",
            dependencies: [
                "CChain",
                "ProvidedTweaks",
                .product(name: "Tweaks", package: "tweaks"),
                .product(name: "Configuration", package: "swift-configuration"),
            ],
            path: "ProvideBenchmark"),
    ],
    cLanguageStandard: .c11
)
