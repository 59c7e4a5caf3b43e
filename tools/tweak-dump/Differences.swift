import CommandSupport
import TweakProtocol
import TweakRecords

/// The tweaks of all files of one side, each as it is declared first.
final class DeclaredTweaks: Report {
    private(set) var tweaks: [TweakKey: TweakDeclaration] = [:]

    func add(_ image: ImageDump, isShownEmpty: Bool) -> Bool {
        image.forEachTweak {
            tell($0, of: image)
        } _: { tweak in
            if tweaks[tweak.declaration.key] == nil { tweaks[tweak.declaration.key] = tweak.declaration }
        }
    }

    func finish() {}
}

/// What is different about a tweak. Its JSON form is a promise to scripts.
struct Difference: Encodable {
    enum Kind: String, Encodable {
        case added, gone, changed
    }

    enum Field: String, Encodable {
        case kind, type, `default`, minimum, maximum, step, choices, unit, precision, scale, pair
        case readOnly, needsRestart
    }

    let kind: Kind
    let tweak: TweakKey
    /// What of a tweak is different that both have.
    let fields: [Field]
    let old, new: TweakDeclaration?

    private enum CodingKeys: CodingKey { case kind, tweak, fields, old, new }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind, forKey: .kind)
        try container.encode(tweak, forKey: .tweak)
        if kind == .changed { try container.encode(fields, forKey: .fields) }
        try container.encodeIfPresent(old.map { JSONTweak($0) }, forKey: .old)
        try container.encodeIfPresent(new.map { JSONTweak($0) }, forKey: .new)
    }
}

/// In the order of the names.
func differences(between old: DeclaredTweaks, and new: DeclaredTweaks) -> [Difference] {
    let keys = Set(old.tweaks.keys).union(new.tweaks.keys).sorted()
    return keys.compactMap { key in
        switch (old.tweaks[key], new.tweaks[key]) {
        case (let old?, nil): return Difference(kind: .gone, tweak: key, fields: [], old: old, new: nil)
        case (nil, let new?): return Difference(kind: .added, tweak: key, fields: [], old: nil, new: new)
        case (let old?, let new?):
            let fields = Difference.Field.all.filter { old.text(of: $0) != new.text(of: $0) }
            return fields.isEmpty
                ? nil : Difference(kind: .changed, tweak: key, fields: fields, old: old, new: new)
        case (nil, nil): return nil
        }
    }
}

extension Difference.Field {
    fileprivate static let all: [Difference.Field] = [
        .kind, .type, .default, .minimum, .maximum, .step, .choices, .unit, .precision, .scale, .pair,
        .readOnly, .needsRestart,
    ]

    fileprivate var title: String {
        switch self {
        case .readOnly: "read-only"
        case .needsRestart: "needs restart"
        default: rawValue
        }
    }
}

extension TweakDeclaration {
    /// What the tweak says of something, by which it is compared: two values of one text are the same.
    fileprivate func text(of field: Difference.Field) -> String? {
        switch field {
        case .kind: isMonitor ? "monitor" : "tweak"
        case .type: "\(type)"
        case .default: isMonitor || type == .action ? nil : defaultValue.quoted
        case .minimum: minimum?.description
        case .maximum: maximum?.description
        case .step: step?.description
        case .choices: choices.isEmpty ? nil : choices.map(\.description).joined(separator: " | ")
        case .unit: unit
        case .precision: precision.map { "\($0)" }
        case .scale: scale?.name
        case .pair: pair
        case .readOnly: isReadOnly ? "yes" : nil
        case .needsRestart: needsRestart ? "yes" : nil
        }
    }
}

/// - Returns: Whether there are any.
func write(_ differences: [Difference], _ format: OutputFormat) throws -> Bool {
    if format == .json {
        var output = JSONArrayOutput(after: "{\n  \"differences\" : ", depth: 1)
        for difference in differences { try output.add(difference) }
        output.end(before: "\n}\n")
    } else {
        for difference in differences { print(printable(difference.line)) }
    }
    return !differences.isEmpty
}

extension Difference {
    fileprivate var line: String {
        switch (kind, old, new) {
        case (.changed, let old?, let new?):
            let changes = fields.map {
                "\($0.title) \(old.text(of: $0) ?? "none") → \(new.text(of: $0) ?? "none")"
            }
            return "\(tweak): \(changes.joined(separator: ", "))"
        case (_, _, let new?): return "\(tweak): added\(summary(of: new))"
        case (_, let old, _): return "\(tweak): gone\(old.map(summary) ?? "")"
        }
    }

    private func summary(of tweak: TweakDeclaration) -> String {
        let value = tweak.isMonitor ? "" : tweak.text(of: tweak.defaultValue)
        let parts = [tweak.isMonitor ? "monitor" : "", "\(tweak.type)", value, tweak.limits].filter {
            !$0.isEmpty
        }
        return ", \(parts.joined(separator: " "))" + (tweak.location.map { ", at \($0)" } ?? "")
    }
}
