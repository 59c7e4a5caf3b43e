import TweakELF
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
        let tweaks = image.tweaks.inTableOrder
        let table = TextTable(
            header: ["NAME", "TYPE", "DEFAULT", "LIMITS", "DECLARED AT"],
            groups: tweaks.map(\.heading),
            rows: tweaks.map {
                [$0.key.name, "\($0.type)", $0.text(of: $0.defaultValue), $0.limits, $0.location ?? ""]
            })
        print(table.text)
    }
}

/// The JSON form of an image: keys are a promise to scripts.
private struct JSONImage: Encodable {
    struct Tweak: Encodable {
        let category, collection, name, type: String
        let `default`: TweakValue
        let minimum, maximum: TweakValue?
        let location: String?
    }

    let path, architecture: String
    let buildID: String?
    let tweaks: [Tweak]

    init(_ image: ImageDump) {
        path = image.path
        architecture = image.architecture
        buildID = image.buildID
        tweaks = image.tweaks.map { tweak in
            Tweak(
                category: tweak.key.category, collection: tweak.key.collection, name: tweak.key.name,
                type: "\(tweak.type)", default: tweak.defaultValue, minimum: tweak.minimum,
                maximum: tweak.maximum,
                location: tweak.location)
        }
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
