// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import Synchronization
package import TweakOverrides
package import TweakRecords
internal import TweakSystem

/// Updates the state of one application, and writes the file for its programs. Updates during a write are combined into
/// the next one.
package final class RemoteUpdates: Sendable {
    private struct Guarded {
        var state: RemoteState
        /// Whether there is something to write.
        var isNew = false
        /// Whether the writer has this, or a pause after a write has not ended.
        var isWriting = false
        /// The pause after the next write.
        var pause = RemoteUpdates.pauses.lowerBound
        /// The last file written.
        var kept: ProvidedFile?
        var isFailureSaid = false
    }

    private let application: String
    private let provider: TweakSource
    private let kind: String
    private let writer: UpdateWriter
    private let wakeUp: @Sendable () -> Void
    private let guarded: Mutex<Guarded>

    /// The pause between writes of the file. The first change of a burst is written at once, and the pauses double
    /// during the burst: each write contains all values, and wakes all programs.
    private static let pauses: ClosedRange<Duration> = .milliseconds(2)...(.milliseconds(50))

    init(
        _ settings: any OriginSettings, _ last: ProvidedFile?, _ writer: UpdateWriter,
        wakeUp: @escaping @Sendable () -> Void
    ) {
        (application, provider, kind) = (settings.name, settings.provider, settings.kind)
        (self.writer, self.wakeUp) = (writer, wakeUp)
        guarded = Mutex(Guarded(state: RemoteState(last: last), kept: last))
    }

    /// Updates the state, and writes the file unless `body` throws.
    package func update<Problem: Error>(
        _ body: (inout RemoteState) throws(Problem) -> Void
    ) throws(Problem) {
        try guarded.withLock { (guarded) throws(Problem) in
            try body(&guarded.state)
            guarded.isNew = true
            guard !guarded.isWriting else { return }
            guarded.isWriting = true
            writer.begin(self)
        }
    }

    /// Reports a message to people.
    func say(_ message: String) { update { state in state.messages.append(message) } }

    /// Has the origin checked now whether to read again, instead of at the time that it waits for.
    package func wake() { wakeUp() }

    // MARK: - For the writer

    /// The state to report, and its file if that must be written.
    fileprivate func take() -> (state: RemoteState, file: KeptUpdate?) {
        guarded.withLock { guarded in
            guarded.isNew = false
            defer { guarded.state.noteTold() }
            let file = guarded.state.file
            guard guarded.kept?.content != file.content else { return (guarded.state, nil) }
            return (guarded.state, KeptUpdate(application: application, provider: provider, file: file))
        }
    }

    /// Records the result of a write.
    ///
    /// - Parameters:
    ///   - file: The written file; `nil` if there was nothing to write.
    ///   - error: The error if it could not be written.
    /// - Returns: The report, and the pause until ``endPause()``.
    fileprivate func end(
        _ state: RemoteState, _ file: ProvidedFile?, _ error: OverridesError?
    ) -> (RemoteFollower.Report, pause: Duration) {
        var messages = state.messages
        let pause = guarded.withLock { guarded in
            if let error {
                if !guarded.isFailureSaid { messages.append("\(error)") }
                guarded.isFailureSaid = true
            } else if let file {
                guarded.kept = file
                if guarded.isFailureSaid { messages.append("its file can be written again") }
                guarded.isFailureSaid = false
            }
            defer { guarded.pause = min(guarded.pause * 2, Self.pauses.upperBound) }
            return guarded.pause
        }
        let report = RemoteFollower.Report(
            application: application, provider: provider, kind: kind, outcome: state.outcome,
            knownRevision: state.knownRevision, file: state.file, targeted: state.targeted,
            messages: messages, notKept: error, time: .since1970)
        return (report, pause)
    }

    /// Ends the pause after a write.
    ///
    /// - Returns: Whether there is something to write again.
    fileprivate func endPause() -> Bool {
        guarded.withLock { guarded in
            if !guarded.isNew { (guarded.isWriting, guarded.pause) = (false, Self.pauses.lowerBound) }
            return guarded.isNew
        }
    }
}

/// A file for the programs of one application.
package struct KeptUpdate: Sendable {
    package let application: String
    package let provider: TweakSource
    package let file: ProvidedFile
}

/// Writes and reports the updates of many applications, those together that arrive during a write.
final class UpdateWriter: Sendable {
    private struct State {
        var waiting: [RemoteUpdates] = []
        var isRunning = false
        /// The number of applications that wait, are written, or pause after a write.
        var unfinished = 0
        var end: CheckedContinuation<Void, Never>?
    }

    private let timetable: Timetable
    private let keep: @Sendable ([KeptUpdate]) async -> [OverridesError?]
    private let report: @Sendable (RemoteFollower.Report) -> Void
    private let state = Mutex(State())

    /// The maximum number of files that are written together. All of them are in memory, and their programs wait for the
    /// last one.
    private static let most = 1000

    init(
        _ timetable: Timetable, _ keep: @escaping @Sendable ([KeptUpdate]) async -> [OverridesError?],
        _ report: @escaping @Sendable (RemoteFollower.Report) -> Void
    ) { (self.timetable, self.keep, self.report) = (timetable, keep, report) }

    /// Adds an application that was not written to for a while.
    fileprivate func begin(_ updates: RemoteUpdates) {
        state.withLock { state in
            state.unfinished += 1
            add(updates, &state)
        }
    }

    private func add(_ updates: RemoteUpdates, _ state: inout State) {
        state.waiting.append(updates)
        guard !state.isRunning else { return }
        state.isRunning = true
        Task { await run() }
    }

    /// Returns when everything is written.
    func end() async {
        await withCheckedContinuation { continuation in
            state.withLock { state in
                if state.unfinished == 0 { return continuation.resume() }
                state.end = continuation
            }
        }
    }

    private func run() async {
        while let batch = next() {
            let taken = batch.map { ($0, $0.take()) }
            let files = taken.compactMap { $1.file }
            var errors = (files.isEmpty ? [] : await keep(files)).makeIterator()
            for (updates, (state, file)) in taken {
                let error = file == nil ? nil : errors.next() ?? nil
                let (report, pause) = updates.end(state, file?.file, error)
                self.report(report)
                timetable.call(at: .now + pause) { self.endPause(updates) }
            }
        }
    }

    private func next() -> [RemoteUpdates]? {
        state.withLock { state in
            guard !state.waiting.isEmpty else {
                state.isRunning = false
                return nil
            }
            defer { state.waiting.removeFirst(min(Self.most, state.waiting.count)) }
            return Array(state.waiting.prefix(Self.most))
        }
    }

    private func endPause(_ updates: RemoteUpdates) {
        let isNew = updates.endPause()
        state.withLock { state in
            if isNew { return add(updates, &state) }
            state.unfinished -= 1
            guard state.unfinished == 0 else { return }
            state.end?.resume()
            state.end = nil
        }
    }
}

extension ProvidedFile {
    /// The file without the times of its checks, for which programs should not wake up.
    fileprivate var content: ProvidedFile {
        var content = self
        content.loaded = nil
        content.checked = nil
        return content
    }
}
#endif
