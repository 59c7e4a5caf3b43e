// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandSupport
import Glibc
import TweakClient
import TweakJSON
import TweakOverrides
import TweakProtocol
import TweakRecords

struct EditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Edit the overrides as JSON.",
        discussion: """
            The editor is $VISUAL, or else $EDITOR. When it exits, changed values are checked and set, and removed ones reset. \
            A number may be given as a text to calculate, such as "2*pi" and "+=10%", as for tweak set. If there is an error, \
            nothing is set.
            """)

    @OptionGroup var target: ProgramOptions

    func run() throws {
        try target.forEach(checkingValues: true, .json) { program throws(Failure) in
            let before = try program.overrides
            let text = try EditedText(before.isEmpty ? "{\n}\n" : before.text)
            while true {
                try text.edit()
                do throws(Failure) {
                    try Edit(of: before, to: text.read(), program).make(in: program)
                    return text.remove()
                } catch {
                    guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
                        var error = error
                        error.details.append(text.whereItIs)
                        throw error
                    }
                    error.write()
                    guard wantsToGoOn() else { throw Failure(text.whereItIs, error.kind) }
                }
            }
        }
    }

    private func wantsToGoOn() -> Bool {
        while true {
            printError("Edit again? [Y/n]")
            switch readLine()?.lowercased() {
            case "", "y", "yes": return true
            case "n", "no", nil: return false
            default: continue
            }
        }
    }
}

/// The changes in an edited text.
private struct Edit {
    private var values = OverridesDocument()
    private var removed: [TweakKey] = []

    /// Checks the text.
    init(of before: OverridesDocument, to text: [UInt8], _ program: any Program) throws(Failure) {
        let after = try failing {
            let after = try OverridesDocument(json: text, path: "the text")
            try after.checkNesting("the text", before: before)
            return after
        }
        removed = before.keys.filter { after[$0] == nil }.sorted()
        let tweaks = Dictionary(try program.tweaks().map { ($0.declaration.key, $0.declaration) }) {
            first, _ in first
        }
        var problems: [String] = []
        // Unknown entries may stay.
        for key in after.keys.sorted() where after[key] != before[key] {
            guard let declaration = tweaks[key] else {
                problems.append("\(TweakError.unknown(key, nearest: tweaks.keys.nearest(to: key)))")
                continue
            }
            do throws(TweakValueError) {
                guard let admission = try Self.admission(of: after[key], before[key], declaration) else {
                    continue
                }
                if admission.wasClamped {
                    warn(outsideLimits("\(key): the value", allowed: declaration.allowed))
                }
                values.set(admission.value, for: key)
            } catch {
                problems.append("\(error)")
            }
        }
        guard problems.isEmpty else { throw Failure("nothing was set:", details: problems, .invalid) }
    }

    /// Accepts a value as it is, and a text for another type like `tweak set`.
    private static func admission(
        of value: JSONValue?, _ former: JSONValue?, _ declaration: TweakDeclaration
    ) throws(TweakValueError) -> TweakDeclaration.Admission? {
        guard let value else { return nil }
        guard case .scalar(.string(let text)) = value, declaration.type != .string else {
            return try declaration.admit(value)
        }
        return try declaration.admit(text: text, current: former?.tweakValue ?? declaration.defaultValue)
    }

    func make(in program: any Program) throws(Failure) {
        for key in removed { try program.reset(.tweak(key)) }
        if !values.isEmpty {
            let answer = try program.apply(values, resettingOthers: false, allOrNothing: false)
            guard answer.problems.isEmpty else {
                throw Failure("not everything was set:", details: answer.problems, .invalid)
            }
        }
        let parts = [(values.keys.count, "set"), (removed.count, "reset")].filter { $0.0 > 0 }
            .map { counted($0.0, "tweak was", "tweaks were") + " \($0.1)" }
        print(parts.isEmpty ? "nothing was changed" : parts.joined(separator: ", "))
    }
}

extension OverridesDocument {
    fileprivate var text: String { String(decoding: json(), as: UTF8.self) }
}
