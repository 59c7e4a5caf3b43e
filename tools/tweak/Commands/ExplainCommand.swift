import ArgumentParser
import CommandSupport
import Glibc
import TweakClient
import TweakJSON
import TweakOverrides
import TweakProtocol
import TweakRecords
import TweakSystem

struct ExplainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "explain",
        abstract: "Show where the value of a tweak comes from, and what else was said.",
        discussion: """
            The first source that has a value which the tweak can take decides. Of values from afar is shown where an agent \
            has them from, when it got them and last asked, why there is nothing newer, and why a feature is on or off \
            on this host.
            """)

    @Option(help: "The form of the output.")
    var format: OutputFormat = .table

    @OptionGroup var target: ProgramOptions

    @Argument(help: "The tweak, as Category/Collection/Name or shorter.", completion: .custom(completeTweaks))
    var tweak: String

    func run() throws {
        try target.forEach(format) { program throws(Failure) in
            let tweak = try program.tweak(named: tweak)
            var explanation = try program.explanation(of: tweak)
            let origins = Origin.all(in: &explanation)
            try target.show(Explained(explanation: explanation, origins: origins), of: program, as: format) {
                ([table(of: explanation, tweak)] + origins.flatMap(\.lines)).joined(separator: "\n")
            }
        }
    }

    private func table(
        of explanation: ExplainTweak.Answer, _ tweak: JSONTweak
    ) -> String {
        let declaration = tweak.declaration
        let value = declaration.text(of: explanation.value)
        var lines = [printable("\(declaration.key): \(value), from \(explanation.source)")]
        if let pending = tweak.pendingValue {
            lines.append(printable("after a restart: \(declaration.text(of: pending))"))
        }
        let rows = explanation.opinions.map { opinion in
            [
                opinion.source, opinion.value.map(declaration.text) ?? "", opinion.location ?? "",
                opinion.error ?? "",
            ]
        }
        let deciding = explanation.opinions.firstIndex { $0.error == nil }
        let table = TextTable(
            header: ["FROM", "VALUE", "AT", "PROBLEM"], optional: ["AT", "PROBLEM"],
            emphasized: explanation.opinions.indices.map { $0 == deciding }, rows: rows)
        return (lines + [table.text]).joined(separator: "\n")
    }
}

/// An explanation with what is known about values from afar.
private struct Explained: Encodable {
    let explanation: ExplainTweak.Answer
    let origins: [Origin]

    private enum CodingKeys: CodingKey { case provided }

    func encode(to encoder: any Encoder) throws {
        try explanation.encode(to: encoder)
        guard !origins.isEmpty else { return }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(origins, forKey: .provided)
    }
}

/// Where the value of a tweak comes from that an agent has put into a file.
private struct Origin: Encodable {
    let source: String
    let file: String
    let from: String?
    let loaded: String?
    let checked: String?
    let version: Int?
    let problem: String?
    let reason: String?

    /// The origins of the values in an explanation, whose locations become the files that have them.
    static func all(in explanation: inout ExplainTweak.Answer) -> [Origin] {
        var origins: [Origin] = []
        for (index, opinion) in zip(explanation.opinions.indices, explanation.opinions) {
            // A process says in which files it looks, one after the other.
            let paths = opinion.location?.split(separator: ", ").map(String.init) ?? []
            guard ["\(TweakSource.remote)", "\(TweakSource.fleet)"].contains(opinion.source),
                let (path, file) = first(of: paths, with: explanation.tweak)
            else { continue }
            explanation.opinions[index].location = path
            origins.append(
                Origin(
                    source: opinion.source, file: path, from: file.from, loaded: file.loaded,
                    checked: [file.checked, lastCheck(of: path)].compactMap(\.self).max(),
                    version: file.version, problem: file.problem,
                    reason: file.reason(for: explanation.tweak)))
        }
        return origins
    }

    /// When the agent asked last, as RFC 3339 has times. It notes that with the time of another file, since all processes would
    /// wake up if it wrote this one.
    private static func lastCheck(of path: String) -> String? {
        let parts = path.split(separator: "/")
        guard parts.count > 2, let application = parts.dropLast().last, let file = parts.last else {
            return nil
        }
        let folder = "/" + parts.dropLast(2).joined(separator: "/") + "/.agent/"
        guard let status = stat(path: folder + (file == "fleet.json" ? ".fleet/" : "") + application)
        else { return nil }
        var (seconds, time) = (status.st_mtim.tv_sec, tm())
        gmtime_r(&seconds, &time)
        return withUnsafeTemporaryAllocation(of: CChar.self, capacity: 64) { text in
            guard let start = text.baseAddress, strftime(start, text.count, "%Y-%m-%dT%H:%M:%SZ", &time) > 0
            else { return nil }
            return String(cString: start)
        }
    }

    private static func first(of paths: [String], with key: TweakKey) -> (String, ProvidedFile)? {
        for path in paths {
            if let json = try? KeptFile(path: path).read(),
                let file = try? ProvidedFile(json: json, path: path), file.values[key] != nil
            {
                return (path, file)
            }
        }
        return nil
    }

    /// What a person reads below the table.
    var lines: [String] {
        let times = [("loaded", loaded), ("checked", checked)].compactMap { name, time in
            time.map { "\(name) \($0)\(age(of: $0).map { ", \($0) ago" } ?? "")" }
        }
        let origin = [from.map { "from \($0)" }, version.map { "version \($0)" }].compactMap { $0 } + times
        return [
            origin.isEmpty ? nil : origin.joined(separator: "; "),
            problem.map { "nothing newer: \($0)" },
            reason.map { "the value: \($0)" },
        ].compactMap { $0 }.map { printable("\(source): \($0)") }
    }
}

/// How long ago a time of RFC 3339 is, roughly; `nil` for a text of another form.
private func age(of time: String) -> String? {
    let fields = time.utf8.split { !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0) }
        .compactMap { Int32(String(decoding: $0, as: UTF8.self)) }
    // Other time zones than UTC are not written by an agent.
    guard time.hasSuffix("Z"), fields.count >= 6, 1970...9999 ~= fields[0] else { return nil }
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (fields[0] - 1900, fields[1] - 1, fields[2])
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (fields[3], fields[4], fields[5])
    let seconds = max(0, Glibc.time(nil) - timegm(&parts))
    switch seconds {
    case ..<120: return "\(seconds) s"
    case ..<7200: return "\(seconds / 60) min"
    case ..<172_800: return "\(seconds / 3600) h"
    default: return "\(seconds / 86400) days"
    }
}
