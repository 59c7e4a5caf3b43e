// SPDX-License-Identifier: BSD-3-Clause
import CTweakSystem
import CommandSupport
import Glibc
import TweakPlot
import TweakSystem

/// Draws samples on the terminal as they arrive.
struct PlotScreen {
    private var plot: Plot
    /// The frozen picture while paused. The samples continue behind it.
    private var paused: Plot?
    private let title: String
    private let look = TerminalLook()
    private var dropped = 0
    /// Whether the picture differs from the screen.
    private var hasChanged = true
    private var isDone = false

    /// Fast enough to look like movement, slow enough for a remote terminal.
    private static let frameTime = 0.05

    /// - Parameter title: What is plotted, such as `spring (4711)`. May contain text of others.
    init(_ plot: Plot, title: String) { (self.plot, self.title) = (plot, title) }

    /// Draws until the samples end, the user quits, or the time is over. The last picture stays on the screen.
    mutating func run<Source: SampleSource>(
        _ source: inout Source, duration: Double? = nil
    ) throws(Source.Problem) {
        let clock = ContinuousClock()
        let start = clock.now
        func now() -> Double { (clock.now - start) / .seconds(1) }
        var due = 0.0
        fbtweak__take_screen()
        defer { fbtweak__give_back_screen() }
        while !isDone {
            let time = now()
            if time >= due {
                due = time + Self.frameTime
                // Without waiting for keys.
                readKeys(within: 0)
                draw()
            }
            guard !isDone else { break }
            if let duration, time >= duration { break }
            let wait = max(0, due - now())
            if let batch = try source.next(within: wait) {
                plot.append(batch)
                dropped += batch.dropped
                hasChanged = hasChanged || paused == nil
                isDone = batch.hasEnded
            } else {
                // A source that does not wait would keep a processor busy.
                readKeys(within: max(0, due - now()))
            }
        }
        fbtweak__give_back_screen()
        let (columns, rows) = Self.size
        for line in frame(columns, rows - 1) { print(line) }
    }

    // MARK: Pictures

    private static var size: (columns: Int, rows: Int) {
        var (columns, rows) = (CInt(0), CInt(0))
        fbtweak__screen_size(&columns, &rows)
        return (Int(columns), Int(rows))
    }

    private func frame(_ columns: Int, _ rows: Int) -> [String] {
        (paused ?? plot).frame(columns: columns, rows: rows, unicode: look.isUnicode, color: look.isColored)
    }

    private mutating func draw() {
        if fbtweak__screen_has_changed() { hasChanged = true }
        guard hasChanged else { return }
        hasChanged = false
        let (columns, rows) = Self.size
        let lines = frame(columns, rows - 1) + [look.dimmed(status(columns))]
        // Draws over the previous picture, and clears the rest of each line and of the screen.
        var text = "\u{1B}[H" + lines.map { $0 + "\u{1B}[K" }.joined(separator: "\r\n") + "\u{1B}[J"
        let isWritten = text.withUTF8 { bytes in
            var rest = UnsafeRawBufferPointer(bytes)[...]
            while !rest.isEmpty {
                let count = write(
                    STDOUT_FILENO, UnsafeRawBufferPointer(rebasing: rest).baseAddress, rest.count)
                if count < 0, errno == EINTR { continue }
                guard count > 0 else { return false }
                rest = rest.dropFirst(count)
            }
            return true
        }
        // The terminal is gone.
        if !isWritten { isDone = true }
    }

    private func status(_ columns: Int) -> String {
        let seconds = plot.window
        let window = seconds == seconds.rounded() ? "\(Int(seconds)) s" : "\(seconds) s"
        let parts = [
            title, window, dropped > 0 ? "\(dropped) samples dropped" : nil,
            paused == nil ? "space pauses" : "paused, space resumes", "+ and - zoom", "q quits",
        ]
        return String(printable(parts.compactMap { $0 }.joined(separator: "   ")).prefix(max(0, columns - 1)))
    }

    // MARK: Keys

    private mutating func readKeys(within seconds: Double) {
        var entry = pollfd(fd: STDIN_FILENO, events: Int16(POLLIN), revents: 0)
        guard look.hasKeys, poll(&entry, 1, CInt(seconds * 1000)) > 0 else {
            if !look.hasKeys, seconds > 0 { usleep(UInt32(seconds * 1_000_000)) }
            return
        }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = read(STDIN_FILENO, &bytes, bytes.count)
        guard count > 0 else {
            // The terminal is gone.
            if count == 0, entry.revents & Int16(POLLHUP) != 0 { isDone = true }
            return
        }
        var keys = bytes.prefix(count)
        while let key = keys.popFirst() {
            // An arrow key sends three bytes: ECMA-48, CUU and CUD.
            if key == 0x1B, keys.first == UInt8(ascii: "[") || keys.first == UInt8(ascii: "O") {
                switch keys.dropFirst().first {
                case UInt8(ascii: "A"): move(-1)
                case UInt8(ascii: "B"): move(1)
                default: break
                }
                keys = keys.dropFirst(2)
            } else {
                press(Character(Unicode.Scalar(key)))
            }
        }
    }

    private mutating func press(_ key: Character) {
        switch key {
        case "q", "Q", "\u{4}": isDone = true
        case " ": paused = paused == nil ? plot : nil
        case "+", "=": show(Self.windows.last { $0 < plot.window })
        case "-", "_": show(Self.windows.first { $0 > plot.window })
        case "k": move(-1)
        case "j": move(1)
        default: return
        }
        hasChanged = true
    }

    private static let windows = [0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1800, 3600]

    private mutating func show(_ window: Double?) {
        guard let window else { return }
        plot.window = window
        paused?.window = window
    }

    private mutating func move(_ panels: Int) {
        let first = min(max(0, plot.firstPanel + panels), max(0, plot.series.count - 1))
        plot.firstPanel = first
        paused?.firstPanel = first
        hasChanged = true
    }
}

/// The capabilities of the terminal.
struct TerminalLook {
    /// Whether it can show pictures.
    let isScreen: Bool
    let isUnicode: Bool
    let isColored: Bool
    let hasKeys: Bool

    init() {
        let terminal = environment("TERM") ?? "dumb"
        isScreen = isatty(STDOUT_FILENO) == 1 && terminal != "dumb"
        hasKeys = isatty(STDIN_FILENO) == 1
        // The font of the Linux console has no braille.
        isUnicode = isLocaleUnicode == true && terminal != "linux"
        isColored = isScreen && isEmphasisShown
    }

    func dimmed(_ text: String) -> String { isColored && !text.isEmpty ? "\u{1B}[2m\(text)\u{1B}[m" : text }
}
