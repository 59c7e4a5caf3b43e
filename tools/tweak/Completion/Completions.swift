import ArgumentParser
import CommandSupport
import Glibc
import TweakClient
import TweakOverrides
import TweakProtocol
import TweakRecords
import TweakSystem

// What the arguments of the commands can be, for a shell that completes a word.

/// Programs that run, by name and by process id, and files.
func completePrograms(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index) { words in
        let withLibrary = RunningProgram.all().filter { !$0.hasEnded }.compactMap { program in
            program.executable.map { (pid: program.pid, path: $0) }
        }
        let running = withLibrary + MemoryProcess.executables()
        let byName = Dictionary(grouping: running) { lastComponent(of: $0.path) }
        let names = byName.filter { $0.value.count == 1 }.keys.sorted().map {
            Candidate(word: $0, details: "runs")
        }
        let processes = running.map { Candidate(word: "\($0.pid)", details: $0.path) }
        return names + processes + executables(words.prefix)
    }
}

/// Files that can be executed.
func completeExecutables(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index) { executables($0.prefix) }
}

/// All tweaks.
func completeTweaks(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index) { candidates($0) { _ in true } }
}

/// Monitors and tweaks that can be drawn.
func completeNumbers(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index) {
        candidates($0) { $0.declaration.type.isNumeric || $0.declaration.type == .bool }
    }
}

/// Those that can be set.
func completeSettableTweaks(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index, settableTweaks)
}

/// Those that are set.
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
        return groups.sorted().map { Candidate(word: $0) }
    }
}

/// Values of the tweak before the word.
func completeValues(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index, values)
}

/// Tweaks and values in turn.
func completeSettableTweaksAndValues(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index) { words in
        words.arguments.count.isMultiple(of: 2) ? settableTweaks(words) : values(words)
    }
}

func completePresets(_ words: [String], _ index: Int, _ cursor: String) -> [String] {
    complete(words, index) { words in
        guard let program = words.program, let folder = try? PresetFolder(of: program) else { return [] }
        return folder.names.map { Candidate(word: $0) }
    }
}

private func complete(
    _ words: [String], _ index: Int, _ candidates: (CommandLineWords) -> [Candidate]
) -> [String] {
    candidates(CommandLineWords(words, at: index)).compactMap(\.line)
}

private func settableTweaks(_ words: CommandLineWords) -> [Candidate] {
    candidates(words) { $0.declaration.type != .action && !$0.declaration.isReadOnly }
}

private func candidates(_ words: CommandLineWords, _ isOffered: (JSONTweak) -> Bool) -> [Candidate] {
    let tweaks = (try? words.program?.tweaks()) ?? []
    return tweaks.filter(isOffered).map { tweak in
        let value = tweak.value.map { tweak.declaration.text(of: $0, rounded: true) }
        let details = [value, tweak.declaration.title, tweak.declaration.description].compactMap(\.self)
            .filter {
                !$0.isEmpty
            }
        return Candidate(word: "\(tweak.declaration.key)", details: details.joined(separator: "  "))
    }
}

/// The value that the tweak has, and others that it can have.
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
        candidates.append(Candidate(word: "\(value)", details: details))
    }
    for choice in declaration.choices { add(choice.value, choice.label ?? "") }
    if declaration.type == .bool {
        add(true, "")
        add(false, "")
    }
    add(tweak.value, "now")
    add(declaration.defaultValue, "default")
    add(declaration.minimum, "minimum")
    add(declaration.maximum, "maximum")
    return candidates
}

/// Directories and executable files that begin with a text.
private func executables(_ prefix: String) -> [Candidate] {
    let directory = prefix.lastIndex(of: "/").map { prefix[...$0] } ?? ""
    let beginning = prefix.dropFirst(directory.count)
    let names = directoryEntries(directory.isEmpty ? "." : String(directory)).filter { name in
        guard name.hasPrefix(beginning), name != ".", name != ".." else { return false }
        return name.hasPrefix(".") == beginning.hasPrefix(".")
    }
    let found = names.sorted().compactMap { name -> String? in
        let path = "\(directory)\(name)"
        if stat(path: path)?.isDirectory == true { return path + "/" }
        return access(path, X_OK) == 0 ? path : nil
    }
    // A shell puts a space behind the only candidate, and a directory is not yet the program.
    if let only = found.first, found.count == 1, only.hasSuffix("/"), only != prefix {
        return executables(only)
    }
    return found.map { Candidate(word: $0) }
}

extension CommandLineWords {
    /// The program that the line names, which is the first argument of a command and the second of `preset`; the
    /// first if there are several.
    fileprivate var program: (any Program)? {
        let name = arguments.dropFirst(arguments.first == "preset" ? 2 : 1).first
        // A warning would stand in the line that is being typed.
        return name.flatMap { try? ProgramSearch(.short, warn: { _ in }).programs(named: $0).first }
    }
}

/// A word that a shell may offer.
struct Candidate {
    let word: String
    /// What it is, which not every shell shows.
    var details = ""

    /// As the completion script of the shell that asks takes it; `nil` if it would not arrive as it is.
    var line: String? {
        // The scripts split at newlines, and the rest of what a terminal obeys is not offered either.
        guard printable(word) == word else { return nil }
        return switch CompletionShell.requesting {
        // Its compgen expands what it is given, commands too.
        case .bash: word.shellQuoted
        case .zsh:
            word.replacing("\\", with: "\\\\").replacing(":", with: "\\:")
                + (details.isEmpty ? "" : ":" + printable(details))
        case .fish: word + (details.isEmpty ? "" : "\t" + printable(details))
        default: word
        }
    }
}
