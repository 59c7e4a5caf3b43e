// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
import CommandSupport
import Glibc
import TweakClient
import TweakFormats
import TweakJSON
import TweakOverrides
import TweakProtocol
import TweakRecords
import TweakSystem
import TweakTargeting

struct CheckCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "check",
        abstract: "Check a file of remote values, and show the values for one host.",
        discussion: """
            Checks a file that agents load from a web server: features with targeting, as in CGFFeaturette's \
            features.json, or values for all hosts, as in an overrides file. Shows its values for this host, for this host \
            with other facts, or for a host described by a file: { "os": "debian", "os-version": "13" }. Unknown filters \
            and entries without effect are errors; with --program, so are unknown tweaks and invalid values. The exit \
            status is then 65.

            The facts are \(Fact.allCases.map(\.rawValue).joined(separator: ", ")).
            """)

    @Option(
        help: ArgumentHelp(
            "A fact about the host, or a file with facts as JSON. Can be repeated.",
            valueName: "key=value|file"),
        completion: .custom(completeFacts))
    var facts: [String] = []

    @Option(help: "The output format.")
    var format: OutputFormat = .table

    @Option(
        help: ArgumentHelp(
            "A program that declares the tweaks, to check the values: a process id, a path or a name.",
            valueName: "program"),
        completion: .custom(completePrograms))
    var program: String?

    @Argument(help: "The file, or - for standard input.", completion: .file(extensions: ["json"]))
    var file: String

    /// A fact on the command line; `nil` if the text is the name of a file.
    private static func pair(_ text: String) -> (name: String, value: String)? {
        let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, !isAccessible(text) else { return nil }
        return (String(parts[0]), String(parts[1]))
    }

    private static func noFact(_ name: String) -> String {
        "\"\(name)\" is not a fact; allowed: \(Fact.allCases.map(\.rawValue).joined(separator: ", "))"
    }

    func validate() throws {
        for name in facts.compactMap({ Self.pair($0)?.name }) where Fact(rawValue: name) == nil {
            throw ValidationError(Self.noFact(name))
        }
    }

    func run() throws {
        try Failure.reported { () throws(Failure) in
            let bytes = try readInput(file == "-" ? nil : file)
            let path = file == "-" ? "standard input" : file
            let document = try failing { try RemoteDocument(json: bytes, path: path) }
            let facts = try hostFacts()
            let declared = try program.map(declarations)
            var mistakes = document.mistakes(besides: Set((declared ?? [:]).keys.map(\.category))).map {
                "\($0)"
            }
            if let declared {
                mistakes += self.mistakes(in: document.provided(for: facts).values, of: declared)
            }
            for problem in document.problems where !mistakes.contains(problem) { printMessage(problem) }
            switch format {
            case .table: print(table(of: document, for: facts))
            case .json: try failing { try printJSON(Checked(document, for: facts, mistakes)) }
            }
            guard mistakes.isEmpty else {
                throw Failure(
                    "\(path): \(counted(mistakes.count, "mistake", "mistakes"))", details: mistakes,
                    .invalid)
            }
        }
    }

    /// The tweaks that a program declares.
    private func declarations(of program: String) throws(Failure) -> [TweakKey: TweakDeclaration] {
        let found = try ProgramSearch(warn: warn).programs(named: program, checkingValues: true)
        // A mistake that agents have published already is still one.
        let tweaks = try found.first?.tweaks().filter { !$0.isOnlyOfAgents } ?? []
        return Dictionary(tweaks.map { ($0.declaration.key, $0.declaration) }) { first, _ in first }
    }

    /// The reasons why the tweaks of a program do not allow values as they are.
    private func mistakes(
        in values: OverridesDocument, of declarations: [TweakKey: TweakDeclaration]
    ) -> [String] {
        values.keys.sorted().compactMap { (key) -> String? in
            guard let declaration = declarations[key] else {
                return "\(TweakError.unknown(key, nearest: declarations.keys.nearest(to: key)))"
            }
            do throws(TweakValueError) {
                guard let admission = try values.admission(for: declaration), admission.wasClamped else {
                    return nil
                }
                return outsideLimits("\(key): \(values[key]?.summary ?? "")", allowed: declaration.allowed)
            } catch {
                return "\(error)"
            }
        }
    }

    private func hostFacts() throws(Failure) -> HostFacts {
        var facts: HostFacts?
        for path in self.facts where Self.pair(path) == nil { facts = try read(path, facts ?? HostFacts()) }
        var host = facts ?? HostFacts(root: "/")
        for (name, value) in self.facts.compactMap(Self.pair) {
            if let fact = Fact(rawValue: name) { host[fact] = value }
        }
        return host
    }

    private func read(_ path: String, _ facts: HostFacts) throws(Failure) -> HostFacts {
        var facts = facts
        let bytes = try readInput(path)
        let value: JSONValue
        do throws(JSONError) { value = try JSONParser.value(of: bytes) } catch {
            throw Failure("\(path): \(error)", .invalid)
        }
        let place = JSONPlace<FormatError>(path: path)
        return try failing {
            for (name, value) in try place.object(value, "an object of facts") {
                guard let fact = Fact(rawValue: name.text) else {
                    throw place.invalid(Self.noFact(name.text))
                }
                facts[fact] = try place.inside(name.text).text(value)
            }
            return facts
        }
    }

    private func table(of document: RemoteDocument, for facts: HostFacts) -> String {
        switch document.content {
        case .features(let features):
            let decisions = features.features.map { $0.decision(for: facts) }
            return TextTable(
                header: ["FEATURE", "IS", "BECAUSE"], emphasized: decisions.map(\.isOn),
                rows: decisions.map { [$0.feature, $0.isOn ? "on" : "off", $0.reason] }
            ).text
        case .values(let values):
            return TextTable(
                header: ["TWEAK", "VALUE"],
                rows: values.keys.sorted().map {
                    [$0.description, values.value(of: $0).map { "\($0)" } ?? ""]
                }
            ).text
        }
    }
}

/// The values of a document for a host, as JSON.
private struct Checked: Encodable {
    struct Feature: Encodable {
        let key: String
        let tweak: String
        let enabled: Bool
        let reason: String
    }

    var version: Int?
    var facts: JSONValue
    var features: [Feature]?
    var values: JSONValue?
    var problems: [String]
    var mistakes: [String]

    init(_ document: RemoteDocument, for facts: HostFacts, _ mistakes: [String]) {
        version = document.version
        (problems, self.mistakes) = (document.problems, mistakes)
        var known: JSONObject = [:]
        for fact in Fact.allCases {
            if let text = facts[fact] { known[fact.rawValue] = .scalar(.string(text)) }
        }
        self.facts = .object(known)
        switch document.content {
        case .features(let targets):
            features = targets.features.map { feature in
                let decision = feature.decision(for: facts)
                return Feature(
                    key: feature.key, tweak: decision.key.description, enabled: decision.isOn,
                    reason: decision.reason)
            }
        case .values(let document): values = .object(document.root)
        }
    }
}

private func completeFacts(_ words: [String], _ index: Int, _ prefix: String) -> [String] {
    complete(words, index) { _ in
        let host = HostFacts(root: "/")
        return Fact.allCases.map { Candidate("\($0.rawValue)=\(host[$0] ?? "")") }
    }
}
