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
            Kept values of tweaks that are no longer declared can be removed by their complete names or with --undeclared. \
            A plug-in that is not loaded may declare them.
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

    @Flag(help: "End the leases of the tweaks, whoever holds them. Kept values stay.")
    var leases = false

    func validate() throws {
        if leases, undeclared {
            throw ValidationError("Tweaks that nothing declares have no leases; leave --undeclared out.")
        }
        let isNamed = !tweaks.isEmpty
        if isNamed != (all || undeclared) { return }
        throw ValidationError(
            isNamed
                ? "Name tweaks, or give --all or --undeclared, not both."
                : "Name the tweaks, or give --all or --undeclared.")
    }

    func run() throws {
        try target.forEachChanged(format) { program, processes throws(Failure) in
            var scopes: [TweakScope] = all ? [.all] : []
            var before: [JSONTweak] = []
            var ineffective: [IneffectiveValue]?
            var ended = 0
            if undeclared { try program.checkOverrides(includingRunning: true) }
            let kept = leases ? OverridesDocument() : try program.undeclared()
            var forgotten = undeclared ? kept.keys.sorted() : []
            if all {
                before = try program.tweaks()
            } else {
                for name in tweaks {
                    if let key = TweakKey(name), kept[key] != nil {
                        forgotten.append(key)
                        continue
                    }
                    let (scope, chosen) = try self.chosen(name, of: program)
                    scopes.append(scope)
                    before += chosen
                }
            }
            if leases {
                let program = try target.running(program)
                for scope in scopes { ended += try program.endLeases(of: scope) }
            } else if !scopes.isEmpty {
                ineffective = try program.reset(all ? nil : before.map(\.declaration.key))
            }
            if !scopes.isEmpty { processes.noteChange(isKept: !leases) }
            try program.forget(forgotten)
            let changes = try changes(from: before, of: program)
            let obstacle = (program as? OfflineProgram)?.obstacle
            var lines =
                changes.map { before, now in
                    guard obstacle != nil else {
                        return now.resetText(from: before, waiting: program.waitingText(now))
                    }
                    let text = before.declaration.text(of: before.value ?? .nothing)
                    return "\(before.declaration.key): \(text) is no longer kept"
                }
                + forgotten.map { "\($0): \(kept[$0]?.summary ?? "") was removed; no such tweak is declared" }
            if lines.isEmpty, ineffective == nil {
                lines = [nothingHappened(leases: ended)]
            }
            if format == .json || !lines.isEmpty {
                let form = ResetForm(changes: changes.map(ChangeForm.init(from:to:)), removed: forgotten)
                try target.show(form, of: program, as: format) {
                    lines.map { printable($0) }.joined(separator: "\n")
                }
            }
            if let obstacle, !changes.isEmpty {
                warn("\(program.title): it \(obstacle), so it never had what was kept")
            }
            // What waits is in the lines above.
            try program.reportIneffective(ineffective?.filter { $0.pendingValue == nil })
        }
    }

    /// The message of a reset that has changed no value.
    private func nothingHappened(leases ended: Int) -> String {
        guard leases else { return "nothing to reset" }
        guard ended > 0 else { return "no lease to end" }
        return counted(ended, "lease has ended", "leases have ended") + "; no value has changed"
    }

    private func chosen(_ name: String, of program: any Program) throws(Failure) -> (TweakScope, [JSONTweak])
    {
        if name.hasSuffix("/") {
            let tweaks = try program.tweaks()
            let scope = try TweakScope(name, among: tweaks)
            return (
                scope, tweaks.filter { $0.declaration.type != .action && scope.contains($0.declaration.key) }
            )
        }
        let tweak = try program.tweak(named: name)
        guard tweak.declaration.type != .action else {
            throw Failure(TweakValueError.isAction(tweak.declaration))
        }
        return (.tweak(tweak.declaration.key), [tweak])
    }

    /// The tweaks whose values have changed, before and after.
    private func changes(
        from before: [JSONTweak], of program: any Program
    ) throws(Failure) -> [(JSONTweak, JSONTweak)] {
        var now: [JSONTweak] = []
        if before.count > 1 {
            now = try program.tweaks()
        } else if let key = before.first?.declaration.key {
            now = [try program.tweakAgain(key)]
        }
        var after: [TweakKey: JSONTweak] = [:]
        for tweak in try SetCommand.passed(now, in: program) { after[tweak.declaration.key] = tweak }
        return before.filter { !$0.declaration.isMonitor }.compactMap { tweak in
            guard let now = after[tweak.declaration.key],
                (now.value, now.pendingValue, now.source) != (tweak.value, tweak.pendingValue, tweak.source)
            else { return nil }
            return (tweak, now)
        }
    }
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
