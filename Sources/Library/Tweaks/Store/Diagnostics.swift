internal import CTweakSystem
internal import Glibc
internal import Logging
internal import TweakRecords
internal import TweakSystem

/// Tells a person what went wrong, each thing once.
///
/// What it says may hold names, values and paths of any origin, so it is escaped here, for whoever takes it.
final class Diagnostics: Sendable {
    struct State {
        /// Hashes of what was said. The newest are kept, so that a program which runs for years does not grow.
        var reported: [Int] = []
        /// That of the program; without one nothing of swift-log is used, so that it works at any time of a process.
        var logger: Logger?
        /// Hashes of what threads are writing at this moment, and in which generation of the process.
        var writing: (hashes: [Int], generation: UInt32) = ([], 0)

        /// Has a forked child say itself what its parent was saying, which may have ended before.
        mutating func forgetParent() {
            let generation = fbtweak__generation()
            guard writing.generation != generation else { return }
            reported.removeAll { writing.hashes.contains($0) }
            writing = ([], generation)
        }
    }
    let state = Guarded(State())

    /// How many different messages are remembered.
    private static let mostReported = 1000
    /// The bytes of a message. A line with it is written to a pipe at once or not at all.
    private static let largestMessage = 3500

    /// Standard error unless the program sets another; standard output belongs to the program.
    var logger: Logger {
        get { state.withLock { $0.logger } ?? Logger(label: "tweaks") { _ in StandardErrorLog() } }
        set { state.withLock { $0.logger = newValue } }
    }

    /// Says something that is worth knowing only for who looks for it.
    func debug(_ message: String) {
        guard let logger = state.withLock({ $0.logger }) else { return }
        allowingForks { logger.debug("\(Self.shown(message))") }
    }

    func warn(_ message: String) { warn(message, onceFor: message) }

    /// Says something that may have to be said again in the same words, once for each identity.
    func warn(_ message: String, onceFor identity: String) {
        let hash = ByteText(identity)._rawHashValue(seed: 0)
        let (isNew, logger) = state.withLock { state -> (Bool, Logger?) in
            state.forgetParent()
            guard !state.reported.contains(hash) else { return (false, nil) }
            if state.reported.count == Self.mostReported { state.reported.removeFirst() }
            state.reported.append(hash)
            state.writing.hashes.append(hash)
            return (true, state.logger)
        }
        guard isNew else { return }
        allowingForks {
            if let logger {
                logger.warning("\(Self.shown(message))")
            } else {
                StandardErrorLog.write(Self.shown(message), .warning)
            }
        }
        state.withLock { $0.writing.hashes.removeAll { $0 == hash } }
    }

    /// Waits a moment for what other threads are writing, which would be lost at the end of the process.
    func finish() {
        for _ in 0..<100 {
            let isWriting = state.withLock { state in
                state.forgetParent()
                return !state.writing.hashes.isEmpty
            }
            guard isWriting else { return }
            allowingForks { _ = usleep(1000) }
        }
    }

    private static func shown(_ message: String) -> String {
        // Only the beginning of megabytes is escaped.
        let text = message.cut(to: largestMessage).printable
        return text.utf8.count > largestMessage || message.utf8.count > largestMessage
            ? text.cut(to: largestMessage) + "…" : text
    }
}

extension String {
    /// The beginning, of some bytes at most.
    fileprivate func cut(to count: Int) -> String {
        guard let end = utf8.index(startIndex, offsetBy: count, limitedBy: endIndex) else { return self }
        // An index inside a scalar counts as one before it.
        return String(unicodeScalars[..<end])
    }
}

/// Writes each message as one line to standard error, without its stream: another thread of the program may have locked
/// that, in a forked child for ever.
private struct StandardErrorLog: LogHandler {
    var logLevel = Logger.Level.info
    var metadata = Logger.Metadata()
    var metadataProvider: Logger.MetadataProvider?

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let all = metadata.merging(metadataProvider?.get() ?? [:]) { $1 }.merging(event.metadata ?? [:]) {
            $1
        }
        let details = all.sorted { $0.key < $1.key }.map { "\($0.key)=\($0.value) " }.joined()
        Self.write(details.printable + event.message.description.printable, event.level, from: event.source)
    }

    static func write(_ message: String, _ level: Logger.Level, from source: String = "Tweaks") {
        let line =
            "\(utcTime(secondsSince1970: time(nil))) \(level.rawValue) tweaks: [\(source.printable)] \(message)"
        // What metadata adds may be long.
        var text = line.cut(to: Int(PIPE_BUF) - 1) + "\n"
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { fbtweak__say($0.baseAddress, $0.count) }
        }
    }
}
