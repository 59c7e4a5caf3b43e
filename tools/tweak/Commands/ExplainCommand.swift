// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
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
        abstract: "Show which provider decides the value of a tweak, and what the others say.",
        discussion: """
            The first provider with a value that the tweak allows decides. For remote values, the output also shows the \
            server, the times of the last load and the last check, why there is nothing newer, whether an agent is running, \
            why a feature is on or off on this host, and which value the program has refused.
            """)

    @Option(help: "The output format.")
    var format: OutputFormat = .table

    @OptionGroup var target: ProgramOptions

    @Argument(help: "The tweak, as Category/Collection/Name or shorter.", completion: .custom(completeTweaks))
    var tweak: String

    /// How often, and with which pauses in microseconds, the program is asked until its loop passes the gate.
    private static let (looks, pause) = (50, useconds_t(10_000))

    func run() throws {
        try target.forEach(format) { program throws(Failure) in
            let tweak = try program.tweak(named: tweak)
            var explanation = try program.explanation(of: tweak)
            // From the second answer on, the program knows whether the loop passes its gate.
            if program is LiveProgram, let first = explanation.gate, first.waitingSince == nil {
                for _ in 0..<Self.looks where explanation.gate?.lastPassed == first.lastPassed {
                    usleep(Self.pause)
                    explanation = try program.explanation(of: tweak)
                }
            }
            let origins = Origin.all(in: &explanation, tweak.declaration)
            try target.show(Explained(explanation: explanation, origins: origins), of: program, as: format) {
                ([table(of: explanation, tweak)] + origins.flatMap(\.lines)).joined(separator: "\n")
            }
            if program is MemoryProgram {
                warn(
                    "\(program.title): the Tweaks library is not in the process, so overrides and files have no effect; "
                        + "linkers drop it unless it is linked as by pkg-config --libs tweaks"
                )
            }
        }
    }

    private func table(
        of explanation: ExplainTweak.Answer, _ tweak: JSONTweak
    ) -> String {
        let declaration = tweak.declaration
        let value = declaration.text(of: explanation.value)
        var lines = [
            printable("\(declaration.key): \(value), from \(tweak.leaseText ?? explanation.source)")
        ]
        if let ramp = tweak.ramp {
            lines.append(
                printable(
                    "on the way to \(declaration.text(of: ramp.target)), in \(durationText(ramp.remaining))"))
        }
        if let gate = explanation.gate {
            let waiting = gate.pendingValue.map { value in
                ["\(declaration.text(of: value)) waits for the gate \(gate.name)", gate.waitingText]
                    .compactMap(\.self)
                    .joined(separator: " ")
            }
            let texts = [
                waiting ?? "changes wait for the gate \(gate.name)",
                gate.waitingText == nil || gate.lastPassed == nil ? gate.passedText : nil,
            ]
            lines.append(printable(texts.compactMap(\.self).joined(separator: "; ")))
        } else if let pending = tweak.pendingValue {
            lines.append(printable("after a restart: \(declaration.text(of: pending))"))
        }
        let rows = explanation.opinions.map { opinion in
            [
                opinion.source, opinion.value.map(declaration.text) ?? "", opinion.location ?? "",
                opinion.lease?.text ?? "",
                opinion.error ?? opinion.given.map {
                    outsideLimits($0.summary, allowed: declaration.allowed)
                } ?? "",
            ]
        }
        let deciding = explanation.opinions.firstIndex { $0.error == nil }
        let table = TextTable(
            header: ["FROM", "VALUE", "AT", "BY", "PROBLEM"], optional: ["AT", "BY", "PROBLEM"],
            emphasized: explanation.opinions.indices.map { $0 == deciding }, rows: rows)
        return (lines + [table.text]).joined(separator: "\n")
    }
}

/// An explanation with what is known about remote values.
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

/// The origin of a value in an agent's file, or the reason why the file has none.
private struct Origin: Encodable {
    let source: String
    let file: String
    let from: String?
    let loaded: String?
    let checked: String?
    let version: Int?
    let problem: String?
    let reason: String?
    /// Whether an agent writes into the folder; `nil` if that is not known.
    let agentRuns: Bool?
    /// Whether the file has a value of the tweak.
    let hasValue: Bool
    /// The difference between the program's value and the one in the file, with the reason.
    var difference: String?

    private init(_ name: String, _ path: String, _ file: ProvidedFile, _ tweak: TweakKey) {
        let source = TweakSource(name)
        (self.source, self.file, from, loaded) = (name, path, file.from, file.loaded)
        checked = [file.checked, Self.lastCheck(of: path)].compactMap(\.self).max()
        (version, problem, reason) = (file.version, file.problem, file.reason(for: tweak, of: source))
        agentRuns = Self.isFollowed(path)
        hasValue = file.values(of: source)[tweak] != nil
    }

