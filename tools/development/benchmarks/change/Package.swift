// swift-tools-version: 6.2
// SPDX-License-Identifier: BSD-3-Clause

import PackageDescription

// Changes and lookups of tweaks in the store. It uses no Swift macro, so swift-syntax is not built.
let package = Package(
    name: "change-benchmark",
    dependencies: [.package(name: "tweaks", path: "../../../..")],
    targets: [
        .executableTarget(
            name: "change-benchmark",
            dependencies: [.product(name: "Tweaks", package: "tweaks")],
            path: "ChangeBenchmark")
    ]
)
