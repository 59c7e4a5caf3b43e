import ArgumentParser
import CommandSupport

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
