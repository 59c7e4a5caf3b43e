// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// `tweak WORD` runs `tweak-WORD`, as git does.
@Suite struct `Commands implemented by other programs` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    /// Writes a program that prints its name and its arguments, and has an abstract.
    private func write(_ path: String) throws {
        try home.write(
            path,
            """
            #!/bin/sh
            case $1 in
              ---abstract) echo 'Do something else.' ;;
              ---complete) printf '%s\\n' "$#" "$@" ;;
              *) printf '<%s>\\n' "${0##*/}" "$@" ;;
            esac
            """)
        chmod(home(path), 0o755)
    }

    /// Runs a `tweak` that is installed in the folder.
    private func tweak(_ arguments: String..., path: String = "/usr/bin:/bin") throws -> CommandResult {
        if !FileManager.default.fileExists(atPath: home("bin/tweak")) {
            try? FileManager.default.createDirectory(atPath: home("bin"), withIntermediateDirectories: true)
            try FileManager.default.copyItem(atPath: Locations.product("tweak"), toPath: home("bin/tweak"))
        }
        return try run(home("bin/tweak"), arguments, home: home, environment: ["PATH": path])
    }

    @Test(arguments: ["bin", "libexec/tweaks"])
    func `are found beside it and in libexec`(folder: String) throws {
        try write("\(folder)/tweak-other")
        let result = try tweak("other", "--port", "5", "name with space", "--all")
        #expect(result.output == "<tweak-other>\n<--port>\n<5>\n<name with space>\n<--all>\n")
    }

    @Test func `are not found on the search path, and not in place of its own`() throws {
        try write("else/tweak-other")
        try write("libexec/tweaks/tweak-list")
        #expect(try tweak("other", path: home("else")).error.hasPrefix("Error: Unknown command 'other'."))
        #expect(try tweak("list").output.isEmpty)
        #expect(try tweak("../libexec/tweaks/tweak-list").status == 64)
    }

    @Test func `are in its help, give their own, and are meant by a typing error`() throws {
        try write("libexec/tweaks/tweak-other")
        #expect(
            try tweak("--help").output.contains(
                "\n  other                   Do something else.\n\n  See 'tweak help"))
        #expect(try tweak("help", "other", "part").output == "<tweak-other>\n<part>\n<--help>\n")
        #expect(
            try tweak("ohter").error.hasPrefix("Error: Unknown command 'ohter'; did you mean other?\n"))
    }

    @Test func `have abstracts in its help that fit 80 columns`() throws {
        try home.write(
            "libexec/tweaks/tweak-other",
            "#!/bin/sh\necho 'Do something else, of which there is more to say than one line has.'\n")
        chmod(home("libexec/tweaks/tweak-other"), 0o755)
        #expect(
            try tweak("--help").output.contains(
                """

                  other                   Do something else, of which there is more to say than
                                          one line has.

                  See 'tweak help
                """))
    }

    @Test func `are completed, and complete their own arguments`() throws {
        try write("libexec/tweaks/tweak-other")
        #expect(try tweak("---complete", "o").lines.contains("other"))
        #expect(try tweak("---complete", "other", "--x", "").output == "3\n---complete\n--x\n\n")
    }

    @Test(arguments: [
        ("ui", "--with-ui"), ("serve", "--with-ui"), ("fleet", "--with-agent"), ("sign", "--with-agent"),
        ("adopt", "--with-adopt"),
    ])
    func `say what installs them`(command: String, option: String) throws {
        let result = try tweak(command, "--help")
        #expect(result.status == 69)
        #expect(result.error.hasPrefix("tweak: tweak-\(command) is not installed; "))
        #expect(result.error.hasSuffix("; tools/install \(option) installs it\n"))
    }

    @Test(arguments: [
        ("ui", "--port", "[<program>]"), ("serve", "--no-token", "<program>"),
        ("fleet", "rollback", "<subcommand>"),
        ("sign", "--new-key", "[<files> ...]"),
    ])
    func `that are installed have help and completions`(command: String, word: String, usage: String) throws {
        let product = Locations.product("tweak")
        for arguments in [[command, "--help"], ["help", command]] {
            let help = try run(product, arguments, home: home)
            #expect(
                help.output.contains("USAGE: tweak \(command) ") && help.output.contains(usage),
                "\(help.output)")
        }
        #expect(try run(product, ["--help"], home: home).output.contains("\n  \(command)  "))
        let words = ["---complete", command, String(word.prefix(4))]
        #expect(try run(product, words, home: home).lines.contains(Substring(word)))
    }

    @Test(arguments: [
        (["fleet", "stauts"], "Unknown command 'stauts'; did you mean status?", "fleet"),
        (["help", "fleet", "stauts"], "Unknown command 'stauts'; did you mean status?", "fleet"),
        (
            ["fleet", "status", "--json"], "Unknown option '--json'; did you mean --format json?",
            "fleet status"
        ),
        (["ui", "--poort", "8080"], "Unknown option '--poort'; did you mean --port?", "ui"),
    ])
    func `that are installed correct mistyped words`(words: [String], error: String, command: String) throws {
        let result = try run(Locations.product("tweak"), words, home: home)
        #expect(result.error.hasPrefix("Error: \(error)\nUsage: tweak \(command) "), "\(result)")
        #expect(result.error.hasSuffix("\n  See 'tweak \(command) --help' for more information.\n"))
        #expect(result.status == 64)
    }
}
