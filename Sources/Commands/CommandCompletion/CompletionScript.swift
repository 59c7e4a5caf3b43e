package import ArgumentParser
internal import CommandSupport

extension ParsableCommand {
    /// Answers the completion script of bash where that asks for files.
    ///
    /// - Parameter arguments: Those of the command.
    /// - Returns: Whether it did.
    package static func completesFiles(_ arguments: [String]) -> Bool {
        guard arguments.first == "---files", let typed = arguments.dropFirst().last else { return false }
        for line in completeFiles(Array(arguments.dropFirst().dropLast()), TypedWord(typed)) { print(line) }
        return true
    }

    /// Maps an error of the command to an exit status and a message. On success the message is help or a completion script.
    package static func ending(_ error: any Error) -> (status: Int32, message: String) {
        (exitCode(for: error).rawValue, safeScript(fullMessage(for: error, columns: nil)))
    }

    /// The message; a completion script in a form in which shells expand nothing of what is offered.
    private static func safeScript(_ message: String) -> String {
        // In these options the generated function has zsh complete words, and leave exclamation marks as they are, which
        // are commands of before when the line is entered.
        if message.hasPrefix("#compdef ") {
            let script = message.replacing("unsetopt aliases banghist", with: "unsetopt aliases")
            // Without commands of its own it would have its arguments twice, which zsh refuses.
            return configuration.subcommands.isEmpty
                ? script.replacing("        '(-): :->command'\n        '(-)*:: :->arg'\n", with: "") : script
        }
        guard message.hasPrefix("#!/bin/bash\n") else { return message }
        let name = _commandName
        return message + """

            # What follows takes the place of functions above. Those hand what is offered to compgen and to -o filenames, and both
            # expand it, commands too.

            # Sets typed to the word as far as the cursor.
            __\(name)_find_typed() {
                local -r line="${COMP_LINE::COMP_POINT}"
                typed="${COMP_WORDS[COMP_CWORD]}"
                while [[ -n "${typed}" && "${line}" != *"${typed}" ]]; do typed="${typed%?}"; done
            }

            __\(name)_custom_complete() {
                local typed
                __\(name)_find_typed
                "${COMP_WORDS[0]}" "${@}" "${COMP_WORDS[@]::COMP_CWORD}" "${typed}"
            }

            # The command quotes what is missing of the word. An open quotation mark is not part of what bash replaces.
            __\(name)_add_completions() {
                local typed offered
                __\(name)_find_typed
                if [[ "${1}" = -W ]]; then
                    offered="${2}"
                else
                    offered="$("${COMP_WORDS[0]}" ---files "${@}" "${typed}")"
                fi
                while IFS='' read -r offered; do
                    offered="${offered#"${typed%"${cur}"}"}"
                    if [[ -n "${offered}" && "${offered}" = "${cur}"* ]]; then COMPREPLY+=("${offered}"); fi
                done <<<"${offered}"
                # Of a directory something may follow.
                if [[ "${#COMPREPLY[@]}" -eq 1 && "${COMPREPLY[0]}" = */ ]]; then compopt -o nospace; fi
            }

            complete -F _\(name) \(name)
            """
    }
}
