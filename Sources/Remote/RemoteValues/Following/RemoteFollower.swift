// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import Synchronization
package import TweakOverrides
package import TweakRecords
internal import TweakSystem

/// Follows one source of an application's values, and writes the file for its programs.
package struct RemoteFollower: Sendable {
    private let settings: any SourceSettings
    private let source: any ValueSource
    /// Resources that are not shared and end with this; `nil` if they are.
    private let ownResources: SharedResources?

    /// - Parameter resources: Shared resources, which the caller ends; `nil` for own ones.
    /// - Throws: ``FetchProblem`` if the certificates cannot be used.
    package init(
        _ settings: any SourceSettings, sharing resources: SharedResources? = nil
    ) throws(FetchProblem) {
        self.settings = settings
        ownResources = resources == nil ? SharedResources() : nil
        source = try settings.source(sharing: resources ?? ownResources ?? SharedResources())
    }

    /// The state after a check or a change.
    package struct Report: Sendable {
        /// The name of the application.
        package let application: String
        /// The provider of the values.
        package let provider: TweakSource
        package let outcome: RemoteState.Outcome
        /// The file for programs.
        package let file: ProvidedFile
        /// Messages for people.
        package let messages: [String]
        /// The error if the file could not be written.
        package let notKept: OverridesError?
        /// The time since 1970.
        package let time: Duration
    }

    /// Follows the source until the task is cancelled.
    ///
    /// - Parameters:
    ///   - last: The file of an earlier agent.
    ///   - isOnce: Whether to read only once.
    ///   - keep: Writes the file for programs. Called if there is something new.
    ///   - report: Called after checks and changes; several consecutive changes are reported together.
    package func follow(
        from last: ProvidedFile?, isOnce: Bool = false,
        keep: @escaping @Sendable (ProvidedFile) async throws(OverridesError) -> Void,
        report: @escaping @Sendable (Report) -> Void
    ) async {
        let updates = RemoteUpdates(settings, last, keep, report)
        var schedule = source.schedule
        while !Task.isCancelled {
            do throws(FetchProblem) {
                try await source.read(updates)
                if isOnce { break }
                await source.wait(&schedule, updates)
            } catch {
                // A read that was cancelled at the end of the agent is not a failure.
                if Task.isCancelled { break }
                updates.update { state in state.fail(error) }
                if isOnce { break }
                let pause = schedule.failed(retryAfter: error.retryAfter)
                try? await Task.sleep(for: min(pause, error.retryWithin ?? pause))
            }
        }
        await source.end()
        await updates.end()
        await ownResources?.end()
    }
}

/// Updates the state of one application, and writes the file for its programs. Updates during a write are combined into
/// the next one.
package final class RemoteUpdates: Sendable {
    private struct Guarded {
        var state: RemoteState
        /// Whether there is something to write.
        var isNew = false
        /// Runs while there is something to write.
        var telling: Task<Void, Never>?
    }

    private struct Kept {
        var file: ProvidedFile?
        var isFailureSaid = false
    }

    private let settings: any SourceSettings
    private let keep: @Sendable (ProvidedFile) async throws(OverridesError) -> Void
    private let report: @Sendable (RemoteFollower.Report) -> Void
    private let guarded: Mutex<Guarded>
    /// The last file written. Only the running task of ``Guarded/telling`` changes it.
    private let kept: Mutex<Kept>

    /// The pause between writes of the file. The first change of a burst is written at once, and the pauses double
    /// during the burst: each write contains all values, and wakes all programs.
    private static let pauses: ClosedRange<Duration> = .milliseconds(2)...(.milliseconds(50))

    init(
        _ settings: any SourceSettings, _ last: ProvidedFile?,
        _ keep: @escaping @Sendable (ProvidedFile) async throws(OverridesError) -> Void,
        _ report: @escaping @Sendable (RemoteFollower.Report) -> Void
    ) {
        (self.settings, self.keep, self.report) = (settings, keep, report)
        guarded = Mutex(Guarded(state: RemoteState(last: last)))
        kept = Mutex(Kept(file: last))
    }

    /// Updates the state, and writes the file unless `body` throws.
    func update<Problem: Error>(
        _ body: (inout RemoteState) throws(Problem) -> Void
    ) throws(Problem) {
        try guarded.withLock { (guarded) throws(Problem) in
            try body(&guarded.state)
            guarded.isNew = true
            if guarded.telling == nil { guarded.telling = Task { await tell() } }
        }
    }

    /// Reports a message to people.
    func say(_ message: String) { update { state in state.messages.append(message) } }

    /// Returns when everything is written.
    func end() async { await guarded.withLock { $0.telling }?.value }

    private func tell() async {
        var pause = Self.pauses.lowerBound
        while let state = newState() {
            await tell(state)
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, Self.pauses.upperBound)
        }
    }

    /// The state to write, or `nil`.
    private func newState() -> RemoteState? {
        guarded.withLock { guarded in
            guard guarded.isNew else {
                guarded.telling = nil
                return nil
            }
            guarded.isNew = false
            defer { guarded.state.noteTold() }
            return guarded.state
        }
    }

    private func tell(_ state: RemoteState) async {
        var kept = kept.withLock { $0 }
        var messages = state.messages
        var notKept: OverridesError?
        if kept.file?.content != state.file.content {
            do throws(OverridesError) {
                try await keep(state.file)
                kept.file = state.file
                if kept.isFailureSaid { messages.append("its file can be written again") }
                kept.isFailureSaid = false
            } catch {
                if !kept.isFailureSaid { messages.append("\(error)") }
                kept.isFailureSaid = true
                notKept = error
            }
            self.kept.withLock { [kept] in $0 = kept }
        }
        report(
            RemoteFollower.Report(
                application: settings.name, provider: settings.provider, outcome: state.outcome,
                file: state.file, messages: messages, notKept: notKept, time: .since1970))
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
