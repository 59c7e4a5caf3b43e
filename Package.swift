// swift-tools-version: 6.2
// SPDX-License-Identifier: BSD-3-Clause

import CompilerPluginSupport
import PackageDescription

// Without traits a package that has only C macros builds and loads nothing else.
let logging = Target.Dependency.product(
    name: "Logging", package: "swift-log", condition: .when(traits: ["Library"]))
let argumentParser = Target.Dependency.product(
    name: "ArgumentParser", package: "swift-argument-parser", condition: .when(traits: ["Commands"]))

let package = Package(
    name: "tweaks",
    products: [
        .library(name: "FBTweak", targets: ["FBTweak"]),
        .library(name: "Tweaks", targets: ["Tweaks"]),
        // tools/install makes libtweaks.so of it.
        .library(name: "TweaksShared", type: .dynamic, targets: ["Tweaks"]),
        .library(name: "TweaksFoundation", targets: ["TweaksFoundation"]),
        .library(name: "TweaksTesting", targets: ["TweaksTesting"]),
        .library(name: "TweaksProviderTesting", targets: ["TweaksProviderTesting"]),
        .library(name: "TweaksConfiguration", targets: ["TweaksConfiguration"]),
        .library(name: "TweaksRemote", targets: ["TweaksRemote"]),
        .executable(name: "tweak", targets: ["tweak"]),
        .executable(name: "tweak-dump", targets: ["tweak-dump"]),
        .executable(name: "tweak-adopt", targets: ["tweak-adopt"]),
        .executable(name: "tweak-ui", targets: ["tweak-ui"]),
        .executable(name: "tweak-agent", targets: ["tweak-agent"]),
        .plugin(name: "TweakAccessors", targets: ["TweakAccessors"]),
        .plugin(name: "TweakDump", targets: ["TweakDump"]),
    ],
    traits: [
        .trait(name: "Library", description: "The library, Tweaks. Builds swift-log."),
        .trait(
            name: "Commands", description: "The commands. Builds swift-argument-parser.",
            enabledTraits: ["Library"]),
        .trait(
            name: "Macros", description: "The Swift macros, such as #tweak. Builds swift-syntax.",
            enabledTraits: ["Library"]),
        .trait(
            name: "Configuration", description: "TweaksConfiguration. Builds swift-configuration.",
            enabledTraits: ["Library"]),
        .trait(
            name: "UI", description: "The page in a browser, tweak-ui. Builds Hummingbird.",
            enabledTraits: ["Commands"]),
        .trait(
            name: "Remote", description: "Remote values: tweak-agent. Builds AsyncHTTPClient.",
            enabledTraits: ["Library"]),
        .default(enabledTraits: ["Commands"]),
    ],
    dependencies: [
        .package(url: "https://github.com/apple/swift-argument-parser", from: "1.5.0"),
        .package(url: "https://github.com/apple/swift-log", from: "1.6.0"),
        // With the traits, these two would bring all of Foundation and its tables of Unicode into commands: 40 MB.
        .package(url: "https://github.com/apple/swift-configuration", from: "1.0.0", traits: []),
        .package(url: "https://github.com/hummingbird-project/hummingbird", from: "2.20.0", traits: []),
        .package(url: "https://github.com/swiftlang/swift-syntax", from: "603.0.0"),
        .package(url: "https://github.com/apple/swift-certificates", from: "1.10.0"),
        .package(url: "https://github.com/apple/swift-asn1.git", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-http-types.git", from: "1.3.0"),
        .package(url: "https://github.com/apple/swift-nio.git", from: "2.81.0"),
        .package(url: "https://github.com/apple/swift-nio-extras.git", from: "1.24.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", from: "2.29.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle", from: "2.6.0"),
        .package(url: "https://github.com/swift-server/async-http-client.git", from: "1.21.0"),
        .package(url: "https://github.com/apple/swift-crypto.git", "3.0.0"..<"5.0.0"),
    ],
    targets: [
        .target(name: "FBTweak", path: "CSupport", exclude: ["RecordFormat.md"]),
        .target(name: "CTweaks", dependencies: ["CTweakSystem", "FBTweak"]),
        .target(name: "CTweakSystem"),
        .systemLibrary(name: "CLibELF", pkgConfig: "libelf", providers: [.apt(["libelf-dev"])]),
        // Only for tweak-adopt.
        .systemLibrary(name: "CLibDW", pkgConfig: "libdw", providers: [.apt(["libdw-dev"])]),
        // Only for tweak.
        .systemLibrary(name: "CLibYAML", pkgConfig: "yaml-0.1", providers: [.apt(["libyaml-dev"])]),
        .target(name: "TweakRecords"),
        .target(name: "TweakJSON", dependencies: ["TweakRecords"]),
        .target(
            name: "TweakFormats",
            dependencies: ["TweakJSON", "TweakProtocol", "TweakRecords", "TweakSystem"]),
        .target(name: "TweakFailures"),
        .target(name: "TweakSystem", dependencies: ["CTweakSystem"]),
        .target(
            name: "TweakOverrides",
            dependencies: ["TweakJSON", "TweakProtocol", "TweakRecords", "TweakSystem"]),
        .target(
            name: "TweakTargeting",
            dependencies: ["TweakFormats", "TweakJSON", "TweakOverrides", "TweakRecords", "TweakSystem"]),
        .target(
            name: "TweakProtocol", dependencies: ["CTweakSystem", "TweakJSON", "TweakRecords", "TweakSystem"]),
        .target(name: "TweakELF", dependencies: ["CLibELF", "TweakRecords", "TweakSystem"]),
        // Apart, because the library does not need it.
        .target(name: "TweakCompilation", dependencies: ["CLibELF", "TweakELF", "TweakRecords"]),
        .target(
            name: "Tweaks",
            dependencies: [
                "CTweakSystem",
                "CTweaks",
                "FBTweak",
                "TweakELF",
                "TweakFormats",
                "TweakJSON",
                "TweakOverrides",
                "TweakProtocol",
                "TweakRecords",
                "TweakSystem",
                logging,
                .target(name: "TweakMacros", condition: .when(traits: ["Macros"])),
            ]),
        .macro(
            name: "TweakMacros",
            dependencies: [
                "SwiftCompilerPlugin", "SwiftDiagnostics", "SwiftParser", "SwiftSyntax", "SwiftSyntaxBuilder",
                "SwiftSyntaxMacros",
            ].map {
                .product(name: $0, package: "swift-syntax", condition: .when(traits: ["Macros"]))
            } + [.target(name: "TweakRecords", condition: .when(traits: ["Macros"]))]),
        // Apart, because a program may not want Foundation.
        .target(name: "TweaksFoundation", dependencies: ["TweakRecords", "Tweaks"]),
        .target(
            name: "TweaksTesting", dependencies: ["TweakClient", "TweakJSON", "TweakProtocol", "Tweaks"]),
        .target(name: "TweaksProviderTesting", dependencies: ["Tweaks"]),
        .target(
            name: "TweaksConfiguration",
            dependencies: [
                "TweakRecords", "Tweaks",
                .product(
                    name: "Configuration", package: "swift-configuration",
                    condition: .when(traits: ["Configuration"])),
            ],
            // As in swift-configuration, whose protocols it implements.
            swiftSettings: [.enableUpcomingFeature("NonisolatedNonsendingByDefault")]),
        .target(
            name: "RemoteValues",
            dependencies: [
                "CTweakSystem", "TweakFormats", "TweakJSON", "TweakOverrides", "TweakRecords", "TweakSystem",
                "TweakTargeting",
            ]
                + web(
                    [
                        "AsyncHTTPClient", "Crypto", "NIOCore", "NIOHTTP1", "NIOHTTPCompression", "NIOPosix",
                        "NIOSSL",
                    ],
                    trait: "Remote")),
        .target(
            name: "TweakFleet",
            dependencies: [
                "CommandCompletion", "CommandSupport", "RemoteValues", "TweakClient", "TweakFormats",
                "TweakJSON", "TweakOverrides", "TweakProtocol", "TweakRecords", "TweakSystem",
                "TweakTargeting",
                argumentParser,
            ]),
        .target(
            name: "TweaksRemote",
            dependencies: [
                "RemoteValues", "TweakJSON", "TweakOverrides", "TweakSystem", "TweakTargeting", "Tweaks",
            ]),
        .target(name: "CCommandSupport"),
        .target(
            name: "CommandSupport",
            dependencies: [
                "CCommandSupport", "TweakFailures", "TweakJSON", "TweakRecords", "TweakSystem",
            ]),
        .target(
            name: "CommandCompletion",
            dependencies: [
                "CommandSupport", "TweakJSON", "TweakRecords", "TweakSystem",
                argumentParser,
            ]),
        .target(
            name: "TweakMemory",
            dependencies: ["CTweakSystem", "TweakELF", "TweakFailures", "TweakRecords", "TweakSystem"]),
        .target(
            name: "TweakDWARF",
            dependencies: ["CLibDW", "TweakELF", "TweakMemory", "TweakRecords", "TweakSystem"]),
        .target(
            name: "TweakClient",
            dependencies: [
                "CommandSupport", "CTweakSystem", "TweakCompilation", "TweakELF", "TweakFormats", "TweakJSON",
                "TweakMemory",
                "TweakOverrides", "TweakProtocol", "TweakRecords", "TweakSystem",
            ]),
        .target(name: "TweakPlot", dependencies: ["CommandSupport", "TweakRecords"]),
        .target(name: "TweakXCP", dependencies: ["TweakRecords"]),
        .target(name: "TweakSearch", dependencies: ["TweakGenerators", "TweakRecords"]),
        .target(name: "TweakSources", dependencies: ["CommandSupport", "TweakRecords", "TweakSystem"]),
        .target(
            name: "TweakGenerators",
            dependencies: ["CommandSupport", "TweakFormats", "TweakJSON", "TweakRecords", "TweakSystem"]),
        .executableTarget(
            name: "tweak-dump",
            dependencies: [
                "CommandCompletion", "CommandSupport", "TweakCompilation", "TweakELF", "TweakFormats",
                "TweakGenerators", "TweakMemory", "TweakOverrides",
                "TweakProtocol",
                "TweakRecords",
                "TweakSources",
                "TweakSystem",
                argumentParser,
            ],
            path: "tools/tweak-dump"),
        .executableTarget(
            name: "tweak",
            dependencies: [
                "CLibYAML", "CommandCompletion", "CommandSupport", "CTweakSystem", "TweakClient",
                "TweakFormats",
                "TweakGenerators",
                "TweakJSON",
                "TweakOverrides", "TweakPlot",
                "TweakProtocol", "TweakRecords", "TweakSearch", "TweakSources", "TweakSystem",
                "TweakTargeting", "TweakXCP",
                argumentParser,
            ],
            path: "tools/tweak"),
        .executableTarget(
            name: "tweak-adopt",
            dependencies: [
                "CommandCompletion", "CommandSupport", "TweakClient", "TweakDWARF", "TweakFormats",
                "TweakJSON",
                "TweakMemory", "TweakOverrides", "TweakProtocol", "TweakRecords", "TweakSystem",
                argumentParser,
            ],
            path: "tools/tweak-adopt"),
        .target(name: "CTweakPage"),
        .target(
            name: "TweakPage",
            dependencies: [
                "CTweakPage", "CTweakSystem", "CommandSupport", "TweakClient", "TweakFleet", "TweakFormats",
                "TweakJSON", "TweakMemory", "TweakOverrides", "TweakProtocol", "TweakRecords", "TweakSystem",
                argumentParser,
            ]
                + web(
                    [
                        "Crypto", "HTTPTypes", "Hummingbird", "HummingbirdCore", "HummingbirdTLS", "Logging",
                        "NIOCore",
                        "NIOEmbedded", "NIOHTTP1", "NIOHTTPCompression", "NIOHTTPTypes", "NIOSSL",
                        "ServiceLifecycle",
                        "SwiftASN1", "X509",
                    ], trait: "UI")),
        .executableTarget(
            name: "tweak-ui",
            dependencies: [
                "CommandCompletion", "CommandSupport", "TweakClient", "TweakPage", "TweakRecords",
                argumentParser,
            ],
            path: "tools/tweak-ui"),
        .executableTarget(
            name: "tweak-agent",
            dependencies: [
                "CommandCompletion", "CommandSupport", "TweakClient", "TweakFormats", "TweakJSON",
                "TweakOverrides", "TweakProtocol", "TweakRecords", "RemoteValues", "TweakFleet",
                "TweakSystem", "TweakTargeting",
                argumentParser,
            ],
            path: "tools/tweak-agent"),
        .executableTarget(
            name: "tweak-accessors", dependencies: ["TweakFormats", "TweakGenerators", "CommandSupport"],
            path: "tools/tweak-accessors"),
        .plugin(
            name: "TweakAccessors", capability: .buildTool(), dependencies: ["tweak-accessors"],
            path: "tools/development/accessors-plugin"),
        .plugin(
            name: "TweakDump",
            capability: .command(
                intent: .custom(
                    verb: "tweak-dump", description: "Show the tweaks in what a package builds")),
            dependencies: ["tweak-dump"], path: "tools/development/dump-plugin"),
        .executableTarget(
            name: "live-program", dependencies: ["FBTweak", "Tweaks"], path: "Tests/Programs/live-program",
            cSettings: [.define("_GNU_SOURCE")]),
        .executableTarget(
            name: "making-program", dependencies: ["Tweaks"], path: "Tests/Programs/making-program"),
        .executableTarget(
            name: "tested-program", dependencies: ["Tweaks"], path: "Tests/Programs/tested-program"),
        .target(
            name: "StartedScenarios", dependencies: ["FBTweak"], path: "Tests/Programs/started/Scenarios",
            cSettings: [.define("_GNU_SOURCE"), .define("FB_TWEAK_ENABLED", to: "1")]),
        .executableTarget(
            name: "started-program", dependencies: ["StartedScenarios", "Tweaks"],
            path: "Tests/Programs/started/Program"),
        .target(name: "TestSupport", dependencies: ["TestThreads"], path: "Tests/TestSupport"),
        .target(name: "TestThreads", path: "Tests/TestThreads", cSettings: [.define("_GNU_SOURCE")]),
        .target(name: "SetterTweaks", dependencies: ["FBTweak"], path: "Tests/Programs/SetterTweaks"),
        .executableTarget(
            name: "tweak-setter", dependencies: ["SetterTweaks", "Tweaks"],
            path: "Tests/Programs/tweak-setter"),
        .executableTarget(
            name: "interface-scenarios", dependencies: ["FBTweak", "Tweaks"],
            path: "Tests/Programs/interface-scenarios", exclude: ["plugin"],
            cSettings: [.define("_GNU_SOURCE")]),
        .testTarget(name: "TweakRecordsTests", dependencies: ["TestSupport", "TweakELF", "TweakRecords"]),
        .testTarget(
            name: "TweakProtocolTests",
            dependencies: ["TestSupport", "TweakJSON", "TweakProtocol", "TweakRecords"]),
        .testTarget(
            name: "TweakFormatsTests",
            dependencies: ["TestSupport", "TweakFormats", "TweakJSON", "TweakRecords"]),
        .testTarget(
            name: "TweakJSONTests",
            dependencies: ["TestSupport", "TweakFormats", "TweakJSON", "TweakRecords"]),
        .testTarget(
            name: "TweakOverridesTests",
            dependencies: ["TestSupport", "TweakJSON", "TweakOverrides", "TweakRecords"]),
        .testTarget(
            name: "TweakGeneratorsTests",
            dependencies: ["TweakFormats", "TweakGenerators", "TweakJSON", "TweakRecords"]),
        .testTarget(
            name: "TweakClientTests",
            dependencies: [
                "CommandSupport", "TestSupport", "TweakClient", "TweakFormats", "TweakOverrides",
                "TweakProtocol",
                "TweakRecords",
            ]),
        .testTarget(
            name: "TweakTargetingTests",
            dependencies: [
                "TestSupport", "TweakFormats", "TweakJSON", "TweakOverrides", "TweakRecords",
                "TweakTargeting",
            ]),
        .testTarget(name: "TweakSystemTests", dependencies: ["TestSupport", "TweakSystem"]),
        .testTarget(
            name: "CommandSupportTests", dependencies: ["CommandSupport", "TestSupport", "TweakRecords"]),
        .testTarget(
            name: "TweakSearchTests",
            dependencies: ["TestSupport", "TweakGenerators", "TweakRecords", "TweakSearch"]),
        .testTarget(
            name: "TweakSourcesTests",
            dependencies: ["CommandSupport", "TestSupport", "TweakELF", "TweakRecords", "TweakSources"]),
        .testTarget(name: "TweakXCPTests", dependencies: ["TweakRecords", "TweakXCP"]),
        .testTarget(name: "TweakPlotTests", dependencies: ["TestSupport", "TweakPlot", "TweakRecords"]),
        .testTarget(
            name: "TweakMemoryTests", dependencies: ["TestSupport", "TweakMemory", "TweakRecords"]),
        .testTarget(
            name: "TweakDWARFTests", dependencies: ["TestSupport", "TweakDWARF", "TweakRecords"]),
        .testTarget(
            name: "TweakELFTests",
            dependencies: ["TestSupport", "TweakCompilation", "TweakELF", "TweakRecords"]),
        .testTarget(
            name: "TweaksTests",
            dependencies: [
                "CTweakSystem", "FBTweak", "SetterTweaks", "TestSupport", "TestThreads", "TweakFormats",
                "TweakJSON",
                "TweakOverrides",
                "TweakProtocol",
                "TweakRecords", "TweakSystem", "Tweaks", "TweaksFoundation", "TweaksProviderTesting",
                logging,
            ]),
        .testTarget(
            name: "TweaksTestingTests",
            dependencies: ["SetterTweaks", "TestSupport", "Tweaks", "TweaksTesting", "tested-program"]),
        .testTarget(
            name: "TweaksConfigurationTests",
            dependencies: [
                "Tweaks", "TweaksConfiguration", "TweaksProviderTesting",
                .product(
                    name: "Configuration", package: "swift-configuration",
                    condition: .when(traits: ["Configuration"])),
                .product(
                    name: "ConfigurationTesting", package: "swift-configuration",
                    condition: .when(traits: ["Configuration"])),
            ]),
        .testTarget(
            name: "ToolTests",
            // Commands are tested as installed.
            dependencies: [
                "TestSupport", "Tweaks", "making-program", "started-program", "tweak-accessors",
                "tweak-setter",
            ],
            exclude: ["Page/browser", "Page/modules"]),
    ],
    cLanguageStandard: .c11,
    cxxLanguageStandard: .cxx17
)

/// The folders of `Sources`, each with the targets in it.
let folders = [
    "System": ["CLibDW", "CLibELF", "CLibYAML", "CTweakSystem", "TweakFailures", "TweakSystem"],
    "Records": ["TweakCompilation", "TweakDWARF", "TweakELF", "TweakMemory", "TweakRecords"],
    "Formats": ["TweakFormats", "TweakJSON", "TweakOverrides", "TweakProtocol", "TweakTargeting"],
    "Library": [
        "CTweaks", "TweakMacros", "Tweaks", "TweaksConfiguration", "TweaksFoundation",
        "TweaksProviderTesting", "TweaksRemote", "TweaksTesting",
    ],
    "Remote": ["RemoteValues", "TweakFleet"],
    "Page": ["CTweakPage", "TweakPage"],
    "Commands": [
        "CCommandSupport", "CommandCompletion", "CommandSupport", "TweakClient", "TweakGenerators",
        "TweakPlot", "TweakSearch", "TweakSources", "TweakXCP",
    ],
]
for (folder, names) in folders {
    for target in package.targets where names.contains(target.name) {
        target.path = "Sources/\(folder)/\(target.name)"
    }
}

/// Products of the packages that the page's server and the agent are built with.
func web(_ products: [String], trait: String) -> [Target.Dependency] {
    let packages = [
        "AsyncHTTPClient": "async-http-client", "Crypto": "swift-crypto", "HTTPTypes": "swift-http-types",
        "Hummingbird": "hummingbird", "HummingbirdCore": "hummingbird", "HummingbirdTLS": "hummingbird",
        "Logging": "swift-log", "NIOHTTPCompression": "swift-nio-extras", "NIOHTTPTypes": "swift-nio-extras",
        "NIOSSL": "swift-nio-ssl", "ServiceLifecycle": "swift-service-lifecycle", "SwiftASN1": "swift-asn1",
        "X509": "swift-certificates",
    ]
    return products.map {
        .product(name: $0, package: packages[$0] ?? "swift-nio", condition: .when(traits: [trait]))
    }
}

// tools/test provides what these need: an installation, servers, other compilers. `swift test` needs Swift alone.
if Context.environment["TWEAKS_TEST_ALL"] == nil {
    package.targets.removeAll { $0.name == "ToolTests" }
}
// The tests of the agent are a program, which is built with the modules that are installed: compiling an HTTP client and
// TLS a second time, for debugging, would take as long as all other tests. What is installed contains the standard
// library, but there is only a shared libTesting.
if Context.environment["TWEAKS_TEST_AGENT"] != nil {
    let shared = ["-no-static-stdlib"]
    package.targets.append(
        .executableTarget(
            name: "TweakAgentTests",
            dependencies: [
                "RemoteValues", "TestSupport", "TweakFormats", "TweakJSON", "TweakOverrides",
                "TweakRecords", "TweakTargeting", "Tweaks", "TweaksRemote",
            ],
            path: "Tests/TweakAgentTests", linkerSettings: [.unsafeFlags(shared)]))
    for target in package.targets where ["TestSupport", "TweakAgentTests"].contains(target.name) {
        target.swiftSettings = [.unsafeFlags(shared + ["-Onone"])]
    }
}

// tools/install builds these products in one run, and nothing else.
if let names = Context.environment["TWEAKS_INSTALL"]?.split(separator: " ") {
    package.products.removeAll { !names.contains($0.name[...]) }
    var needed: Set<String> = []
    // The only product whose name is not that of its target is made of this one.
    var reached = names.map(String.init) + ["Tweaks"]
    while let name = reached.popLast() {
        let target = package.targets.first { $0.name == name }
        guard let target, needed.insert(name).inserted else { continue }
        for dependency in target.dependencies {
            switch dependency {
            case .byNameItem(let name, _), .targetItem(let name, _): reached.append(name)
            default: break
            }
        }
    }
    package.targets.removeAll { !needed.contains($0.name) }
}

// For tools/development/fuzz: harnesses, whose main function is in libFuzzer. One contains the code of tweak-dump.
if Context.environment["TWEAKS_FUZZ"] != nil,
    let dump = package.targets.first(where: { $0.name == "tweak-dump" })
{
    package.targets.removeAll { $0.type == .test || $0.type == .plugin || $0 === dump }
    let harnesses: [Target] = [
        .target(
            name: "FuzzRecords", dependencies: ["TweakRecords"], path: "tools/development/fuzzing/records"),
        .target(
            name: "FuzzDump", dependencies: dump.dependencies, path: "tools",
            exclude: ["tweak-dump/TweakDump.swift"], sources: ["tweak-dump", "development/fuzzing/dump"]),
        .target(
            name: "FuzzCore", dependencies: ["TweakMemory", "TweakRecords"],
            path: "tools/development/fuzzing/core"),
        .target(
            name: "FuzzProcess", dependencies: ["TweakMemory", "TweakRecords"],
            path: "tools/development/fuzzing/process"),
        .target(
            name: "FuzzVariables", dependencies: ["TweakDWARF", "TweakRecords"],
            path: "tools/development/fuzzing/variables"),
    ]
    package.targets += harnesses
    package.products = harnesses.map { .library(name: $0.name, type: .static, targets: [$0.name]) }
}

// Warnings are errors, but not in a copy that the package manager has made for another package: Swift Build refuses the
// setting there.
let isDependency = ["/checkouts/", "/registry/"].contains { Context.packageDirectory.contains($0) }
for target in package.targets where target.type != .system && target.type != .plugin {
    target.cSettings = (target.cSettings ?? []) + (isDependency ? [] : [.treatAllWarnings(as: .error)])
    target.swiftSettings =
        (target.swiftSettings ?? []) + (isDependency ? [] : [.treatAllWarnings(as: .error)]) + [
            .enableUpcomingFeature("ExistentialAny"),
            .enableUpcomingFeature("InternalImportsByDefault"),
            .enableUpcomingFeature("MemberImportVisibility"),
        ]
}
