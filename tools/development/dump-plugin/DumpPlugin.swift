// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import PackagePlugin

/// Builds a package and shows the tweaks in its programs and libraries: `swift package tweak-dump`.
@main
struct DumpPlugin: CommandPlugin {
    func performCommand(context: PluginContext, arguments: [String]) async throws {
        if arguments.contains("--help") || arguments.contains("-h") { return print(Self.usage) }
        var arguments = ArgumentExtractor(arguments)
        let products = arguments.extractOption(named: "product")
        let configuration = arguments.extractOption(named: "configuration").last ?? "debug"
        guard let configuration = PackageManager.BuildConfiguration(rawValue: configuration) else {
            Diagnostics.error("--configuration must be debug or release, not \(configuration)")
            return
        }
        var files: [String] = []
        let subsets: [PackageManager.BuildSubset] =
            products.isEmpty ? [.all(includingTests: false)] : products.map { .product($0) }
        for subset in subsets {
            guard let built = try build(subset, configuration) else { return }
            for file in built where !files.contains(file) { files.append(file) }
        }
        guard !files.isEmpty else { return Diagnostics.error("the package has no program and no library") }

        let process = Process()
        process.executableURL = try context.tool(named: "tweak-dump").url
        process.arguments = arguments.remainingArguments + files
        try process.run()
        process.waitUntilExit()
        guard process.terminationReason == .exit else { return Diagnostics.error("tweak-dump crashed") }
        if process.terminationStatus != 0 { exit(process.terminationStatus) }
    }

    /// - Returns: The files that may contain tweaks; `nil` if the package does not build, which was reported.
    private func build(
        _ subset: PackageManager.BuildSubset, _ configuration: PackageManager.BuildConfiguration
    ) throws -> [String]? {
        let result = try packageManager.build(subset, parameters: .init(configuration: configuration))
        guard result.succeeded else {
            Diagnostics.error("the package does not build:\n\(result.logText)")
            return nil
        }
        return result.builtArtifacts.map(\.url.path).filter { FileManager.default.fileExists(atPath: $0) }
            .sorted()
    }

    private static let usage = """
        usage: swift package tweak-dump [--product NAME] [--configuration debug|release] [OPTION…]

          --product NAME      only this product of the package; may be given several times
          --configuration C   the build configuration: debug (default) or release
          OPTION…             of tweak-dump, such as --forbid, --lint and --format json: see tweak-dump(1)

        The exit status is that of tweak-dump.
        """
}
