// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandSupport

struct EnvironmentCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "environment",
        abstract: "Explain the environment variables that programs with tweaks read.",
        discussion: """
            The library reads them when a program starts, but ignores them in a program with more rights than its user. \
            For the variables of the agent see tweak-agent(1).

            \(table(width: 76).split(separator: "\n").map { "  " + $0 }.joined(separator: "\n"))
            """)

    func run() { print(Self.table()) }

    private static let variables = [
        ("TWEAK_CATEGORY__COLLECTION__NAME", "the value of a tweak: in capitals, _ for other characters"),
        ("TWEAKS", "values of many tweaks, as JSON like that of overrides.json"),
        ("TWEAKS_APPLICATION", "the name under which values are kept"),
        ("TWEAKS_CONTROL", "0: accept no connections; commands then change only the overrides file"),
        ("TWEAKS_WATCH", "0: do not follow the overrides file and other files"),
        ("TWEAKS_HISTORY", "the size of the history in bytes, by default 65536; 0: no history"),
        ("TWEAKS_PROVIDED", "the folders with agents' values, separated by colons"),
        ("TWEAKS_TESTING", "1: start with defaults and keep nothing, as in tests; 0: not even in tests"),
        ("LD_PRELOAD", "loads the library into a program that is not linked with it, as tweak exec does"),
        ("XDG_CONFIG_HOME", "where values are kept, by default ~/.config"),
        ("XDG_STATE_HOME", "where an agent of the user writes, by default ~/.local/state"),
        ("XDG_RUNTIME_DIR", "where the sockets are, by default /run/user and the number of the user"),
    ]

    private static func table(width: Int? = terminalWidth) -> String {
        TextTable(header: ["VARIABLE", "MEANING"], rows: variables.map { [$0, $1] }, width: width).text
    }
}
