// swift-tools-version: 6.2

import PackageDescription

// Reads of tweaks next to reads of what they stand for. `tools/bench` builds it with the macro plug-in of
// `tools/example`, a debug build: swift-syntax takes too long to build for release.
let package = Package(
    name: "read-benchmark",
    dependencies: [.package(name: "tweaks", path: "../../..")],
    targets: [
        .target(
            name: "CLoops",
            dependencies: [.product(name: "FBTweak", package: "tweaks")],
            path: "CLoops",
            cSettings: [.define("FB_TWEAK_ENABLED", to: "1")]),
        .executableTarget(
            name: "read-benchmark",
            dependencies: ["CLoops", .product(name: "Tweaks", package: "tweaks")],
            path: "ReadBenchmark",
            swiftSettings: [.define("FB_TWEAK_ENABLED")]),
    ],
    cLanguageStandard: .c11
)
