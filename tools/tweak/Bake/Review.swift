// SPDX-License-Identifier: BSD-3-Clause
import CTweakSystem
import CommandSupport
import Glibc
import TweakClient
import TweakProtocol
import TweakRecords
import TweakSources

/// Asks about each tweak on the terminal, with the keys of `cargo insta review`.
struct Review {
    private enum Answer: String, CaseIterable {
        case accepted, rejected, skipped
    }

    private let tweaks: [TweakKey: JSONTweak]
    private let working: String

    init(_ program: any Program, working: String) throws(Failure) {
        tweaks = Dictionary(try program.tweaks().map { ($0.declaration.key, $0) }) { first, _ in first }
        self.working = working
    }

    /// Leaves only the accepted changes.
    func run(_ baking: inout SourceBaking) throws(Failure) {
        var keys: [TweakKey] = []
        for change in baking.changes where !keys.contains(change.tweak) { keys.append(change.tweak) }
        var answers: [TweakKey: Answer] = [:]
        var answerToAll: Answer?
        for (index, key) in keys.enumerated() {
            if let answerToAll {
                answers[key] = answerToAll
                continue
            }
            let (answer, isForAll) = try ask(key, "\(index + 1) of \(keys.count)", baking)
            answers[key] = answer
            if isForAll { answerToAll = answer }
        }
        baking.keep { answers[$0] == .accepted }
        for answer in Answer.allCases {
            let names = keys.filter { answers[$0] == answer }
            if !names.isEmpty {
                print("\(answer.rawValue): " + printable(names.map(\.description).joined(separator: ", ")))
            }
        }
    }

    private func ask(_ key: TweakKey, _ place: String, _ baking: SourceBaking) throws(Failure) -> (
        Answer, forAll: Bool
    ) {
        let changes = baking.changes.filter { $0.tweak == key }
        print(emphasized(printable("\(place): \(key)")))
        showValues(changes)
        show(baking.difference(in: working, of: key))
        while true {
            print(
                "accept (a, Enter)  reject (r, Esc)  skip (s, Space)  details (i)  diff (d)  all: A, R, S  quit (q) ",
                terminator: "")
            fflush(nil)
            let key = readKey()
            print()
            switch key {
            case "a", "y", "\n", "\r": return (.accepted, false)
            case "r", "n", "\u{1B}": return (.rejected, false)
            case "s", " ": return (.skipped, false)
            case "A": return (.accepted, true)
            case "R": return (.rejected, true)
            case "S": return (.skipped, true)
            case "i": showDetails(changes)
            case "d": show(baking.difference(in: working, of: changes.first?.tweak))
            case "q", "\u{3}", "\u{4}", nil:
                throw Failure("the review was cancelled; nothing was written", .negative)
            default: continue
            }
        }
    }

    private func showValues(_ changes: [SourceChange]) {
        for change in changes {
            let declaration = tweaks[change.tweak]?.declaration
            func text(_ value: TweakValue) -> String { declaration?.text(of: value) ?? value.quoted }
            let values = "\(text(change.oldValue)) \(Signs.shown.arrow) \(text(change.newValue))"
            print(printable("  \(change.location(in: working)): \(values)"))
        }
    }

    private func showDetails(_ changes: [SourceChange]) {
        guard let tweak = changes.first.flatMap({ tweaks[$0.tweak] }) else { return }
        let declaration = tweak.declaration
        let rows = [
            ("type", declaration.typeName), ("allowed", declaration.allowed),
            ("description", declaration.description ?? ""), ("owner", declaration.owner ?? ""),
            ("value from", tweak.source ?? ""),
        ]
        for (name, text) in rows where !text.isEmpty { print(printable("  \(name): \(text)")) }
        for change in changes { print(printable("  \(change.path):\(change.line):\(change.column)")) }
    }

    private func show(_ difference: [UInt8]) {
        for line in difference.split(separator: UInt8(ascii: "\n")) {
            print("  " + printable(String(decoding: line, as: UTF8.self)))
        }
    }

    /// Reads one key without waiting for Enter; `nil` at the end of the input, and NUL if the command was stopped and goes
    /// on. Signals restore the terminal; Ctrl-C is a key, so that the end of the review is said.
    private func readKey() -> Character? {
        fbtweak__take_keys()
        defer { fbtweak__give_back_screen() }
        _ = fbtweak__screen_has_changed()
        var bytes = [UInt8](repeating: 0, count: 16)
        var count = 0
        repeat {
            count = read(STDIN_FILENO, &bytes, 1)
            if count < 0, errno == EINTR, fbtweak__screen_has_changed() { return "\0" }
        } while count < 0 && errno == EINTR
        guard count == 1 else { return nil }
        // An arrow key sends several bytes, the first of which is Esc.
        if bytes[0] == 0x1B {
            var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
            if poll(&entry, 1, 20) > 0 {
                _ = read(STDIN_FILENO, &bytes, bytes.count)
                return "?"
            }
        }
        return Character(Unicode.Scalar(bytes[0]))
    }
}
