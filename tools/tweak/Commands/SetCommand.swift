// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandCompletion
import CommandSupport
import Glibc
import TweakClient
import TweakOverrides
import TweakProtocol
import TweakRecords
import TweakSystem

struct SetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change the values of tweaks.",
        discussion: """
            Several values are one change: if one is refused, none is set. NAME VALUE and NAME=VALUE are the same. A value \
            outside the limits is clamped to them, with a warning.

            A Bool is true or false, on or off, yes or no, 1 or 0, or toggle. A number may be calculated: 2*pi, max/2, \
            x*1.1, +=10%, sqrt(2), where x is the value that the tweak has, min and max are its limits and def is its \
            default; an integer may be hexadecimal (0x1F), octal (0o17) or binary (0b101). The unit may stand behind it, and \
            where that is one of time any other: 300ms, 2 min 5 s, 1:30. A colour is rrggbb or rrggbbaa, with or without #, \
            or a name of CSS. A choice is its value or its label.

            With --for or --while a value is leased: it stands above what is kept and is not kept itself, and what is \
            below it comes back at the end, also if this command is killed. The newest lease of a tweak counts. In a \
            process without the Tweaks library a small process of this command puts the old value back.
            """)

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "How long the values count, such as 30s or 2min; the command returns at once.", valueName: "time")
    )
    var lease: DurationArgument?

    @Flag(
        name: .customLong("while"),
        help: ArgumentHelp(
            "Let the values count while a command runs, which stands behind: --while -- <command>.",
            discussion: "Signals are passed on to it, and its exit status is that of this command."))
    var attends = false

    @Option(
        help: ArgumentHelp(
            "Reach the values gradually in this time, numbers by their scale and colours by their components; what is kept is the end.",
            valueName: "time"))
    var ramp: DurationArgument?

    @Option(help: "The form of the output.")
    var format: OutputFormat = .table

    @OptionGroup var target: ProgramOptions

    @Argument(
        help: "The tweak, as Category/Collection/Name or shorter.",
        completion: .custom(completeSettableTweaks))
    var tweak: String

    @Argument(
        help: "The new value, if it does not stand behind the tweak as in NAME=VALUE.",
        completion: .custom(completeValues))
    var value: String?

    @Argument(
        help: ArgumentHelp("More tweaks and their values.", valueName: "tweak-value"),
        completion: .custom(completeSettableTweaksAndValues))
    var others: [String] = []

    func validate() throws {
        if let lease, !ControlLimits.leaseDurations.contains(lease.seconds) {
            throw ValidationError("A value counts for 1 ms to a week.")
        }
        if let ramp, !ControlLimits.rampDurations.contains(ramp.seconds) {
            throw ValidationError("A value changes in 1 ms to an hour.")
        }
        if attends, TweakCommand.attendedWords.isEmpty {
            throw ValidationError("Give the command behind --while --.")
        }
    }

    func run() throws {
        let durations = SetDurations(
            until: attends ? .closed : nil, for: lease?.seconds, ramp: ramp?.seconds)
        var held: [any Program] = []
        try target.forEach(checkingValues: true, format) { program throws(Failure) in
            held.append(program)
            var changes: [Change] = []
            var rest = ([tweak] + (value.map { [$0] } ?? []) + others)[...]
            while let word = rest.popFirst() {
                let change = try Self.change(word, &rest, in: program)
                // Of one that is named twice the last value counts.
                changes.removeAll { $0.tweak.declaration.key == change.tweak.declaration.key }
                changes.append(change)
            }
            for change in changes where change.admission.wasClamped { change.warnOfLimits() }
            let made = zip(changes, try Self.passed(Self.make(changes, in: program, durations), in: program))
            try target.show(["changes": made.map(ChangeForm.init)], of: program, as: format) {
                made.map { change, after in
                    printable(after.change(from: change.tweak, waiting: program.waitingText(after)) + terms)
                }.joined(separator: "\n")
            }
            for (change, after) in made { change.warnOfOthers(after, durations) }
        }
        if attends { try attend(held) }
    }

    /// How long the values count, behind a line.
    private var terms: String {
        (ramp.map { " in \($0.text)" } ?? "") + (lease.map { ", for \($0.text)" } ?? "")
            + (attends ? ", while the command runs" : "")
    }

    /// Runs the command, and ends the leases.
    private func attend(_ programs: [any Program]) throws {
        let words = Array(argumentBytes.suffix(TweakCommand.attendedWords.count))
        var status: Int32 = 0
        try Failure.reported { () throws(Failure) in status = try AttendedCommand(words: words).run() }
        for program in programs {
            (program as? MemoryProgram)?.endLeases()
            if let program = program as? LiveProgram, (try? program.endLeases()) == nil {
                warn("\(program.title): it ended before the command did, or closed the connection")
            }
        }
        if status != 0 { throw ExitCode(status) }
    }

    /// Reads one change: `NAME=VALUE`, or a name and the word behind it.
    private static func change(
        _ word: String, _ rest: inout ArraySlice<String>, in program: any Program
    ) throws(Failure) -> Change {
        let unknown: Failure
        do throws(Failure) {
            let tweak = try program.tweak(named: word)
            guard let text = rest.popFirst() else {
                throw Failure("\(tweak.declaration.key): its value is missing; write NAME=VALUE", .usage)
            }
            return try Change(of: tweak, to: text)
        } catch {
            unknown = error
        }
        guard unknown.isAboutName, let assignment = Assignment(argument: word) else { throw unknown }
        // NAME+=VALUE.
        if let sign = assignment.name.last, "+-*/".contains(sign),
            let tweak = try? program.tweak(named: String(assignment.name.dropLast()))
        {
            return try Change(of: tweak, to: "\(sign)=\(assignment.text)")
        }
        return try Change(of: program.tweak(named: assignment.name), to: assignment.text)
    }

    /// - Returns: The tweaks as the program has them now.
    private static func make(
        _ changes: [Change], in program: any Program, _ durations: SetDurations
    ) throws(Failure) -> [JSONTweak] {
        if changes.count == 1 { return [try program.set(changes[0].tweak, to: changes[0].text, durations)] }
        var values = OverridesDocument()
        for change in changes { values.set(change.admission.value, for: change.tweak.declaration.key) }
        let answer = try program.apply(values, resettingOthers: false, allOrNothing: true, durations)
        guard answer.problems.isEmpty else {
            throw Failure("nothing was set:", details: answer.problems, .invalid)
        }
        var tweaks: [JSONTweak] = []
        for change in changes { tweaks.append(try program.tweakAgain(change.tweak.declaration.key)) }
        return tweaks
    }
}

