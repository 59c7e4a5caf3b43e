// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandSupport
import Glibc
import TweakClient
import TweakFormats
import TweakJSON
import TweakOverrides
import TweakProtocol
import TweakRecords

struct ResetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "reset", abstract: "Reset tweaks to their defaults.",
        discussion: """
            To remove kept values of tweaks that are no longer declared, give their full names or --undeclared. A plug-in \
            that is not loaded may still declare them.
            """)

    @Option(help: "The output format.")
    var format: OutputFormat = .table

    @OptionGroup var target: ProgramOptions

    @Argument(
        help: "The tweaks, as Category/Collection/Name or shorter; also Category/ and Category/Collection/.",
        completion: .custom(completeOverrides))
    var tweaks: [String] = []

    @Flag(help: "Reset all tweaks of the program.")
    var all = false

    @Flag(help: "Remove the kept values of tweaks that are not declared.")
    var undeclared = false

    @Flag(help: "End all leases of the tweaks, also those of other clients. Kept values stay.")
    var leases = false

    func validate() throws {
        if leases, undeclared {
            throw ValidationError("Undeclared tweaks have no leases; omit --undeclared or --leases.")
        }
        let isNamed = !tweaks.isEmpty
        if isNamed != (all || undeclared) { return }
        throw ValidationError(
            isNamed
                ? "Give either tweaks, or --all or --undeclared, not both."
                : "Name the tweaks to reset, or give --all or --undeclared.")
    }

    func run() throws {
        try target.forEachChanged(format) { program, processes throws(Failure) in
            let reset = try leases ? endLeases(in: target.running(program)) : self.reset(in: program)
            if all || reset.forgotten.count < tweaks.count { processes.noteChange(isKept: !leases) }
            try program.forget(reset.forgotten.keys.sorted())
            let changes = reset.changes.filter { !$0.after.declaration.isMonitor }
            let obstacle = (program as? OfflineProgram)?.obstacle
            var lines =
                changes.map { before, now in
                    guard obstacle != nil else {
                        return now.resetText(from: before, waiting: program.waitingText(now))
                    }
                    let text = before.declaration.text(of: before.value ?? .nothing)
                    return "\(before.declaration.key): \(text) is no longer kept"
                }
                + reset.forgotten.keys.sorted().map {
                    "\($0): \(reset.forgotten[$0]?.summary ?? "") was removed; no such tweak is declared"
                }
            if lines.isEmpty, reset.ineffective == nil {
                lines = [nothingHappened(leases: reset.endedLeases)]
            }
            if format == .json || !lines.isEmpty {
                let form = ResetForm(
                    changes: changes.map(ChangeForm.init(from:to:)), removed: reset.forgotten.keys.sorted())
                try target.show(form, of: program, as: format) {
                    lines.map { printable($0) }.joined(separator: "\n")
                }
            }
            if let obstacle, !changes.isEmpty {
                warn("\(program.title): it \(obstacle), so the kept values never took effect")
            }
            // What waits is in the lines above.
            try program.reportIneffective(reset.ineffective?.filter { $0.pendingValue == nil })
        }
    }

    private func reset(in program: any Program) throws(Failure) -> Reset {
        var reset = Reset()
        var answer = ChangeTweaks.Answer()
        // Before anything is reset.
        if undeclared { try program.checkOverrides(includingRunning: true) }
        let request = request
        if let request { answer = try program.change(request) }
        if undeclared || !answer.refused.isEmpty || request == nil {
            let declared = try program.tweaks()
            let kept = try program.undeclared(besides: declared)
            if undeclared { reset.forgotten = kept }
            var keys: [TweakKey] = []
            for name in tweaks {
                if let key = TweakKey(name), kept[key] != nil {
                    reset.forgotten[key] = kept[key]
                } else {
                    keys += try chosen(name, of: program, among: declared).1.map(\.declaration.key)
                }
            }
            if !keys.isEmpty {
                answer = try program.change(Self.request(keys.map { "\($0)" }, areExact: true))
                try answer.check()
            }
        }
        var made = try program.tweaks(of: answer).filter(\.effect.isEffective)
        try SetCommand.awaitGates(of: &made, in: program)
        reset.changes = made.map { ($0.before, $0.after) }
        reset.ineffective = answer.ineffective
        return reset
    }

    /// The request that resets the tweaks, if that can be told without knowing them. A complete name may be one that nothing
    /// declares, so it is not taken for an abbreviation.
    private var request: ChangeTweaks? {
        if all { return ChangeTweaks([], resettingOthers: true, describing: true) }
        let count = tweaks.count { TweakKey($0) != nil }
        guard !tweaks.isEmpty, count == 0 || count == tweaks.count,
            !tweaks.contains(where: { $0.hasSuffix("/") })
        else { return nil }
        return Self.request(tweaks, areExact: count > 0)
    }

    private static func request(_ names: [String], areExact: Bool) -> ChangeTweaks {
        ChangeTweaks(
            names.map { ChangeTweaks.Change(tweak: $0, reset: true) }, exactNames: areExact, describing: true)
    }

    private func endLeases(in program: LiveProgram) throws(Failure) -> Reset {
        var reset = Reset()
        let declared = try program.tweaks()
        var scopes: [TweakScope] = all ? [.all] : []
        var before = all ? declared : []
        for name in tweaks {
            let (scope, chosen) = try chosen(name, of: program, among: declared)
            scopes.append(scope)
            before += chosen
        }
        for scope in scopes { reset.endedLeases += try program.endLeases(of: scope) }
        reset.changes = try changes(from: before, of: program)
        return reset
    }

    /// The message of a reset that has changed no value.
    private func nothingHappened(leases ended: Int) -> String {
        guard leases else { return "nothing to reset" }
        guard ended > 0 else { return "no lease to end" }
        return counted(ended, "lease has ended", "leases have ended") + "; no value has changed"
    }

    private func chosen(
        _ name: String, of program: any Program, among tweaks: [JSONTweak]
    ) throws(Failure) -> (TweakScope, [JSONTweak]) {
        if name.hasSuffix("/") {
            let scope = try TweakScope(name, among: tweaks)
            return (
                scope, tweaks.filter { $0.declaration.type != .action && scope.contains($0.declaration.key) }
            )
        }
        let tweak = try program.tweak(named: TweakName(name), among: tweaks)
        guard tweak.declaration.type != .action else {
            throw Failure(TweakValueError.isAction(tweak.declaration))
        }
        return (.tweak(tweak.declaration.key), [tweak])
    }

    /// The tweaks that have changed, before and after.
    private func changes(
        from before: [JSONTweak], of program: any Program
    ) throws(Failure) -> [(before: JSONTweak, after: JSONTweak)] {
        var now: [JSONTweak] = []
        if before.count > 1 {
            now = try program.tweaks()
        } else if let key = before.first?.declaration.key {
            now = [try program.tweakAgain(key)]
        }
        var after: [TweakKey: JSONTweak] = [:]
        for tweak in try SetCommand.passed(now, in: program) { after[tweak.declaration.key] = tweak }
        return before.compactMap { tweak in
            guard let now = after[tweak.declaration.key],
                (now.value, now.pendingValue, now.source) != (tweak.value, tweak.pendingValue, tweak.source)
            else { return nil }
            return (tweak, now)
        }
    }
}

/// The result of a reset.
private struct Reset {
    /// The tweaks that have changed, before and after.
    var changes: [(before: JSONTweak, after: JSONTweak)] = []
    var ineffective: [IneffectiveValue]?
    /// The kept values of tweaks that nothing declares.
    var forgotten = OverridesDocument()
    var endedLeases = 0
}

extension JSONTweak {
    /// A line about the reset.
    fileprivate func resetText(from before: JSONTweak, waiting: String?) -> String {
        guard value == before.value, pendingValue == before.pendingValue, let source else {
            return change(from: before, waiting: waiting)
        }
        return "\(declaration.key): \(value.map { declaration.text(of: $0) } ?? ""), now from \(source)"
    }
}

/// The JSON form of a reset. Scripts rely on its keys.
private struct ResetForm: Encodable {
    let changes: [ChangeForm]
    /// Kept values of tweaks that are not declared.
    let removed: [TweakKey]
}