    /// The origins of the values in an explanation, whose locations are replaced by the files that have them.
    static func all(in explanation: inout ExplainTweak.Answer, _ tweak: TweakDeclaration) -> [Origin] {
        var origins: [Origin] = []
        for (index, opinion) in zip(explanation.opinions.indices, explanation.opinions) {
            let source = TweakSource(opinion.source)
            guard
                let (path, file) = files(of: opinion).first(where: {
                    $1.values(of: source)[tweak.key] != nil
                })
            else { continue }
            explanation.opinions[index].location = path
            var origin = Origin(opinion.source, path, file, tweak.key)
            // The opinion's error already reports a refused value.
            if opinion.error == nil { origin.difference = difference(of: file, from: opinion, tweak) }
            origins.append(origin)
        }
        for silent in explanation.silent ?? [] {
            origins += files(of: silent).map { Origin(silent.source, $0, $1, tweak.key) }.filter {
                $0.reason != nil || $0.problem != nil || $0.agentRuns == false
            }
        }
        return origins
    }

    /// The files of an agent that a source reads, one after the other.
    private static func files(of opinion: ExplainTweak.Answer.Opinion) -> [(String, ProvidedFile)] {
        guard [.kill, .remote, .fleet].contains(TweakSource(opinion.source)) else { return [] }
        return (opinion.location?.split(separator: ", ").map(String.init) ?? []).compactMap { path in
            guard let json = try? KeptFile(path: path).read(),
                let file = try? ProvidedFile(json: json, path: path)
            else { return nil }
            return (path, file)
        }
    }

    /// The reason why the program does not have the value in the file; `nil` if it does.
    private static func difference(
        of file: ProvidedFile, from opinion: ExplainTweak.Answer.Opinion, _ tweak: TweakDeclaration
    ) -> String? {
        do throws(TweakValueError) {
            let values = file.values(of: TweakSource(opinion.source))
            guard let admission = try values.admission(for: tweak),
                opinion.value?.value(of: tweak.type) != admission.value
            else { return nil }
            return "the program has not yet read the value now in the file, \(admission.value)"
        } catch {
            return "the value now in the file is refused, and the previous one stays: \(error)"
        }
    }

    /// Returns whether an agent holds the lock of the file's folder; `nil` if there never was one, or it cannot be seen.
    private static func isFollowed(_ path: String) -> Bool? {
        guard let lock = ownFolder(of: path).map({ $0 + "lock" }), let status = stat(path: lock) else {
            return nil
        }
        // Testing the lock itself would briefly keep an agent from starting.
        let lines = String(decoding: readWhole("/proc/locks") ?? [], as: UTF8.self).split(separator: "\n")
        if lines.contains(where: { $0.contains(" FLOCK ") && $0.contains(":\(status.st_ino) ") }) {
            return true
        }
        let descriptor = openFile(lock, O_RDONLY)
        guard descriptor >= 0 else {
            // A container does not list the locks of agents outside.
            return stat(path: "/proc/self/ns/pid")?.st_ino == 0xEFFF_FFFC ? false : nil
        }
        defer { close(descriptor) }
        return flock(descriptor, LOCK_SH | LOCK_NB) != 0
    }

    /// The agent's own folder beside that of the application.
    private static func ownFolder(of path: String) -> String? {
        let parts = path.split(separator: "/")
        return parts.count > 2 ? "/" + parts.dropLast(2).joined(separator: "/") + "/.agent/" : nil
    }

    /// The time of the agent's last check, in RFC 3339 format. The agent records it as the time of another file, because writing
    /// this one would wake up all processes.
    private static func lastCheck(of path: String) -> String? {
        let parts = path.split(separator: "/")
        guard let folder = ownFolder(of: path), let application = parts.dropLast().last, let file = parts.last
        else { return nil }
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

    /// The lines below the table.
    var lines: [String] {
        let times = [("loaded", loaded), ("checked", checked)].compactMap { name, time in
            time.map { "\(name) \($0)\(age(of: $0).map { ", \($0) ago" } ?? "")" }
        }
        let origin = [from.map { "from \($0)" }, version.map { "version \($0)" }].compactMap { $0 } + times
        return [
            origin.isEmpty ? nil : origin.joined(separator: "; "),
            problem.map { "nothing newer: \($0)" },
            difference,
            reason.map {
                (difference != nil ? "the value in the file: " : hasValue ? "the value: " : "no value: ") + $0
            },
            agentRuns == false ? "no tweak-agent is running, so nothing newer arrives" : nil,
        ].compactMap { $0 }.map { printable("\(source): \($0)") }
    }
}

/// The approximate time since a time in RFC 3339 format; `nil` for other texts.
private func age(of time: String) -> String? {
    let fields = time.utf8.split { !(UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0) }
        .compactMap { Int32(String(decoding: $0, as: UTF8.self)) }
    // Agents write UTC only.
    guard time.hasSuffix("Z"), fields.count >= 6, 1970...9999 ~= fields[0] else { return nil }
    var parts = tm()
    (parts.tm_year, parts.tm_mon, parts.tm_mday) = (fields[0] - 1900, fields[1] - 1, fields[2])
    (parts.tm_hour, parts.tm_min, parts.tm_sec) = (fields[3], fields[4], fields[5])
    let seconds = max(0, Glibc.time(nil) - timegm(&parts))
    return ageText(seconds: seconds)
}
