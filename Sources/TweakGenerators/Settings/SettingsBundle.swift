public import TweakFormats

/// A `Settings.bundle` with a page of switches for the features.
public enum SettingsBundle {
    private struct Page: Encodable {
        let PreferenceSpecifiers: [[String: Setting]]
    }

    private enum Setting: Encodable {
        case text(String), flag(Bool)

        func encode(to encoder: any Encoder) throws {
            switch self {
            case .text(let text): try text.encode(to: encoder)
            case .flag(let flag): try flag.encode(to: encoder)
            }
        }
    }

    private static let title = "Features"
    /// The file that the system begins with, in the bundle.
    public static let rootPath = "Settings.bundle/Root.plist"

    /// The files of a bundle.
    ///
    /// - Parameters:
    ///   - features: The features. Each top-level one has a switch.
    ///   - root: The file at ``rootPath``, in XML, if there is one. It keeps what it has, byte for byte, and gets what is
    ///     missing of a group and a page for the features.
    ///   - path: Where that is from, for the messages of errors.
    /// - Throws: ``FormatError`` if it is none.
    public static func files(
        for features: FeatureSet, root: [UInt8]?, path: String
    ) throws(FormatError) -> [GeneratedFile] {
        let switches = features.all.filter { $0.path.count == 1 }.map { feature -> [String: Setting] in
            [
                "Key": .text(OlderSystem.flipTheSwitch.keyPrefix + feature.flatName),
                "Title": .text(title(of: feature.flatName)), "DefaultValue": .flag(feature.isEnabled),
                "Type": .text("PSToggleSwitchSpecifier"),
            ]
        }
        let page = try PreferencePage(root ?? encoded(Page(PreferenceSpecifiers: [])), path: path)
        let newRoot = try page.adding([
            PreferencePage.Item(identity: ["Type": "PSGroupSpecifier", "Title": title]),
            PreferencePage.Item(
                identity: ["Type": "PSChildPaneSpecifier", "File": title], others: ["Title": title]),
        ])
        return [
            GeneratedFile(name: rootPath, bytes: newRoot),
            GeneratedFile(
                name: "Settings.bundle/\(title).plist", bytes: encoded(Page(PreferenceSpecifiers: switches))),
        ]
    }

    private static func encoded(_ value: some Encodable) -> [UInt8] {
        // Texts and Bools have a form in a property list.
        (try? xmlPropertyList(value)) ?? []
    }

    private static func title(of name: String) -> String {
        let words = name.replacing("_", with: " ")
        return words.prefix(1).uppercased() + words.dropFirst()
    }
}
