// SPDX-License-Identifier: BSD-3-Clause
internal import ArgumentParser

/// The script with which a shell completes the command line of a command: it asks the command for candidates, and
/// expands nothing in the answer.
func shellScript(completing name: String, for shell: CompletionShell) -> String {
    switch shell {
    case .bash:
        """
        #!/bin/bash

        _\(name)() {
            # The word up to the cursor.
            local typed="${COMP_WORDS[COMP_CWORD]}" offered
            while [[ -n "${typed}" && "${COMP_LINE::COMP_POINT}" != *"${typed}" ]]; do typed="${typed%?}"; done
            offered="$(SAP_SHELL=bash "${COMP_WORDS[0]}" ---complete "${COMP_WORDS[@]:1:COMP_CWORD-1}" "${typed}" 2>/dev/null)"
            # The command quotes the rest of the word. Bash does not replace an open quotation mark.
            while IFS='' read -r offered; do
                offered="${offered#"${typed%"${2}"}"}"
                if [[ -n "${offered}" && "${offered}" = "${2}"* ]]; then COMPREPLY+=("${offered}"); fi
            done <<<"${offered}"
            # A path may continue after a directory.
            if [[ "${#COMPREPLY[@]}" -eq 1 && "${COMPREPLY[0]}" = */ ]]; then compopt -o nospace; fi
        }

        complete -F _\(name) \(name)
        """
    case .zsh:
        """
        #compdef \(name)

        _\(name)() {
            emulate -RL zsh -G
            setopt extendedglob
            unsetopt aliases

            local -a offered
            offered=("${(@f)"$(SAP_SHELL=zsh "${words[1]}" ---complete "${(@)words[2,CURRENT]}" 2>/dev/null)"}")
            local -a named=("${(@)offered:#(|:*|---*)}") nameless=("${(@M)offered:#:*}") files=("${(@M)offered:#---*}")
            local -i ret=1
            case "${files[1]}" in
            ---directories) _files -/ && ret=0 ;;
            ---files) _files && ret=0 ;;
            ---files\\ *) _files -g "${files[1]#---files }" && ret=0 ;;
            esac
            if (( ${#named} + ${#nameless} )); then
                _describe -V '' named -- nameless -P $'\\'\\'' && ret=0
            fi
            return "${ret}"
        }

        if [[ "${funcstack[1]}" = _\(name) ]]; then
            _\(name) "${@}"
        else
            compdef _\(name) \(name)
        fi
        """
    default:
        """
        function __\(name)_offered
            set -lx SAP_SHELL fish
            set -l words
            if test (string split -m 1 -f 1 -- . "$FISH_VERSION") -gt 3
                set words (commandline --tokens-raw -pc)
            else
                set words (commandline -opc)
            end
            command $words[1] ---complete $words[2..] "$(commandline -tc)" 2>/dev/null
        end

        complete -c '\(name)' -fka '(__\(name)_offered | string match -v -- "---*")'
        complete -c '\(name)' -n 'contains -- ---files (__\(name)_offered)' -F
        """
    }
}
