// SPDX-License-Identifier: BSD-3-Clause
#if canImport(ArgumentParser)
internal import ArgumentParser
#else
#error("commands need the trait Commands, which is a default: .package(…, traits: [.defaults, …])")
#endif
internal import CommandSupport
internal import TweakSystem

/// A word that a shell may offer.
package struct Candidate: Sendable {
    package let word: String
    /// A description, which not every shell shows.
    package let details: String

    package init(_ word: String, details: String = "") { (self.word, self.details) = (word, details) }

    /// The candidate as the completion script of the calling shell expects it; `nil` if the shell would alter it.
    ///
    /// - Parameter typed: The beginning of the word.
    package func line(_ typed: TypedWord) -> String? {
        // The scripts split at newlines, and other control characters are not offered either.
        guard printable(word) == word else { return nil }
        return switch completingShell {
        case .bash: typed.completed(to: word)
        case .zsh:
            word.replacing("\\", with: "\\\\").replacing(":", with: "\\:")
                + (details.isEmpty ? "" : ":" + printable(details))
        // fish leaves a tilde unquoted, so it would become a home directory.
        case .fish where word.hasPrefix("~"): nil
        case .fish: word + (details.isEmpty ? "" : "\t" + printable(details))
        default: word
        }
    }
}

/// The shell whose completion script is running.
var completingShell: CompletionShell? { environment("SAP_SHELL").flatMap { CompletionShell(rawValue: $0) } }
