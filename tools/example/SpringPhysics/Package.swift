// swift-tools-version: 6.2

import PackageDescription

let package = Package(
    name: "spring-physics",
    products: [.library(name: "SpringPhysics", type: .dynamic, targets: ["SpringPhysics"])],
    dependencies: [.package(name: "tweaks", path: "../../..", traits: ["Macros"])],
    targets: [.target(name: "SpringPhysics", dependencies: [.product(name: "FBTweak", package: "tweaks")])],
    cLanguageStandard: .c11
)
