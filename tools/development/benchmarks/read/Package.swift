// swift-tools-version: 6.2
// SPDX-License-Identifier: BSD-3-Clause

import PackageDescription

// Reads of tweaks compared with reads of constants and of other ways to store settings. `tools/bench` builds it with
// the macro plug-in of `tools/example`, a debug build: a release build of swift-syntax takes too long.
let package = Package(
    name: "read-benchmark",
    products: [
        .executable(name: "read-benchmark", targets: ["read-benchmark"]),
        .library(name: "CountedAllocations", type: .dynamic, targets: ["CountedAllocations"]),
    ],
    dependencies: [
        .package(name: "tweaks", path: "../../../.."),
        .package(url: "https://github.com/apple/swift-configuration", from: "1.0.0", traits: []),
    ],
    targets: [
        .target(
            name: "CLoops",
            dependencies: [.product(name: "FBTweak", package: "tweaks")],
            path: "CLoops",
            cSettings: [.define("FB_TWEAK_ENABLED", to: "1")]),
        .target(name: "CountedAllocations", path: "CountedAllocations"),
        .executableTarget(
            name: "read-benchmark",
            dependencies: [
                "CLoops",
                .product(name: "Tweaks", package: "tweaks"),
                .product(name: "Configuration", package: "swift-configuration"),
            ],
            path: "ReadBenchmark",
            swiftSettings: [.define("FB_TWEAK_ENABLED")]),
    ],
    cLanguageStandard: .c11
)
