// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandSupport
import Glibc
import TweakClient
import TweakJSON
import TweakProtocol
import TweakRecords
import TweakSystem

struct LogCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "log", abstract: "Show the last changes of a program's tweaks, and who made them.",
        discussion: """
            Changes with the same number were made together. TIME includes the date unless it is today. BY is a client, \
            shown as executable, process and user, after the name of the person if the client gives one, as the page does; \
            or it is "program", "file" if the overrides file was edited, or the name of a provider. The program keeps its \
            latest changes in 64 KB of memory, or as many bytes as its environment variable TWEAKS_HISTORY says; 0 turns \
            the history off.

            For example:

              tweak log motor --last 5
              tweak log motor --follow
            """)

    @Option(help: "The output format.")
    var format: WatchFormat = .table

    @Option(help: "Only show changes after this number.")
    var since: Int = 0

    @Option(help: "Only show this many of the latest changes; those made together count as one.")
    var last: Int?

    @Flag(
        help: "Wait for further changes until the program ends. JSON is then one object per line.")
    var follow = false

    @OptionGroup var target: ProgramOptions

    func validate() throws {
        guard since >= 0, last ?? 0 >= 0 else {
            throw ValidationError("--since and --last must be at least 0.")
        }
        guard !(follow && target.allProcesses) else {
            throw ValidationError("Only one process can be followed; give its process id.")
        }
    }

    func run() throws {
        try target.forEachRunning(format == .table ? .table : .json) { program throws(Failure) in
            if follow { _ = try program.ask(SubscribeToChanges()) }
            var history = try program.askHistory(ListHistory(since: since))
            let start = last.flatMap { history.cut(toLast: $0) } ?? since
            var rows = HistoryRows(try program.tweaks())
            if format == .table, let first = history.first, first > start, first - start > 1 {
                printMessage("some changes before number \(first) are no longer kept")
            }
            switch format {
            case .json where !follow:
                try target.show(history, of: program, as: .json) { "" }
            case .json:
                try printLines(history.changes)
            case .csv:
                print(HistoryRows.csvHeader)
                for change in history.changes { print(HistoryRows.csvLine(change)) }
            case .table:
                let lines = rows.lines(history.changes, history.marks)
                for line in lines.isEmpty && !follow ? ["no changes"] : lines { print(line) }
            }
            if follow { try follow(program, &rows, after: history.last) }
        }
    }

    private func follow(
        _ program: LiveProgram, _ rows: inout HistoryRows, after number: Int
    ) throws(Failure) {
        var last = number
        while true {
            fflush(nil)
            guard try program.waitForChanges() else { return }
            let history = try program.askHistory(ListHistory(since: last))
            last = history.last
            switch format {
            case .table: for line in rows.lines(history.changes) { print(line) }
            case .csv: for change in history.changes { print(HistoryRows.csvLine(change)) }
            case .json: try printLines(history.changes)
            }
        }
    }

    private func printLines(_ changes: [ListHistory.Change]) throws(Failure) {
        do { for change in changes { try printJSONLine(change) } } catch { throw Failure(error) }
    }
}

extension ListHistory.Answer {
    /// Removes all but the last changes, and the marks before them. Changes made together count as one.
    ///
    /// - Returns: The number of the last change that was removed, or `nil`.
    fileprivate mutating func cut(toLast count: Int) -> Int? {
        guard let number = Set(changes.map(\.number)).sorted().dropLast(count).last else { return nil }
        changes.removeAll { $0.number <= number }
        marks.removeAll { $0.number < number }
        return number
    }
}

extension LiveProgram {
    /// Asks for something about the history, which programs with an older library do not have.
    func askHistory<Method: ControlMethod>(_ method: Method) throws(Failure) -> Method.Answer {
        do throws(ConnectionError) {
            let answer = try connection.ask(method)
            passOnWarnings()
            return answer
        } catch .answer(let error) where error.code == .unknownMethod {
            throw Failure(
                "its Tweaks library is too old to keep a history", about: title, .unavailable)
        } catch {
            throw error.failure(of: title)
        }
    }

