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

struct EditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "edit", abstract: "Edit the overrides as JSON.",
        discussion: """
            Runs $VISUAL, or else $EDITOR; a graphical editor needs an option to wait, such as "code --wait". When it exits, \
            changed values are checked and set, and removed ones are reset. Other values stay, even if they were set \
            while the editor was open. A number may be an expression in quotation marks, such as "2*pi" and "+=10%", as for \
            tweak set. If there is an error, nothing is set.
            """)

    @OptionGroup var target: ProgramOptions

    func run() throws {
        try target.forEachChanged(checkingValues: true, .json) { program, processes throws(Failure) in
            try program.checkOverrides()
            let before = try program.overrides
            let text = try EditedText(before.isEmpty ? "{\n}\n" : before.text)
            while true {
                let hint = try text.edit()
                do throws(Failure) {
                    let edit = try Edit(of: text.original, to: text.read(), program)
                    try edit.make(in: program)
                    if !edit.isEmpty { processes.noteChange() }
                    if let hint { warn(hint) }
                    return text.remove()
                } catch {
                    guard isatty(STDIN_FILENO) == 1, isatty(STDERR_FILENO) == 1 else {
                        var error = error
                        error.details.append(text.whereItIs)
                        throw error
                    }
                    error.write()
                    guard isConfirmed("Edit again? [Y/n]", byDefault: true) else {
                        throw Failure(text.whereItIs, error.kind)
                    }
                }
            }
        }
    }
}

/// The differences between a text and the same text after editing.
private struct Edit {
    private var values = OverridesDocument()
    private var removed: [TweakKey] = []
    /// The removed overrides of tweaks that nothing declares.
    private var forgotten: [TweakKey] = []
    var isEmpty: Bool { values.isEmpty && removed.isEmpty && forgotten.isEmpty }

    /// Checks the text.
    init(of original: [UInt8], to text: [UInt8], _ program: any Program) throws(Failure) {
        let (before, after) = try failing {
            let before = try OverridesDocument(json: original, path: "the text")
            let after = try OverridesDocument(json: text, path: "the text")
            try after.checkNesting("the text", before: before)
            return (before, after)
        }
        let tweaks = Dictionary(try program.tweaks().map { ($0.declaration.key, $0.declaration) }) {
            first, _ in first
        }
        for key in before.keys.sorted() where after[key] == nil {
            if tweaks[key] == nil { forgotten.append(key) } else { removed.append(key) }
        }
        var problems: [String] = []
        // Unknown entries may stay.
        for key in after.keys.sorted() where !Self.isSame(after[key], before[key]) {
            guard let declaration = tweaks[key] else {
                problems.append("\(TweakError.unknown(key, nearest: tweaks.keys.nearest(to: key)))")
                continue
            }
            do throws(TweakValueError) {
                guard let admission = try Self.admission(of: after[key], before[key], declaration) else {
                    continue
                }
                if admission.wasClamped {
                    warn(
                        outsideLimits("\(key): the value", allowed: declaration.allowed), .clamped, key)
                }
                values.set(admission.value, for: key)
            } catch {
                problems.append("\(error)")
            }
        }
        guard problems.isEmpty else { throw Failure("nothing was set:", details: problems, .invalid) }
    }

    /// Whether two values are the same. Some editors write 150.0 as 150.
    private static func isSame(_ value: JSONValue?, _ other: JSONValue?) -> Bool {
        switch (value, other) {
        case (.scalar(.integer(let integer))?, .scalar(.double(let double))?),
            (.scalar(.double(let double))?, .scalar(.integer(let integer))?):
            Int128(exactly: double) == integer
        default: value == other
        }
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
        let changes =
            values.keys.sorted().map { ChangeTweaks.Change(tweak: "\($0)", value: values[$0]) }
            + removed.map { ChangeTweaks.Change(tweak: "\($0)", reset: true) }
        if !changes.isEmpty {
            let answer = try program.change(ChangeTweaks(changes, exactNames: true))
            try answer.check()
            try program.reportIneffective(answer.ineffective)
        }
        try program.forget(forgotten)
        let parts = [(values.keys.count, "set"), (removed.count + forgotten.count, "reset")].filter {
            $0.0 > 0
        }
        .map { counted($0.0, "tweak was", "tweaks were") + " \($0.1)" }
        print(parts.isEmpty ? "nothing was changed" : parts.joined(separator: ", "))
    }
}

extension OverridesDocument {
    fileprivate var text: String { String(decoding: json(), as: UTF8.self) }
}
