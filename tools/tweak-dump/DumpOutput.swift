import TweakELF
import TweakProtocol
import TweakRecords
import TweakText

extension Dump {
    func write(_ format: OutputFormat) throws {
        switch format {
        case .table:
            for image in images { writeTable(of: image) }
        case .json:
            try printJSON(["images": images.map(JSONImage.init)])
        }
    }

    private func writeTable(of image: ImageDump) {
        let build = image.buildID.map { ", build id \($0)" } ?? ""
        guard !image.tweaks.isEmpty else {
            return print("\(printable(image.path)) (\(image.architecture)\(build)): no tweaks")
        }
        print("\(printable(image.path)) (\(image.architecture)\(build))")
        let tweaks = image.tweaks.inTableOrder { $0 }
        let table = TextTable(
            header: ["NAME", "TYPE", "DEFAULT", "LIMITS", "NOTES", "DECLARED AT", "DESCRIPTION"],
            optional: ["NOTES", "DESCRIPTION"], groups: tweaks.map(\.heading),
            rows: tweaks.map {
                [
                    $0.key.name, "\($0.type)", $0.text(of: $0.defaultValue, rounded: true), $0.limits,
                    $0.notes, $0.location ?? "", $0.details ?? "",
                ]
            })
        print(table.text)
    }
}

/// The JSON form of an image: keys are a promise to scripts.
private struct JSONImage: Encodable {
    let path, architecture: String
    let buildID: String?
    let tweaks: [JSONTweak]

    init(_ image: ImageDump) {
        path = image.path
        architecture = image.architecture
        buildID = image.buildID
        tweaks = image.tweaks.map { JSONTweak($0) }
    }

    /// Writes `buildID` as null when there is none, so that the key is always there.
    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(path, forKey: .path)
        try container.encode(architecture, forKey: .architecture)
        try container.encode(buildID, forKey: .buildID)
        try container.encode(tweaks, forKey: .tweaks)
    }

    private enum CodingKeys: CodingKey { case path, architecture, buildID, tweaks }
}
