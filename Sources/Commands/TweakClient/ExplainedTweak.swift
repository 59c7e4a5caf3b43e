// SPDX-License-Identifier: BSD-3-Clause
internal import CommandSupport
internal import Glibc
internal import TweakJSON
internal import TweakOverrides
package import TweakProtocol
package import TweakRecords
internal import TweakSystem

/// An explanation with what is known about the values of agents.
package struct ExplainedTweak: Encodable, Sendable {
    /// The locations of values from agents are the files that have them.
    package private(set) var explanation: ExplainTweak.Answer
    package let origins: [ProvidedOrigin]

    private enum CodingKeys: CodingKey { case provided }

    package init(_ explanation: ExplainTweak.Answer, _ tweak: TweakDeclaration) {
        var explanation = explanation
        origins = ProvidedOrigin.all(in: &explanation, tweak)
        self.explanation = explanation
    }

    package func encode(to encoder: any Encoder) throws {
        try explanation.encode(to: encoder)
        guard !origins.isEmpty else { return }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(origins, forKey: .provided)
    }
}

/// The origin of a value in an agent's file, or the reason why the file has none.
package struct ProvidedOrigin: Encodable, Sendable {
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
    fileprivate static func all(
        in explanation: inout ExplainTweak.Answer, _ tweak: TweakDeclaration
    ) -> [ProvidedOrigin] {
        var origins: [ProvidedOrigin] = []
        for (index, opinion) in zip(explanation.opinions.indices, explanation.opinions) {
            let source = TweakSource(opinion.source)
            guard
                let (path, file) = files(of: opinion).first(where: {
                    $1.values(of: source)[tweak.key] != nil
                })
            else { continue }
            explanation.opinions[index].location = path
            var origin = ProvidedOrigin(opinion.source, path, file, tweak.key)
            // The opinion's error already reports a refused value.
            if opinion.error == nil { origin.difference = difference(of: file, from: opinion, tweak) }
            origins.append(origin)
        }
        for silent in explanation.silent ?? [] {
            origins += files(of: silent).map { ProvidedOrigin(silent.source, $0, $1, tweak.key) }.filter {
                $0.reason != nil || $0.problem != nil || $0.agentRuns == false
            }
        }
        return origins
    }

    /// The files of an agent that a source reads, one after the other.
    private static func files(of opinion: ExplainTweak.Answer.Opinion) -> [(String, ProvidedFile)] {
        guard TweakSource(opinion.source).isOfAgents else { return [] }
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
    package var lines: [String] {
        let times = [("loaded", loaded), ("checked", checked)].compactMap { name, time in
            time.map { "\(name) \($0)\(age(of: $0).map { ", \($0) ago" } ?? "")" }
        }
        // A change in etcd has a revision, which is in the reason.
        let version = source == "\(TweakSource.remote)" ? self.version : nil
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
