// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import TweakRecords

/// The cells of a tweak with a column for each property, for spreadsheets.
private let columns: [(name: String, cell: @Sendable (ImageDump.Tweak) -> String?)] = [
    ("category", { $0.declaration.key.category }),
    ("collection", { $0.declaration.key.collection }),
    ("name", { $0.declaration.key.name }),
    ("kind", { $0.declaration.kind }),
    ("type", { "\($0.declaration.type)" }),
    ("value", { $0.value?.description }),
    (
        "default",
        {
            $0.declaration.type == .action || $0.declaration.isMonitor
                ? nil : "\($0.declaration.defaultValue)"
        }
    ),
]

/// The cell of an option. The kind says already that a monitor is read-only.
private func cell(_ option: TweakOption, of tweak: TweakDeclaration) -> String? {
    option.attribute == "read-only" && tweak.isMonitor ? nil : option.setting(tweak)?.text
}

extension TweakDeclaration {
    fileprivate var kind: String { isMonitor ? "monitor" : type == .action ? "action" : "tweak" }
}

/// Writes one table of all images as comma-separated values: RFC 4180, but with lines that end with a newline.
final class CSVReport: Report {
    init() {
        print((["path"] + columns.map(\.name) + TweakOption.all.map(\.name)).joined(separator: ","))
    }

    func add(_ image: ImageDump, isShownEmpty: Bool) -> Bool {
        let errors = image.forEachTweakByName { tweak in
            let cells =
                [image.path] + columns.map { $0.cell(tweak) ?? "" }
                + TweakOption.all.map { cell($0, of: tweak.declaration) ?? "" }
            print(cells.map(\.csvField).joined(separator: ","))
        }
        return tell(errors, of: image)
    }

    func finish() {}
}

/// Writes a heading and a table for each image, in GitHub's Markdown.
final class MarkdownReport: Report {
    private var isFirst = true

    func add(_ image: ImageDump, isShownEmpty: Bool) -> Bool {
        var count = 0
        if isShownEmpty { begin(image) }
        let errors = image.forEachTweakByName { tweak in
            if count == 0 {
                if !isShownEmpty { begin(image) }
                print(
                    "\n| Tweak | Type | \(image.hasValues ? "Value | " : "")Default | Limits | Description | Declared at |"
                )
                print("|---|---|\(image.hasValues ? "---|" : "")---|---|---|---|")
            }
            count += 1
            let declaration = tweak.declaration
            let notes = declaration.notes.isEmpty ? "" : " (\(declaration.notes))"
            let cells =
                ["\(declaration.key)", "\(declaration.typeName)\(notes)"]
                + (image.hasValues ? [tweak.value.map { declaration.text(of: $0, rounded: true) } ?? ""] : [])
                + [
                    declaration.text(of: declaration.defaultValue, rounded: true),
                    declaration.limits(.unicode), declaration.description ?? "",
                    declaration.location ?? "",
                ]
            print("| " + cells.map(Self.escaped).joined(separator: " | ") + " |")
        }
        if isShownEmpty, count == 0 { print("\nNo \(image.isWhole ? "" : "such ")tweaks.") }
        return tell(errors, of: image)
    }

    private func begin(_ image: ImageDump) {
        if !isFirst { print() }
        isFirst = false
        print("## \(Self.escaped(image.path))\n\n\(Self.escaped(image.architecture))", terminator: "")
        print(image.buildID.map { ", build id \(Self.escaped($0))" } ?? "")
    }

    /// The text, escaped for Markdown.
    private static func escaped(_ text: String) -> String {
        var escaped = ""
        for scalar in printable(text).unicodeScalars {
            if special.contains(scalar) { escaped += "\\" }
            escaped.unicodeScalars.append(scalar)
        }
        return escaped
    }

    private static let special = Set("\\`*_[]<>|~&#!$@".unicodeScalars)

    func finish() {}
}
