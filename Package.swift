// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "tweaks",
    products: [
        .library(name: "FBTweak", targets: ["FBTweak"]),
    ],
    targets: [
        .target(name: "FBTweak", path: "CSupport", exclude: ["RecordFormat.md"]),
        .systemLibrary(name: "CLibELF", pkgConfig: "libelf", providers: [.apt(["libelf-dev"])]),
        .target(name: "TweakRecords"),
        .target(name: "TweakELF", dependencies: ["CLibELF", "TweakRecords"]),
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