    /// Waits until the program reports changes to a subscriber.
    ///
    /// - Returns: `false` if the program has ended.
    func waitForChanges() throws(Failure) -> Bool {
        do throws(ConnectionError) {
            var isNew = false
            while true {
                while let message = try connection.nextMessage() {
                    if case .changed = message { isNew = true }
                }
                if isNew { return true }
                var entry = pollfd(fd: connection.descriptor, events: Int16(POLLIN), revents: 0)
                if poll(&entry, 1, -1) < 0, errno == EINTR { continue }
                do throws(ConnectionError) { try connection.receive() } catch .closed { return false }
            }
        } catch {
            throw error.failure(of: title)
        }
    }
}

/// The rows of a table of changes, and lines of comma-separated values.
private struct HistoryRows {
    private static let header = ["NUMBER", "TIME", "TWEAK", "OLD", "NEW", "FROM", "BY", "NOTE"]
    static let csvHeader = "number,time,tweak,oldValue,newValue,source,by,undoes,person"

    private let declarations: [TweakKey: TweakDeclaration]
    private var columns = TextColumns(header: header)
    /// The header as it was printed last.
    private var header = ""

    init(_ tweaks: [JSONTweak]) {
        declarations = Dictionary(tweaks.map { ($0.declaration.key, $0.declaration) }) { first, _ in first }
    }

    /// Lines of the table, with the marks between the changes; empty without any. They begin with a header, unless the
    /// last one has the same columns.
    mutating func lines(_ changes: [ListHistory.Change], _ marks: [ListHistory.Mark] = []) -> [String] {
        var marks = marks[...]
        var rows: [[String]] = []
        for change in changes {
            while let mark = marks.first, mark.number < change.number {
                rows.append(row(mark))
                marks.removeFirst()
            }
            rows.append(row(change))
        }
        rows += marks.map(row)
        guard !rows.isEmpty else { return [] }
        for row in rows { columns.measure(row) }
        let layout = columns.layout
        // Later rows can need wider columns, or more of them.
        let hasMoved = layout.header != header
        header = layout.header
        return (hasMoved ? [header] : []) + rows.map(layout.text)
    }

    private func row(_ mark: ListHistory.Mark) -> [String] {
        ["", localMoment(mark.time), "mark \(mark.name)", "", "", "", who(mark.by, for: mark.person), ""]
    }

    private func row(_ change: ListHistory.Change) -> [String] {
        let notes = [
            change.undoes.map { "undoes \($0)" }, change.isPending == true ? "waits" : nil,
            change.isOfLease == true
                ? (change.source == "\(TweakSource.lease)" ? "for a time" : "end of a lease") : nil,
            change.isShortened == true ? "shortened" : nil,
        ].compactMap(\.self)
        return [
            "\(change.number)", localMoment(change.time), "\(change.tweak)",
            text(change.oldValue, change.tweak),
            text(change.newValue, change.tweak), change.source, who(change.by, for: change.person),
            notes.joined(separator: ", "),
        ]
    }

    private func who(_ client: String, for person: String?) -> String {
        person.map { "\($0) (\(client))" } ?? client
    }

    private func text(_ value: JSONValue, _ key: TweakKey) -> String {
        value == .null ? "nothing" : declarations[key]?.text(of: value) ?? value.summary
    }

    static func csvLine(_ change: ListHistory.Change) -> String {
        func text(_ value: JSONValue) -> String { value.tweakValue?.description ?? "" }
        let fields = [
            "\(change.number)", fixed(change.time), "\(change.tweak)", text(change.oldValue),
            text(change.newValue), change.source, change.by, change.undoes.map { "\($0)" } ?? "",
            change.person ?? "",
        ]
        return fields.map(\.csvField).joined(separator: ",")
    }

    /// With microseconds, as samples have it.
    private static func fixed(_ seconds: Double) -> String {
        let whole = Int64(exactly: (seconds * 1_000_000).rounded()) ?? 0
        return "\(whole / 1_000_000)." + Int(abs(whole % 1_000_000)).digits(6)
    }
}
