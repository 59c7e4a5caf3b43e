// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import PackagePlugin

/// Generates Swift accessors before a target is compiled.
///
/// From `features.json` in the target's directory it generates the enumeration `Features`, with the features of the
/// environment `default`; from each `Name.tweaks.json`, a JustTweak file, the structure `NameTweaks`.
@main
struct AccessorsPlugin: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        guard target.sourceModule is SwiftSourceModuleTarget else { return [] }
        let tool = try context.tool(named: "tweak-accessors").url
        let files = try FileManager.default.contentsOfDirectory(
            at: target.directoryURL, includingPropertiesForKeys: nil
        ).sorted { $0.path < $1.path }
        return files.compactMap { file in
            guard let (kind, name) = Self.accessor(of: file.lastPathComponent) else { return nil }
            let outputs = (kind == "features" ? [name] : [name, "\(name)+Constants"]).map {
                context.pluginWorkDirectoryURL.appending(path: "\($0).swift")
            }
            return .buildCommand(
                displayName: "Making the accessor \(name)", executable: tool,
                arguments: [kind, file.path, context.pluginWorkDirectoryURL.path, name],
                inputFiles: [file], outputFiles: outputs)
        }
    }

    private static func accessor(of file: String) -> (kind: String, name: String)? {
        if file == "features.json" { return ("features", "Features") }
        let suffix = ".tweaks.json"
        guard file.hasSuffix(suffix), file != suffix else { return nil }
        return ("just-tweak", file.dropLast(suffix.count) + "Tweaks")
    }
}