extension SetCommand {
    /// Waits briefly for the program to pass the gates that values wait for.
    ///
    /// - Returns: The tweaks as the program has them then.
    private static func passed(
        _ tweaks: [JSONTweak], in program: any Program
    ) throws(Failure) -> [JSONTweak] {
        var tweaks = tweaks
        for _ in 0..<50 where tweaks.contains(where: { $0.awaitedGate != nil }) {
            usleep(4000)
            for index in tweaks.indices where tweaks[index].awaitedGate != nil {
                tweaks[index] = try program.tweakAgain(tweaks[index].declaration.key)
            }
        }
        return tweaks
    }
}

/// A change that a tweak can take.
private struct Change {
    let tweak: JSONTweak
    let text: String
    let admission: TweakDeclaration.Admission

    init(of tweak: JSONTweak, to text: String) throws(Failure) {
        let text = repaired(text)
        (self.tweak, self.text) = (tweak, text)
        admission = try failing { try tweak.declaration.admit(text: text, current: tweak.nextValue) }
    }

    func warnOfLimits() {
        let declaration = tweak.declaration
        warn(outsideLimits("\(declaration.key): \(text)", allowed: declaration.allowed))
    }

    func warnOfOthers(_ after: JSONTweak, _ durations: SetDurations) {
        let declaration = tweak.declaration
        if let value = after.value, after.pendingValue == nil, after.ramp == nil, value != admission.value {
            let other = after.leaseText ?? after.source ?? "another source"
            warn(
                "\(declaration.key): what was set is \(durations.areLeased ? "leased" : "kept"), but \(other) "
                    + "comes before it with \(declaration.text(of: value))")
        }
    }
}

/// The JSON form of a change that was made: keys are a promise to scripts.
private struct ChangeForm: Encodable {
    let tweak: TweakKey
    let oldValue, value: TweakValue?
    let wasClamped: Bool
    let source: String?
    let pendingValue: TweakValue?
    let lease: JSONLease?
    let ramp: JSONRamp?

    init(_ change: Change, _ after: JSONTweak) {
        (lease, ramp) = (after.lease, after.ramp)
        tweak = change.tweak.declaration.key
        (oldValue, value, pendingValue) = (change.tweak.value, after.value, after.pendingValue)
        (wasClamped, source) = (change.admission.wasClamped, after.source)
    }
}

extension JSONTweak {
    /// A line that says what became of the value.
    ///
    /// - Parameter waiting: The gate that the value waits for, in words.
    func change(from before: JSONTweak, waiting: String? = nil) -> String {
        let (old, new) = (before.text(of: before.value), before.text(of: value))
        if let pendingValue, let waiting {
            return "\(declaration.key): \(new); \(before.text(of: pendingValue)) \(waiting)"
        }
        if let pendingValue {
            return "\(declaration.key): \(new), after a restart \(before.text(of: pendingValue))"
        }
        if before.pendingValue != nil, old == new {
            return "\(declaration.key): \(new), also after a restart"
        }
        let target = ramp.map { declaration.text(of: $0.target) }
        return "\(declaration.key): \(old) → \(target ?? new)"
    }

    /// The lease that gives the value, for people: `a lease of tweak 4711 ada for another 27 s`; `nil` if there is none.
    var leaseText: String? { lease.map { "a lease of \($0.text)" } }

    private func text(of value: TweakValue?) -> String {
        // Without the executable nobody knows what that is.
        value == .nothing ? "the default" : value.map { declaration.text(of: $0) } ?? ""
    }
}

extension JSONLease {
    /// The client and the time that is left: `tweak 4711 ada for another 27 s`.
    var text: String { by + (remaining.map { " for another \(durationText($0))" } ?? "") }
}

/// A time in seconds, minutes or hours, rounded up.
func durationText(_ seconds: Double) -> String {
    // A program may say anything.
    let seconds = min(max(seconds, 0), 1e9)
    return switch seconds {
    case ..<120: "\(Int(seconds.rounded(.up))) s"
    case ..<7200: "\(Int((seconds / 60).rounded(.up))) min"
    default: "\(Int((seconds / 3600).rounded(.up))) h"
    }
}

extension SetManyTweaks.Answer {
    /// What of values that the tweaks took a moment ago was not set.
    var problems: [String] { unknown.map { "\($0): the tweak is gone" } + refused.map(\.message) }
}
