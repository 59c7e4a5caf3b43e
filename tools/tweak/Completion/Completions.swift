// SPDX-License-Identifier: BSD-3-Clause
import CommandCompletion
import CommandSupport
import Glibc
import TweakClient
import TweakOverrides
import TweakProtocol
import TweakRecords
import TweakSystem

// Candidates for the arguments of commands, for shell completion.

/// Running programs, by name and by process id, and files.
func completePrograms(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index) { words in
        runningPrograms().map { Candidate($0.word, details: $0.details) } + executables(words.typed.text)
    }
}

/// Executable files.
func completeExecutables(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index) { executables($0.typed.text) }
}

/// Programs for which something is kept, and executable files.
func completeKeptPrograms(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index) { words in
        KeptFiles.applications.map { Candidate($0) } + executables(words.typed.text)
    }
}

/// All tweaks.
func completeTweaks(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index) { candidates($0) { _ in true } }
}

/// Monitors and tweaks that can be plotted.
func completeNumbers(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index) {
        candidates($0, \.declaration.canBeSampled)
    }
}

/// Tweaks that can be set.
func completeSettableTweaks(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index, settableTweaks)
}

/// Overridden tweaks.
func completeOverrides(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index) {
        candidates($0) { $0.source == "\(TweakSource.overrides)" || $0.pendingValue != nil }
    }
}

func completeActions(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index) { candidates($0) { $0.declaration.type == .action } }
}

/// Categories and collections.
func completeGroups(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index) { words in
        let keys = (try? words.program?.tweaks())?.map(\.declaration.key) ?? []
        let groups = Set(
            keys.flatMap { key in
                let collection = "\(TweakKey(key.category, key.collection, ""))"
                return [collection, "\(TweakKey(key.category, "", ""))".dropLast(1).description]
            })
        return groups.sorted().map { Candidate($0) }
    }
}

/// Values for the tweak before the word.
func completeValues(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index, values)
}

/// Tweaks and values, alternating.
func completeSettableTweaksAndValues(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index) { words in
        words.arguments.count.isMultiple(of: 2) ? settableTweaks(words) : values(words)
    }
}

func completePresets(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index) { words in
        guard let program = words.program, let folder = try? PresetFolder(of: program) else { return [] }
        return folder.names.map { Candidate($0) }
    }
}

private func settableTweaks(_ words: CommandLineWords) -> [Candidate] {
    candidates(words) { $0.declaration.type != .action && !$0.declaration.isReadOnly }
}

private func candidates(_ words: CommandLineWords, _ isOffered: (JSONTweak) -> Bool) -> [Candidate] {
    let tweaks = (try? words.program?.tweaks()) ?? []
    let typed = words.typed.text
    // With nothing typed, short names would be too many.
    let names = Dictionary(grouping: typed.isEmpty ? [] : tweaks, by: \.declaration.key.name)
    return tweaks.filter(isOffered).flatMap { tweak in
        let key = tweak.declaration.key
        let isShort = !"\(key)".hasPrefix(typed) && names[key.name]?.count == 1
        let value = tweak.value.map { tweak.declaration.text(of: $0, rounded: true) }
        let details = [value, tweak.declaration.title, tweak.declaration.description].compactMap(\.self)
            .filter {
                !$0.isEmpty
            }
        let words =
            ["\(key)"] + (isShort ? ["\(TweakKey("", "", key.name))".drop { $0 == "/" }.description] : [])
        return words.map { Candidate($0, details: details.joined(separator: "  ")) }
    }
}

/// The current value of a tweak, and others that it allows.
private func values(_ words: CommandLineWords) -> [Candidate] {
    guard let name = words.arguments.last, let tweak = try? words.program?.tweak(named: name) else {
        return []
    }
    let declaration = tweak.declaration
    var candidates: [Candidate] = []
    func add(_ value: TweakValue?, _ details: String) {
        guard let value, value != .nothing, !candidates.contains(where: { $0.word == "\(value)" }) else {
            return
        }
        candidates.append(Candidate("\(value)", details: details))
    }
    for choice in declaration.choices { add(choice.value, choice.label ?? "") }
    for choice in declaration.choices { add(choice.label.map { .string($0) }, "\(choice.value)") }
    if declaration.type == .bool {
        add(true, "")
        add(false, "")
    }
    if declaration.isOptional { add(.absent, "no value") }
    add(tweak.value, "now")
    add(declaration.defaultValue, "default")
    add(declaration.minimum, "minimum")
    add(declaration.maximum, "maximum")
    return candidates
}

extension CommandLineWords {
    /// The program on the line: the first argument of a command, the second of `preset`. If several processes match,
    /// the first.
    var program: (any Program)? {
        let name = arguments.dropFirst(arguments.first == "preset" ? 2 : 1).first
        // A warning would appear in the line that is being typed.
        return name.flatMap { try? ProgramSearch(.short, warn: { _ in }).programs(named: $0).first }
    }
}
