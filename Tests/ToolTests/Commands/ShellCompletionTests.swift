// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// Interactive shells complete what somebody else has named, and run the line. Nothing that is in a name may happen.
@Suite struct `Shells take names as they are` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    /// What each name has at its end.
    private static let hostile: [[UInt8]] = {
        let texts = [
            "t${zza:=`touch PWNED0`}", "two words", "${PROMPT_COMMAND:=touch PWNED1}", "a!!b",
            "$(touch PWNED2)",
            "a;touch PWNED3", "größe 長い", "a'b\"c\\", "~", "-x", "a\nb", "a:b=c@d",
            "`touch PWNED4`", "a|touch PWNED5", "a&touch PWNED6", "a>PWNED7", "<(touch PWNED8)",
            "(touch PWNED9)",
            "$((zzb=1))", "${zzc=1}", "plain", "!touch", "!$", "^a^b", "\\", "'", "\"", "$'a'", "$zzd",
            "~root", "*",
            "?", "[a-z]*", "{a,b}", "--format", "--all", "#x", "=ls", "a\tb", "a\u{1B}[2Jb", "a\u{202E}b",
            " a  b ",
            "a\\", "$", "`", "&&", "||", ";;", ">>PWNED10", "a\u{301}",
        ].map { Array($0.utf8) }
        var all = texts + [Array("a".utf8) + [0xFF, 0xC3], [0x80, 0x81]]
        guard isLong else { return Array(all.prefix(8)) + all.suffix(1) }
        var generator = SeededGenerator(seed: 28)
        while all.count < 200 {
            all.append(
                (0..<Int.random(in: 2...4, using: &generator)).flatMap { _ in
                    texts[Int.random(in: 0..<texts.count, using: &generator)]
                })
        }
        return all
    }()

    /// A line that is entered after a tab at its end, and the word that it should have there.
    private struct Line {
        let command: String
        let typed: String
        let word: [UInt8]
        /// Whether the shell must offer the word.
        let isOffered: Bool
    }

    private func makeNames(for shell: String) throws -> [Line] {
        var source = "#include <fbtweak.h>\nint main(void) {\n  int sum = 0;\n"
        var lines: [Line] = []
        for (index, name) in Self.hostile.enumerated() {
            // Letters that no name has, as many each time: fish also offers what has the typed characters in their order.
            let digits = Array("BFGHIJKLQS")
            let number = String("\(1000 + index)".compactMap(\.wholeNumberValue).map { digits[$0] })
            let isText = String(validating: name, as: UTF8.self) != nil
            let isPrintable =
                isText
                && !String(decoding: name, as: UTF8.self).unicodeScalars.contains {
                    $0.value < 0x20 || $0 == "\u{202E}"
                }
            func add(_ command: String, _ typed: String, _ word: [UInt8], isOffered: Bool = isPrintable) {
                lines.append(Line(command: command, typed: typed, word: word, isOffered: isOffered))
            }
            func file(_ path: String, _ suffix: String = "", mode: mode_t = 0o600) throws {
                let path = Array(home(path).utf8) + name + Array(suffix.utf8) + [0]
                let descriptor = open(path.map { CChar(bitPattern: $0) }, O_CREAT, mode)
                try #require(descriptor >= 0)
                close(descriptor)
            }
            let literal = name.map { "\\" + ("00" + String($0, radix: 8)).suffix(3) }.joined()
            source += "  sum += FBTweakValue(\"N\(number)x\", \"C\", \"\(literal)\", 1);\n"
            source += "  sum += FBTweakValue(\"V\(number)x\", \"C\", \"n\", \"\(literal)\")[0];\n"
            add("tweak get ./program", "N\(number)x/", Array("N\(number)x/C/".utf8) + name)
            for mark in shell == "bash" && index < 4 ? ["'", "\""] : [] {
                add("tweak get ./program", "\(mark)N\(number)x/", Array("N\(number)x/C/".utf8) + name)
            }
            // A value is all of the word. A hyphen begins an option, and fish takes a tilde for a home directory.
            add(
                "tweak set ./program V\(number)x/C/n", "", name,
                isOffered: isPrintable && name.first != UInt8(ascii: "-")
                    && (name.first != UInt8(ascii: "~") || shell != "fish"))
            try file("config/tweaks/program/presets/p\(number)x", ".json")
            add("tweak preset load ./program", "p\(number)x", Array("p\(number)x".utf8) + name)
            try file("d/f\(number)x", mode: 0o700)
            for command in ["tweak-dump", "tweak get", "tweak-agent follow --configuration"] {
                add(command, "d/f\(number)x", Array("d/f\(number)x".utf8) + name)
            }
        }
        try Compiler.gcc.compile(
            [home.write("program.c", source + "  return sum;\n}\n")], to: home("program"), ["-DDEBUG"],
            home: home)
        return lines
    }

    /// Puts commands into a folder that answer what completion scripts ask, and otherwise write down how they were started.
    private func makeCommands(for shell: String) throws {
        var setup =
            shell == "fish" ? "set PATH \(home("bin")) $PATH\n" : "PATH=\(home("bin")):$PATH\nHISTFILE=\n"
        // It would ask before it lists more than a hundred.
        if shell == "bash" { setup += "bind 'set completion-query-items 0' 'set page-completions off'\n" }
        if shell == "zsh" { setup += "autoload -U compinit\ncompinit -u -D\n" }
        for command in ["tweak", "tweak-dump", "tweak-agent"] {
            let product = Locations.product(command)
            try home.write(
                "bin/\(command)",
                """
                #!/bin/sh
                case $1 in ---*) exec \(product) "$@" ;; esac
                { for argument in "$@"; do printf %s "$argument" | od -An -v -tx1 | tr -d ' \\n'; printf ' '; done; echo; } \
                >>\(home("log"))
                """)
            chmod(home("bin/\(command)"), 0o755)
            let script = try run(product, ["--generate-completion-script", shell], home: home)
            try #require(script.succeeded)
            setup += "source \(try home.write("\(command).script", script.output))\n"
        }
        try home.write("setup", setup)
    }

    @Test(arguments: ["bash", "zsh", "fish"])
    func `and run nothing that is in them`(shell: String) throws {
        for folder in ["config/tweaks/program/presets", "d"] {
            try FileManager.default.createDirectory(atPath: home(folder), withIntermediateDirectories: true)
        }
        let lines = try makeNames(for: shell)
        try makeCommands(for: shell)
        var entered = lines.map { "\($0.command) \($0.typed)\t" }
        // Several are listed. The second tab of fish would select one.
        if shell != "fish" { entered += ["tweak get ./program N\t\t", "tweak-dump d/fF\t\t"] }
        let variables = "set | grep -ac '^zz'"
        entered.append("tweak " + (shell == "fish" ? "(\(variables))" : "\"$(\(variables))\""))
        let typist = try run(
            Locations.program("python3"),
            [
                home.write("typist.py", Self.typist), Locations.program(shell), home.path,
                entered.joined(separator: "\n"),
            ],
            home: home, environment: ["TERM": "xterm", "LC_ALL": "C.UTF-8", "PS1": "> "])
        #expect(typist.succeeded, "\(typist.error)")

        let log = try String(contentsOfFile: home("log"), encoding: .utf8).split(separator: "\n")
            .map { $0.split(separator: " ").last.map(Self.bytes) ?? [] }
        #expect(log.last == Array("0".utf8))
        #expect(log.count == 1 + entered.count)
        for (line, last) in zip(lines, log.dropFirst()) {
            let shown =
                "\(line.command) \(line.typed): \(String(decoding: last, as: UTF8.self).debugDescription)"
            if line.isOffered {
                #expect(last == line.word, "\(shown)")
            } else {
                // Part of it at most, or what stands before a word of which nothing was typed.
                #expect(
                    line.word.starts(with: last)
                        || Array(line.command.utf8).reversed().starts(with: last.reversed()),
                    "\(shown)")
            }
        }
        let left = ["", "d"].flatMap {
            (try? FileManager.default.contentsOfDirectory(atPath: home($0))) ?? []
        }
        #expect(left.filter { $0.hasPrefix("PWNED") }.isEmpty)
    }

    private static func bytes(_ digits: Substring) -> [UInt8] {
        let digits = Array(digits)
        return stride(from: 0, to: digits.count - 1, by: 2).compactMap {
            UInt8(String(digits[$0...($0 + 1)]), radix: 16)
        }
    }

    /// Types lines into an interactive shell, each when the one before has been run.
    private static let typist = """
        import fcntl, os, pty, select, struct, sys, termios, time

        shell, folder, lines = sys.argv[1:]
        name = os.path.basename(shell)
        options = {"bash": ["--norc", "--noprofile", "-i"], "zsh": ["-f", "-i"], "fish": ["--no-config", "-i"]}[name]
        process, terminal = pty.fork()
        if process == 0:
            os.chdir(folder)
            os.execv(shell, [shell] + options)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 2000, 0, 0))
        log = os.path.join(folder, "log")

        def entered():
            try:
                with open(log) as file:
                    return file.read().count("\\n")
            except FileNotFoundError:
                return 0

        for number, line in enumerate(["source ./setup; tweak ready"] + lines.split("\\n")):
            os.write(terminal, line.encode() + b"\\r")
            end, shown = time.monotonic() + 60, b""
            while entered() <= number:
                if time.monotonic() > end:
                    os.kill(process, 9)
                    sys.exit(f"{line!r} was not run: {shown[-2000:]!r}")
                if select.select([terminal], [], [], 0.005)[0]:
                    shown += os.read(terminal, 1 << 16)
        os.kill(process, 9)
        os.waitpid(process, 0)
        """
}
