// swift-tools-version: 6.2
// SPDX-License-Identifier: BSD-3-Clause

import PackageDescription

// Programs that only start and exit, with the number of tweaks in their names. `tools/bench` writes their C sources
// into the build directory first.
let package = Package(
    name: "start-benchmark",
    dependencies: [.package(name: "tweaks", path: "../../../..")],
    targets: ["start-0", "start-1000", "start-100000"].map { name in
        .executableTarget(
            name: name,
            dependencies: [
                .product(name: "FBTweak", package: "tweaks"),
                .product(name: "Tweaks", package: "tweaks"),
            ],
            path: ".build/generated/\(name)",
            // Only the records matter, not the code.
            cSettings: [.define("FB_TWEAK_ENABLED", to: "1"), .unsafeFlags(["-O1"])])
    } + [.executableTarget(name: "start-without-library", path: ".build/generated/start-without-library")],
    cLanguageStandard: .c11
)
