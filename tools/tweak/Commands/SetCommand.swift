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

struct SetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "set", abstract: "Change the values of tweaks.",
        discussion: """
            Several values are one change: if one is refused, none is set. NAME VALUE, NAME=VALUE and NAME = VALUE are the \
            same. A value outside the limits is clamped to them, with a warning.

            A Bool is true or false, on or off, yes or no, 1 or 0, or toggle. A number may be calculated: 2*pi, max/2, \
            x*1.1, +=10%, sqrt(2), where x is the current value, min and max are the limits and def is the default; a \
            percentage is of a number, as in x-10% and 50%*max. An integer may be hexadecimal (0x1F), octal (0o17) or binary \
            (0b101). A unit may follow, for a duration any unit of time: 300ms, 2 min, 1:30. A colour is rrggbb or rrggbbaa, \
            with or without #, or a CSS colour name. A choice is its value or its label, in any case.

            With --for or --while a value is leased: it takes precedence over the kept value but is not kept itself. When \
            the lease ends, even because this command was killed, the value below it returns. If a tweak has several \
            leases, the newest wins. Leases and ramps apply to all processes that the program has forked so far; processes \
            forked later inherit ramps and the leases of --for. In a process without the Tweaks library, a small helper \
            process restores the old value.

            For example:

              tweak set motor Gain 2.5
              tweak set motor Gain=max/2 Target+=10% Mode=slow
              tweak set motor Gain 2.5 --for 30s
              tweak set motor Gain 2.5 --while -- ./benchmark
            """)

    @Option(
        name: .customLong("for"),
        help: ArgumentHelp(
            "Lease the values for this long, such as 30s or 2min, and return at once.", valueName: "time")
    )
    var lease: DurationArgument?

    @Flag(
        name: .customLong("while"),
        help: ArgumentHelp(
            "Lease the values while a command runs: --while -- <command>.",
            discussion: "Signals are passed on to the command, and its exit status is returned."))
    var attends = false

    @Option(
        help: ArgumentHelp(
            "Ramp to the values over this time: numbers along their scale, colours by component. Only the final value is kept.",
            valueName: "time"))
    var ramp: DurationArgument?

    @Flag(help: "Keep values even if this machine's Tweaks library cannot be loaded into the program.")
    var anyway = false

    @Option(help: "The output format.")
    var format: OutputFormat = .table

    @OptionGroup var target: AwaitedProgramOptions

    @Argument(
        help: "The tweak, as Category/Collection/Name or shorter.",
        completion: .custom(completeSettableTweaks))
    var tweak: String

    @Argument(
        help: "The new value, unless it follows the tweak as in NAME=VALUE.",
        completion: .custom(completeValues))
    var value: String?

    @Argument(
        help: ArgumentHelp("More tweaks and their values.", valueName: "tweak-value"),
        completion: .custom(completeSettableTweaksAndValues))
    var others: [String] = []

    func validate() throws {
        if let lease, !ControlLimits.leaseDurations.contains(lease.seconds) {
            throw ValidationError("--for must be between 1 ms and 1 week.")
        }
        if let ramp, !ControlLimits.rampDurations.contains(ramp.seconds) {
            throw ValidationError("--ramp must be between 1 ms and 1 hour.")
        }
        if attends, TweakCommand.attendedWords.isEmpty {
            throw ValidationError("Give the command to run: --while -- <command>.")
        }
    }

    func run() throws {
        let durations = SetDurations(
            until: attends ? .closed : nil, for: lease?.seconds, ramp: ramp?.seconds)
        let isKeptRamp = ramp != nil && !durations.areLeased
        var held: [any Program] = []
        var isLeased = false
        do {
            try target.forEachChanged(checkingValues: true, joined: isKeptRamp, format) {
                program, processes throws(Failure) in
                held.append(program)
                (program as? OfflineProgram)?.keepsInVain = anyway
                let (answer, typed) = try change(program, durations)
                var made = try program.tweaks(of: answer)
                let keys = made.map(\.effect.tweak)
                for change in made { change.warnOfLimits(typed, among: keys) }
                processes.noteChange(isKept: !durations.areLeased)
                isLeased = durations.areLeased
                // They are reported, and the command is not started.
                if attends, !processes.missed.isEmpty { return }
                try Self.awaitGates(of: &made, in: program)
                let form = ChangesForm(changes: made.map(ChangeForm.init), of: program, processes)
                try target.show(form, of: program, as: format) {
                    let place = form.processes.count > 1 ? ", in \(form.processes.count) processes" : ""
                    return made.map { change in
                        let (before, after) = (change.before, change.after)
                        return printable(
                            after.change(from: before, waiting: program.waitingText(after)) + terms + place)
                    }.joined(separator: "\n")
                }
                for change in made { change.warnOfOthers(durations) }
                if !durations.areNone { warnOfForks(of: program) }
            }
        } catch {
            if attends, isLeased { printMessage("the command was not started, and the leases end") }
            throw error
        }
        if attends { try attend(held) }
    }

    /// Warns that forks of the process keep their values. They do not if the program was named.
    private func warnOfForks(of program: any Program) {
        guard let program = program as? LiveProgram, target.processID != nil else { return }
        let count = program.running.forks.count
        guard count > 0 else { return }
        warn(
            "\(program.title): "
                + "\(counted(count, "forked process keeps its", "forked processes keep their")) values; to "
                + "change all processes, give the name of the program")
    }

    /// The ramp and the lease, appended to a line.
    private var terms: String {
        (ramp.map { " in \($0.text)" } ?? "") + (lease.map { ", for \($0.text)" } ?? "")
            + (attends ? ", while the command runs" : "")
    }

    /// Runs the command, and ends the leases.
    private func attend(_ programs: [any Program]) throws {
        let words = argumentBytes.suffix(TweakCommand.attendedWords.count).map { word in
            word.map { Array(UnsafeRawBufferPointer(start: $0, count: strlen($0))) } ?? []
        }
        let forks = programs.map { ($0 as? LiveProgram)?.running.forks ?? [] }
        var status: Int32 = 0
        try Failure.reported { () throws(Failure) in status = try AttendedCommand(words: words).run() }
        for (program, before) in zip(programs, forks) {
            (program as? MemoryProgram)?.endLeases()
            guard let program = program as? LiveProgram else { continue }
            let count = program.running.forks.subtracting(before).count
            if count > 0 {
                warn(
                    "\(program.title): "
                        + "\(counted(count, "process that it forked", "processes that it forked")) while "
                        + "the command ran did not inherit the lease; with --for, forked processes inherit "
                        + "it")
            }
            if (try? program.endLeases()) == nil {
                warn("\(program.title): it ended before the command did, or closed the connection")
            }
        }
        if status != 0 { throw ExitCode(status) }
    }

    /// Changes the tweaks.
    ///
    /// - Returns: What happened, and the changes as typed.
    private func change(
        _ program: any Program, _ durations: SetDurations
    ) throws(Failure) -> (ChangeTweaks.Answer, [ChangeTweaks.Change]) {
        let words = [tweak] + (value.map { [$0] } ?? []) + others
        func request(_ changes: [ChangeTweaks.Change]) -> ChangeTweaks {
            ChangeTweaks(changes, describing: true, durations)
        }
        // One request is enough for what needs no knowledge of the tweaks to be read, unless the program refuses it.
        if let changes = Self.changes(words) {
            let answer = try program.change(request(changes))
            if answer.refused.isEmpty { return (answer, changes) }
        }
        var changes: [ChangeTweaks.Change] = []
        var rest = words[...]
        while let word = rest.popFirst() { try changes.append(Self.change(word, &rest, in: program)) }
        let answer = try program.change(request(changes))
        try answer.check()
        return (answer, changes)
    }

    /// Parses changes of the forms `NAME=VALUE`, `NAME+=VALUE` and `NAME VALUE`; `nil` if some may have another one.
    private static func changes(_ words: [String]) -> [ChangeTweaks.Change]? {
        var changes: [ChangeTweaks.Change] = []
        var rest = words[...]
        while let word = rest.popFirst() {
            var (name, text) = (word, "")
            if let assignment = Assignment(argument: word) {
                (name, text) = (assignment.name, assignment.text)
                if let sign = name.last, "+-*/".contains(sign) {
                    (name, text) = ("\(name.dropLast())", "\(sign)=\(text)")
                }
            } else if let value = rest.popFirst(), Assignment(argument: value) == nil,
                !signs.contains(where: value.hasPrefix)
            {
                text = value
            }
            guard !text.isEmpty, !name.isEmpty else { return nil }
            changes.append(ChangeTweaks.Change(tweak: name, text: repaired(text)))
        }
        return changes
    }

    /// Parses one change: `NAME=VALUE`, or a name and the next words, as in `NAME VALUE`, `NAME = VALUE`, `NAME += VALUE`
    /// and `NAME 300 ms`.
    private static func change(
        _ word: String, _ rest: inout ArraySlice<String>, in program: any Program
    ) throws(Failure) -> ChangeTweaks.Change {
        let unknown: Failure
        do throws(Failure) {
            let tweak = try program.tweak(named: word)
            guard let text = rest.popFirst() else { throw missingValue(of: tweak) }
            return try change(of: tweak, to: text, &rest, in: program)
        } catch {
            unknown = error
        }
        if let sign = signs.first(where: word.hasPrefix) {
            throw Failure("\(word): the tweak is missing before \(sign); write NAME\(sign)VALUE", .usage)
        }
        guard unknown.isAboutName, let assignment = Assignment(argument: word) else { throw unknown }
        // NAME+=VALUE.
        if let sign = assignment.name.last, "+-*/".contains(sign),
            let tweak = try? program.tweak(named: String(assignment.name.dropLast()))
        {
            return try change(of: tweak, to: "\(sign)=\(assignment.text)", &rest, in: program)
        }
        let tweak = try program.tweak(named: assignment.name)
        // An empty text is a value.
        guard assignment.text.isEmpty, tweak.declaration.type != .string else {
            return try change(of: tweak, to: assignment.text, isAssigned: true, &rest, in: program)
        }
        return try change(of: tweak, to: "=", &rest, in: program)
    }

    private static let signs = ["=", "+=", "-=", "*=", "/="]

    private static func missingValue(of tweak: JSONTweak) -> Failure {
        Failure("\(tweak.declaration.key): its value is missing; write NAME=VALUE", .usage)
    }

    /// Takes further words of the value: what follows a sign, and a unit.
    ///
    /// - Parameter isAssigned: Whether the text stood behind an equals sign, so that another one belongs to it.
    private static func change(
        of tweak: JSONTweak, to text: String, isAssigned: Bool = false, _ rest: inout ArraySlice<String>,
        in program: any Program
    ) throws(Failure) -> ChangeTweaks.Change {
        var text = text
        let isText = tweak.declaration.type == .string
        if !isAssigned, text == "=" || !isText && signs.contains(text) {
            if let value = rest.popFirst() {
                text = text == "=" ? value : text + value
            } else if !isText {
                throw missingValue(of: tweak)
            }
        } else if !isAssigned, !isText, text.hasPrefix("=") {
            text.removeFirst()
        }
        if tweak.declaration.type.isNumeric, let unit = rest.first, unit.first?.isNumber == false,
            (try? tweak.declaration.admit(text: "\(text) \(unit)", current: tweak.nextValue)) != nil,
            (try? program.tweak(named: unit)) == nil
        {
            rest.removeFirst()
            text += " " + unit
        }
        return ChangeTweaks.Change(tweak: "\(tweak.declaration.key)", text: repaired(text))
    }
}

