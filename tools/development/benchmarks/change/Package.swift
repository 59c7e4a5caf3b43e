// swift-tools-version: 6.2

import PackageDescription

// Changes of tweaks through the store, and finding them. It has no Swift macro, so swift-syntax is not built for it.
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
