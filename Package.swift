// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "tweaks",
    products: [
        .library(name: "FBTweak", targets: ["FBTweak"]),
        .library(name: "Tweaks", targets: ["Tweaks"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
    ],
    targets: [
        .target(name: "FBTweak", path: "CSupport", exclude: ["RecordFormat.md"]),
        .target(name: "CTweaks"),
        .systemLibrary(name: "CLibELF", pkgConfig: "libelf", providers: [.apt(["libelf-dev"])]),
        .target(name: "TweakRecords"),
        .target(name: "TweakELF", dependencies: ["CLibELF", "TweakRecords"]),
        .target(
            name: "Tweaks",
            dependencies: [
                "CTweaks",
                "FBTweak",
                "TweakELF",
                "TweakRecords",
                .product(name: "Logging", package: "swift-log"),
            ]),
    ],
    cLanguageStandard: .c11
)

for target in package.targets where target.type != .system {
    target.cSettings = (target.cSettings ?? []) + [.treatAllWarnings(as: .error)]
    target.swiftSettings =
        (target.swiftSettings ?? []) + [
            .treatAllWarnings(as: .error),
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ]
}
