// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import TweakClient
import TweakOverrides
import TweakProtocol
import TweakRecords
import TweakSources

/// Sets the tweaks of a running program to the defaults in its sources.
final class SourceFollower {
    private let program: any Program
    private let format: OutputFormat
    private var sources: FollowedSources
    /// Tweaks whose overrides have been reported.
    private var mentioned: Set<TweakKey> = []
    private var hasBegun = false
    /// Edits without an answer yet, because the program is stopped, perhaps by a debugger.
    private var waiting: [FollowedSources.Edit] = []
    /// Whether the title precedes each line.
    var showsTitle = false

    var title: String { program.title }
    /// Readable after a change of a source, or when the program ends.
    var descriptors: [CInt] {
        [sources.descriptor] + ((program as? LiveProgram).map { [$0.connection.descriptor] } ?? [])
    }
    /// Whether to poll: a process without the library may end, a stopped one continue, or a folder reappear.
    var isPolling: Bool { program is MemoryProgram || !waiting.isEmpty || sources.isIncomplete }

    /// - Parameter from: The folder of the sources that the user named.
    init(of program: any Program, from: String?, _ format: OutputFormat) throws(Failure) {
        guard program.pid != nil else {
            throw Failure(
                "it is not running, or does not accept connections", about: program.title, .unavailable)
        }
        (self.program, self.format) = (program, format)
        let found = try ProgramSources(of: program, from: from)
        let tweaks = try program.tweaks().map(\.declaration).filter {
            $0.type != .action && !$0.isMonitor && !$0.isReadOnly
        }
        sources = try FollowedSources(tweaks.map { ($0, found.places(of: $0)) }, in: found.folders)
        guard sources.fileCount > 0 else {
            throw Failure(
                tweaks.isEmpty ? "it has no tweaks" : "none of its sources was found",
                details: sources.unfound.map(\.message), about: program.title, .missing)
        }
    }

    /// Reports the followed sources.
    func begin() {
        report(sources.unfound)
        printMessage(
            "\(title): following \(counted(sources.tweakCount, "tweak", "tweaks")) in "
                + counted(sources.fileCount, "file", "files"))
    }

    /// Sets the values edited since the last call; at the first call, those edited since the build.
    ///
    /// - Returns: Whether the program is still running.
    func follow() throws(Failure) -> Bool {
        guard try isRunning() else { return false }
        let update = hasBegun ? sources.update() : sources.first()
        hasBegun = true
        report(update.staying)
        let newer = Set(update.edits.map(\.tweak.key))
        let edits = waiting.filter { !newer.contains($0.tweak.key) } + update.edits
        do throws(Failure) {
            try set(edits)
            waiting = []
            return true
        } catch  where error.kind == .busy {
            if waiting.isEmpty { warn("\(title): \(error.message); edits wait until it responds") }
            waiting = edits
            return true
        } catch {
            // The program has ended meanwhile.
            guard error.kind == .unavailable, try !isRunning() else { throw error }
            return false
        }
    }

    private func isRunning() throws(Failure) -> Bool {
        guard let program = program as? LiveProgram else {
            return (program as? MemoryProgram)?.hasEnded == false
        }
        do throws(ConnectionError) {
            try program.connection.receive()
            while try program.connection.nextMessage() != nil {}
            return true
        } catch .closed {
            return false
        } catch {
            throw error.failure(of: program.title)
        }
    }

    private func set(_ edits: [FollowedSources.Edit]) throws(Failure) {
        var values = OverridesDocument()
        var changes: [(edit: FollowedSources.Edit, before: JSONTweak)] = []
        for edit in edits {
            guard let before = try program.tweak(edit.tweak.key) else { continue }
            // The program already has a baked value, but can still be set to it.
            guard before.nextValue != edit.value else { continue }
            values.set(edit.value, for: edit.tweak.key)
            changes.append((edit, before))
        }
        guard !changes.isEmpty else { return }
        let durations = program is LiveProgram ? SetDurations(until: .closed) : SetDurations()
        let answer = try program.apply(values, resettingOthers: false, allOrNothing: false, durations)
        for (fork, problem) in (program as? LiveProgram)?.missedForks ?? [] {
            warn("\(fork.title): it did not receive the change: \(problem.message)")
        }
        let refused = Dictionary(answer.refused.map { ($0.tweak, $0.message) }) { first, _ in first }
        var made: [(edit: FollowedSources.Edit, before: JSONTweak)] = []
        for change in changes {
            let key = change.edit.tweak.key
            if let message = refused[key] {
                warn("\(change.edit.place): \(message)")
            } else if answer.applied.contains(key) {
                made.append(change)
            }
        }
        var after: [JSONTweak] = []
        for change in made { after.append(try program.tweakAgain(change.edit.tweak.key)) }
        after = try SetCommand.passed(after, in: program)
        for (change, after) in zip(made, after) {
            show(change.edit, change.before, after)
            mentionOverride(change.before)
        }
    }

    // MARK: Output

    private func show(_ edit: FollowedSources.Edit, _ before: JSONTweak, _ after: JSONTweak) {
        switch format {
        case .table:
            let change = after.change(from: before, waiting: program.waitingText(after))
            print(printable((showsTitle ? "\(title): " : "") + "\(edit.place): \(change)"))
        case .json:
            // Values received as JSON can be encoded.
            var form = ChangeForm(from: before, to: after)
            (form.pid, form.declared) = (program.pid, edit.place)
            try? printJSONLine(form)
        }
    }

    /// Warns that the override takes effect again, which would be a surprise after the next build.
    private func mentionOverride(_ tweak: JSONTweak) {
        let key = tweak.declaration.key
        guard tweak.source == "\(TweakSource.overrides)", mentioned.insert(key).inserted else { return }
        warn(
            "\(key): its override \(tweak.value.map { tweak.declaration.text(of: $0) } ?? "") takes effect again when "
                + "this ends, and in the next build; tweak reset removes it")
    }

    /// Several tweaks of a file with one reason are one message, because half-typed text can hide many.
    private func report(_ staying: [StayingTweak]) {
        var groups: [(reason: String, first: StayingTweak, count: Int)] = []
        for tweak in staying {
            let file = tweak.place?.split(separator: ":").dropLast().joined(separator: ":") ?? ""
            let reason = "\(file): \(tweak.reason)"
            if let index = groups.firstIndex(where: { $0.reason == reason }) {
                groups[index].count += 1
            } else {
                groups.append((reason, tweak, 1))
            }
        }
        for (_, first, count) in groups {
            warn(first.message + (count > 1 ? "; so do \(count - 1) more of the file" : ""))
        }
    }
}