extension SetCommand {
    /// Waits briefly for the program to pass the gates that values wait for.
    static func awaitGates(of made: inout [ChangedTweak], in program: any Program) throws(Failure) {
        for (index, after) in zip(made.indices, try passed(made.map(\.after), in: program)) {
            made[index].after = after
        }
    }

    /// Waits briefly for the program to pass the gates that values wait for.
    ///
    /// - Returns: The tweaks after that.
    static func passed(
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

extension ChangedTweak {
    /// - Parameters:
    ///   - typed: The changes as typed, of which the last one of a tweak counts.
    ///   - keys: All changed tweaks.
    fileprivate func warnOfLimits(_ typed: [ChangeTweaks.Change], among keys: [TweakKey]) {
        guard effect.clampedTo != nil else { return }
        let declaration = after.declaration
        let text = typed.last { (try? TweakName($0.tweak).key(among: keys)) == effect.tweak }?.text ?? ""
        warn(
            outsideLimits("\(effect.tweak): \(text)", allowed: declaration.allowed), .clamped, effect.tweak)
    }

    func warnOfOthers(_ durations: SetDurations) {
        let given = effect.givenValue?.value(of: after.declaration.type)
        if let value = after.value, after.pendingValue == nil, after.ramp == nil, value != given {
            warn(
                "\(effect.tweak): the value is \(durations.areLeased ? "leased" : "kept"), but "
                    + after.precedenceText, .hidden, effect.tweak)
        }
    }
}

/// The JSON form of a set. Scripts rely on its keys.
private struct ChangesForm: Encodable {
    let changes: [ChangeForm]
    /// The processes that have the values.
    let processes: [Int32]
    /// The processes that take them from the overrides file.
    let following: [Int32]
    /// The running processes of the program that do not have them.
    let missed: [MissedProcess]
    /// Whether the values are kept for the next start.
    let kept: Bool

    init(changes: [ChangeForm], of program: any Program, _ changed: ChangedProcesses) {
        self.changes = changes
        let forks = (program as? LiveProgram)?.reachedForks.map(\.running.pid) ?? []
        processes = (program.pid.map { [$0] } ?? []) + forks
        (following, missed) = (changed.following, changed.missed)
        // A program that ends because of the change has kept it before.
        let description = try? program.description
        kept = changed.isKept && (description.map { $0.overrides != nil } ?? true)
    }
}

extension JSONTweak {
    /// A line about the change.
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
        return "\(declaration.key): \(old) \(Signs.shown.arrow) \(target ?? new)"
    }

    /// The lease that decides the value, for people: `a lease of tweak 4711 ada for another 27 s`; `nil` if there is none.
    var leaseText: String? { lease.map { "a lease of \($0.text)" } }

    private func text(of value: TweakValue?) -> String {
        // Without the executable the default is unknown.
        value == .nothing ? "the default" : value.map { declaration.text(of: $0) } ?? ""
    }
}

extension JSONLease {
    /// The client and the time that is left: `tweak 4711 ada for another 27 s`.
    var text: String { by + (remaining.map { " for another \(durationText($0))" } ?? "") }
}

extension SetManyTweaks.Answer {
    /// The problems of values that were valid a moment ago.
    var problems: [String] { unknown.map { "\($0): the tweak no longer exists" } + refused.map(\.message) }
}
