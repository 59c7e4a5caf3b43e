// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import TweakProtocol
import TweakRecords

/// The tweaks of all files of one side, each with its first declaration.
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

/// The differences of one tweak. Scripts rely on its JSON keys.
struct Difference: Encodable {
    enum Kind: String, Encodable {
        case added, gone, changed
    }

    let kind: Kind
    let tweak: TweakKey
    /// The fields that differ, if both sides have the tweak.
    let fields: [DeclaredField]
    let old, new: TweakDeclaration?

    private enum CodingKeys: CodingKey { case kind, tweak, fields, old, new }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(kind, forKey: .kind)
        try container.encode(tweak, forKey: .tweak)
        if kind == .changed { try container.encode(fields.map(\.name), forKey: .fields) }
        try container.encodeIfPresent(old.map { JSONTweak($0) }, forKey: .old)
        try container.encodeIfPresent(new.map { JSONTweak($0) }, forKey: .new)
    }
}

/// The differences, in the order of the names.
func differences(between old: DeclaredTweaks, and new: DeclaredTweaks) -> [Difference] {
    let keys = Set(old.tweaks.keys).union(new.tweaks.keys).sorted()
    return keys.compactMap { key in
        switch (old.tweaks[key], new.tweaks[key]) {
        case (let old?, nil): return Difference(kind: .gone, tweak: key, fields: [], old: old, new: nil)
        case (nil, let new?): return Difference(kind: .added, tweak: key, fields: [], old: nil, new: new)
        case (let old?, let new?):
            let fields = DeclaredField.all.filter { $0.text(old) != $0.text(new) }
            return fields.isEmpty
                ? nil : Difference(kind: .changed, tweak: key, fields: fields, old: old, new: new)
        case (nil, nil): return nil
        }
    }
}

/// A field of declarations that is compared.
struct DeclaredField: Sendable {
    /// The name in JSON.
    let name: String
    /// The name for people.
    let title: String
    /// The value of the field as a text; equal texts are equal values.
    let text: @Sendable (TweakDeclaration) -> String?

    static let all =
        [
            DeclaredField("kind") { $0.isMonitor ? "monitor" : "tweak" },
            DeclaredField("type") { "\($0.type)" },
            DeclaredField("default") { $0.isMonitor || $0.type == .action ? nil : $0.defaultValue.quoted },
        ]
        + TweakOption.all.filter { $0.purpose != .information }.map { option in
            DeclaredField(option.name, title: option.title) { tweak in
                option.setting(tweak).map { option.form == .flag ? "yes" : $0.text }
            }
        }

    private init(
        _ name: String, title: String? = nil, text: @escaping @Sendable (TweakDeclaration) -> String?
    ) {
        (self.name, self.title, self.text) = (name, title ?? name, text)
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
                "\($0.title) \($0.text(old) ?? "none") \(Signs.shown.arrow) \($0.text(new) ?? "none")"
            }
            return "\(tweak): \(changes.joined(separator: ", "))"
        case (_, _, let new?): return "\(tweak): added\(summary(of: new))"
        case (_, let old, _): return "\(tweak): removed\(old.map(summary) ?? "")"
        }
    }

    private func summary(of tweak: TweakDeclaration) -> String {
        let value = tweak.isMonitor ? "" : tweak.text(of: tweak.defaultValue)
        let parts = [tweak.isMonitor ? "monitor" : "", tweak.typeName, value, tweak.limits()].filter {
            !$0.isEmpty
        }
        return ", \(parts.joined(separator: " "))" + (tweak.location.map { ", at \($0)" } ?? "")
    }
}
