// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "spring",
    dependencies: [
        .package(name: "tweaks", path: "../..", traits: ["Macros"]),
        .package(name: "spring-physics", path: "SpringPhysics"),
    ],
    targets: [
        .executableTarget(
            name: "spring",
            dependencies: [
                "SpringScene",
                .product(name: "Tweaks", package: "tweaks"),
            ]),
        .executableTarget(
            name: "switches",
            dependencies: [.product(name: "Tweaks", package: "tweaks")],
            plugins: [.plugin(name: "TweakAccessors", package: "tweaks")]),
        .target(
            name: "SpringScene",
            dependencies: [
                .product(name: "FBTweak", package: "tweaks"),
                .product(name: "SpringPhysics", package: "spring-physics"),
            ]),
        .testTarget(
            name: "SpringTests",
            dependencies: [
                "SpringScene",
                .product(name: "Tweaks", package: "tweaks"),
                .product(name: "TweaksTesting", package: "tweaks"),
            ]),
    ],
    cLanguageStandard: .c11
)

// Swift 6.2 needs it for tweaks that Swift macros declare.
for target in package.targets { target.swiftSettings = [.enableExperimentalFeature("SymbolLinkageMarkers")] }
