// SPDX-License-Identifier: BSD-3-Clause
internal import CTweakSystem
internal import Glibc
internal import TweakRecords
internal import TweakSystem

/// Reports problems to people, each message once.
///
/// Messages may contain arbitrary names, values and paths, so they are escaped here, for every log handler.
final class Diagnostics: Sendable {
    struct State {
        /// Hashes of the reported messages. Only the newest are kept, to bound the memory of long-running programs.
        var reported: [Int] = []
        /// Gets the messages; without one they go to standard error, which works at any time of a process.
        var log: (any MessageLog)?
        /// Hashes of the messages that threads are writing, and the generation of the process.
        var writing: (hashes: [Int], generation: UInt32) = ([], 0)

        /// Lets a forked child repeat messages that its parent was writing, because the parent may have ended before.
        mutating func forgetParent() {
            let generation = fbtweak__generation()
            guard writing.generation != generation else { return }
            reported.removeAll { writing.hashes.contains($0) }
            writing = ([], generation)
        }
    }
    let state = Guarded(State())

    /// The number of messages remembered.
    private static let mostReported = 1000
    /// The maximum bytes of a message. A line of this length is written to a pipe atomically or not at all.
    private static let largestMessage = 3500

    /// Logs a detail for debugging.
    func debug(_ message: String) {
        guard let log = state.withLock({ $0.log }) else { return }
        allowingForks { log.debug(Self.shown(message)) }
    }

    func warn(_ message: String) { warn(message, onceFor: message) }

    /// Reports a message that may have to be repeated, once for each identity.
    func warn(_ message: String, onceFor identity: String) {
        let hash = ByteText(identity)._rawHashValue(seed: 0)
        let (isNew, log) = state.withLock { state -> (Bool, (any MessageLog)?) in
            state.forgetParent()
            guard !state.reported.contains(hash) else { return (false, nil) }
            if state.reported.count == Self.mostReported { state.reported.removeFirst() }
            state.reported.append(hash)
            state.writing.hashes.append(hash)
            return (true, state.log)
        }
        guard isNew else { return }
        allowingForks {
            if let log {
                log.warn(Self.shown(message))
            } else {
                StandardError.write(Self.shown(message), level: "warning")
            }
        }
        state.withLock { $0.writing.hashes.removeAll { $0 == hash } }
    }

    /// Waits briefly for messages that other threads are writing, which would be lost when the process ends.
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
        // Only the beginning of a huge message is escaped.
        let text = message.cut(to: largestMessage).printable
        return text.utf8.count > largestMessage || message.utf8.count > largestMessage
            ? text.cut(to: largestMessage) + "…" : text
    }
}

extension String {
    /// The beginning, of at most this many bytes.
    fileprivate func cut(to count: Int) -> String {
        guard let end = utf8.index(startIndex, offsetBy: count, limitedBy: endIndex) else { return self }
        // Slicing rounds an index inside a scalar down.
        return String(unicodeScalars[..<end])
    }
}

/// A log of the program.
protocol MessageLog: AnyObject, Sendable {
    /// Logs a detail for debugging.
    func debug(_ message: String)
    /// Logs a problem.
    func warn(_ message: String)
}

/// Writes each message as one line to standard error, bypassing `stderr`: another thread may have locked the stream, in
/// a forked child for ever.
enum StandardError {
    static func write(_ message: String, level: String, from source: String = "Tweaks") {
        let line =
            "\(utcTime(secondsSince1970: time(nil))) \(level) tweaks: [\(source.printable)] \(message)"
        // Metadata may be long.
        var text = line.cut(to: Int(PIPE_BUF) - 1) + "\n"
        text.withUTF8 { bytes in
            bytes.withMemoryRebound(to: CChar.self) { fbtweak__say($0.baseAddress, $0.count) }
        }
    }
}
