// SPDX-License-Identifier: BSD-3-Clause
package import TweakFormats
internal import TweakRecords

/// A `Settings.bundle` with a page of switches for the features.
package enum SettingsBundle {
    private static let title = "Features"
    /// The first file of the bundle that the system reads.
    package static let rootPath = "Settings.bundle/Root.plist"

    /// The files of a bundle.
    ///
    /// - Parameters:
    ///   - features: The features. Each top-level one has a switch.
    ///   - root: The existing file at ``rootPath``, in XML, if any. Its content is kept byte for byte, and a missing
    ///     group and page for the features are added.
    ///   - path: The path of that file, for errors.
    /// - Throws: ``FormatError`` if the file is not a settings page.
    package static func files(
        for features: FeatureSet, root: [UInt8]?, path: String
    ) throws(FormatError) -> [GeneratedFile] {
        let switches = features.all.filter { $0.path.count == 1 }.map { feature -> WrittenPropertyList in
            .dictionary([
                "Key": .text(OlderSystem.flipTheSwitch.keyPrefix + feature.flatName),
                "Title": .text(title(of: feature.flatName)), "DefaultValue": .flag(feature.isEnabled),
                "Type": .text("PSToggleSwitchSpecifier"),
            ])
        }
        let page = try PreferencePage(root ?? list(of: []), path: path)
        let newRoot = try page.adding([
            PreferencePage.Item(identity: ["Type": "PSGroupSpecifier", "Title": title]),
            PreferencePage.Item(
                identity: ["Type": "PSChildPaneSpecifier", "File": title], others: ["Title": title]),
        ])
        return [
            GeneratedFile(name: rootPath, bytes: newRoot),
            GeneratedFile(
                name: "Settings.bundle/\(title).plist", bytes: list(of: switches)),
        ]
    }

    private static func list(of specifiers: [WrittenPropertyList]) -> [UInt8] {
        WrittenPropertyList.dictionary(["PreferenceSpecifiers": .array(specifiers)]).xml
    }

    private static func title(of name: String) -> String {
        let words = name.replacing("_", with: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }
}
