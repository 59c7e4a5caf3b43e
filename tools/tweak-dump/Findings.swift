// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import TweakRecords

/// A problem in a file that can be read. Scripts rely on its JSON keys.
struct Finding: Encodable {
    let kind: Rule
    /// The file, or the member of an archive, with the declaration or record.
    let path: String
    var category, collection, name: String?
    /// The locations of the declaration; for a conflict, of the first declaration and the one that differs.
    var locations: [String]?
    let message: String

    init(_ kind: Rule, path: String, message: String) {
        (self.kind, self.path, self.message) = (kind, path, message)
    }

    init(_ kind: Rule, _ tweak: FoundTweak, locations: [String]? = nil, message: String) {
        self.init(kind, path: tweak.path, message: message)
        let key = tweak.declaration.key
        (category, collection, name) = (key.category, key.collection, key.name)
        self.locations = locations ?? [tweak.location]
    }

    init(_ kind: Rule, _ gate: Gate, _ path: String, locations: [String]? = nil, message: String) {
        self.init(kind, path: path, message: message)
        category = gate.name.category
        collection = gate.name.isSpecific ? gate.name.collection : nil
        self.locations = locations ?? gate.location.map { [$0] }
    }
}

/// A tweak, and the file that it is in.
struct FoundTweak {
    let path: String
    let declaration: TweakDeclaration

    /// A long location is shortened, because every conflicting declaration repeats it.
    var location: String {
        let location = declaration.location ?? path
        return location.utf8.count <= 1000 ? location : location.prefix(250) + "…"
    }
}

/// Writes findings, as lines or as one JSON document.
struct Findings {
    private let ignored: Set<Rule>
    private var output: JSONArrayOutput?
    private(set) var isEmpty = true
    /// Whether there was more than advice.
    private(set) var hasMistakes = false

    init(_ format: OutputFormat, ignoring ignored: [Rule]) {
        self.ignored = Set(ignored)
        if format == .json { output = JSONArrayOutput(after: "{\n  \"findings\" : ", depth: 1) }
    }

    mutating func write(_ finding: Finding) {
        guard !ignored.contains(finding.kind) else { return }
        isEmpty = false
        hasMistakes = hasMistakes || !finding.kind.isAdvice
        if output == nil {
            let rule = finding.kind == .forbiddenRecord ? "" : " [\(finding.kind.rawValue)]"
            print(printable("\(finding.path): \(finding.message)\(rule)"))
        } else {
            // Every finding can be encoded.
            try? output?.add(finding)
        }
    }

    func finish() { output?.end(before: "\n}\n") }
}
