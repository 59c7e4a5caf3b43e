// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `Emphasis on a terminal` {
    private let program: SetterProgram

    init() throws {
        program = try SetterProgram()
        #expect(try program.tweak("set", "Count", "6").succeeded)
    }

    /// The lines that the command prints on a terminal, about the program or what else is named.
    private func lines(
        _ command: String, _ arguments: [String], of named: String = SetterProgram.path,
        environment: [String: String] = [:]
    ) throws -> [Substring] {
        let words = [Locations.product("tweak"), command, named] + arguments
        let result = try run(
            Locations.program("script"),
            ["-qec", words.map { "'\($0)'" }.joined(separator: " "), "/dev/null"], home: program.home,
            environment: ["TERM": "xterm", "NO_COLOR": "", "PAGER": "cat"].merging(environment) { $1 })
        #expect(result.succeeded)
        return result.output.split(whereSeparator: \.isNewline)
    }

    /// Those of them that are bold.
    private func bold(_ command: String, _ arguments: String..., environment: [String: String] = [:]) throws
        -> [Substring]
    {
        try lines(command, arguments, environment: environment).compactMap { line in
            guard line.hasPrefix("\u{1B}[1m"), line.hasSuffix("\u{1B}[m") else {
                // Headings are underlined.
                #expect(!line.contains("\u{1B}") || line.hasPrefix("  \u{1B}[4m"))
                return nil
            }
            return line.dropFirst(4).dropLast(3)
        }
    }

    @Test func `list emphasizes the tweaks that do not have their defaults`() throws {
        let lines = try bold("list")
        #expect(
            lines.map { $0.split(separator: " ") } == [["Count", "6", "5", "int32", "0…1000000", "override"]])
    }

    @Test func `list has a pager show it`() throws {
        let shown = try lines("list", [], environment: ["PAGER": "sed s/^/paged:/"])
        // What is said beside the list does not go through the pager.
        #expect(
            shown.count > 10 && shown.allSatisfy { $0.hasPrefix("paged:") || $0.contains("is not running") })
        #expect(shown.contains { $0.hasPrefix("paged:  \u{1B}[4mSetter / Values\u{1B}[m") })
        let unpaged = try lines("list", [], environment: ["PAGER": ""])
        #expect(unpaged.count == shown.count && !unpaged.contains { $0.hasPrefix("paged:") })
    }

    @Test func `less takes what it shows for UTF-8 in every locale`() throws {
        let charset = "printf 'charset:%s\\n' $LESSCHARSET; cat"
        let shown = try lines("list", [], environment: ["PAGER": charset, "LC_ALL": "C"])
        #expect(shown.contains("charset:utf-8"))
    }

    @Test(arguments: ["false", "true", "/nonexistent/pager", "kill -9 $$", "head -c 5 >/dev/null; exit 3"])
    func `list shows everything if the pager fails or reads nothing`(pager: String) throws {
        let unpaged = try lines("list", [], environment: ["PAGER": ""])
        let shown = try lines("list", [], environment: ["PAGER": pager])
        // The shell may say why.
        #expect(unpaged.count > 10 && shown.filter { !$0.contains("/nonexistent/pager") } == unpaged)
    }

    @Test func `explain emphasizes what decides`() throws {
        // In a narrower terminal, the file's path is in a second line.
        let lines = try bold("explain", "Count", environment: ["COLUMNS": "300"])
        #expect(lines.map { $0.split(separator: " ").prefix(2) } == [["override", "6"]])
    }

    @Test(arguments: [["NO_COLOR": "1"], ["TERM": "dumb"]])
    func `Nothing does if the user does not want it, or the terminal cannot`(environment: [String: String])
        throws
    {
        #expect(try bold("list", environment: environment).isEmpty)
    }

    private let longText = "a text that is longer than the others in this list"

    @Test(arguments: [40, 60]) func `A table fits the terminal`(columns: Int) throws {
        #expect(try program.tweak("set", "Text", longText).succeeded)
        let shown = try lines("list", [], environment: ["COLUMNS": "\(columns)", "NO_COLOR": "1"])
            .filter { !$0.contains("is not running") }
        #expect(shown.count > 15 && shown.allSatisfy { $0.count <= columns }, "\(shown)")
    }

    @Test func `A table in a pipe has one line for each row`() throws {
        #expect(try program.tweak("set", "Text", longText).succeeded)
        let list = try run(
            Locations.product("tweak"), ["list", SetterProgram.path], home: program.home,
            environment: ["COLUMNS": "40"])
        #expect(list.output.contains("    Text    \"\(longText)\"  "))
    }

    @Test func `A program that does not run says so there`() throws {
        let note = "is not running; using the values for its next start"
        #expect(try lines("get", ["Count"]).first?.hasSuffix(note) == true)
        let setter = try RunningSetter(program)
        #expect(try lines("get", ["Count"], of: "\(setter.pid)") == ["6"])
    }

    @Test func `Elsewhere nothing does`() throws {
        #expect(try !program.tweak("list").output.contains("\u{1B}"))
    }
}

@Suite struct `Signs in the encoding of the locale` {
    private let setter: RunningSetter

    init() throws { setter = try RunningSetter() }

    private func output(_ command: String, _ arguments: String..., locale: [String: String]) throws -> String
    {
        let result = try setter.program.command([command, "\(setter.pid)"] + arguments, environment: locale)
        #expect(result.succeeded && result.error.isEmpty, "\(result)")
        return result.output
    }

    @Test(arguments: ["C", "POSIX", "en_US", "de_DE.ISO-8859-15@euro"])
    func `are ASCII if that is not UTF-8`(name: String) throws {
        let locale = ["LC_ALL": name]
        #expect(try output("set", "Count", "6", locale: locale) == "Setter/Values/Count: 5 -> 6\n")
        #expect(try output("list", locale: locale).contains(" 0...1000000 "))
        #expect(try output("undo", locale: locale) == "Setter/Values/Count: 6 -> 5\n")
        let shown = try ["list", "log"].map { try output($0, locale: locale) }
        let dump = try run(
            Locations.product("tweak-dump"), [SetterProgram.path], home: setter.home, environment: locale)
        #expect(dump.output.contains(" 0...1000000 "))
        for text in shown + [dump.output] { #expect(text.utf8.allSatisfy { $0 < 0x80 }, "\(text)") }
    }

    @Test(arguments: [
        ["LC_ALL": "C.UTF-8"], ["LC_ALL": "", "LC_CTYPE": "en_US.utf8", "LANG": "C"],
        ["LC_ALL": "", "LC_CTYPE": "", "LANG": "de_DE.UTF-8@euro"],
        ["LC_ALL": "", "LC_CTYPE": "", "LANG": ""],
    ])
    func `are Unicode if that is UTF-8, or if there is no locale`(locale: [String: String]) throws {
        #expect(try output("set", "Count", "6", locale: locale) == "Setter/Values/Count: 5 → 6\n")
        #expect(try output("list", locale: locale).contains(" 0…1000000 "))
    }

    @Test func `change no text of the program, and no Markdown`() throws {
        let locale = ["LC_ALL": "C"]
        #expect(
            try output("set", "Text", "a→b", locale: locale) == "Setter/Values/Text: \"hello\" -> \"a→b\"\n")
        let table = try run(
            Locations.product("tweak-dump"), ["--format", "markdown", SetterProgram.path], home: setter.home,
            environment: locale)
        #expect(table.output.contains(" | 0…1000000 | "), "\(table)")
    }
}
