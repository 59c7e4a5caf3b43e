#if Remote
internal import Synchronization
package import TweakOverrides
package import TweakRecords
internal import TweakSystem

/// Follows one source of one application's values, and has its programs told.
package struct RemoteFollower: Sendable {
    private let settings: any SourceSettings
    private let source: any ValueSource
    /// What nobody else uses, and ends with this; `nil` if resources are shared.
    private let ownResources: SharedResources?

    /// - Parameter resources: What this shares with others, which the caller ends; `nil` if it is alone.
    /// - Throws: ``FetchProblem`` if what it needs cannot be used.
    package init(
        _ settings: any SourceSettings, sharing resources: SharedResources? = nil
    ) throws(FetchProblem) {
        self.settings = settings
        ownResources = resources == nil ? SharedResources() : nil
        source = try settings.source(sharing: resources ?? ownResources ?? SharedResources())
    }

    /// What is known after a check or a change.
    package struct Report: Sendable {
        /// The name of the application.
        package let application: String
        /// Where the values are from.
        package let provider: TweakSource
        package let outcome: RemoteState.Outcome
        /// What programs are told.
        package let file: ProvidedFile
        /// What to tell a person.
        package let messages: [String]
        /// Why the programs are told nothing; `nil` if they are.
        package let notKept: OverridesError?
        /// Since 1970.
        package let time: Duration
    }

    /// Follows the source until the task is cancelled.
    ///
    /// - Parameters:
    ///   - last: What an earlier agent has left.
    ///   - isOnce: Whether to read once only.
    ///   - keep: Tells the programs. It is called if something is new.
    ///   - report: Is called after each check and each change; several changes in a row are reported together.
    package func follow(
        from last: ProvidedFile?, isOnce: Bool = false,
        keep: @escaping @Sendable (ProvidedFile) throws(OverridesError) -> Void,
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
                // A read that the end of the agent broke off is no failure.
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

/// Updates the state of one application, and has its programs told. What arrives while a file is written is written together.
package final class RemoteUpdates: Sendable {
    private struct Guarded {
        var state: RemoteState
        /// Whether something is to be told that has not been.
        var isNew = false
        /// Runs while something is to be told.
        var telling: Task<Void, Never>?
    }

    private struct Kept {
        var file: ProvidedFile?
        var isFailureSaid = false
    }

    private let settings: any SourceSettings
    private let keep: @Sendable (ProvidedFile) throws(OverridesError) -> Void
    private let report: @Sendable (RemoteFollower.Report) -> Void
    private let guarded: Mutex<Guarded>
    /// What the programs were told last.
    private let kept: Mutex<Kept>

    /// From one writing of the file to the next. The first change of a burst is written at once, and the pauses double as long
    /// as it lasts: each writing is of all values, and wakes all programs.
    private static let pauses: ClosedRange<Duration> = .milliseconds(2)...(.milliseconds(50))

    init(
        _ settings: any SourceSettings, _ last: ProvidedFile?,
        _ keep: @escaping @Sendable (ProvidedFile) throws(OverridesError) -> Void,
        _ report: @escaping @Sendable (RemoteFollower.Report) -> Void
    ) {
        (self.settings, self.keep, self.report) = (settings, keep, report)
        guarded = Mutex(Guarded(state: RemoteState(last: last)))
        kept = Mutex(Kept(file: last))
    }

    /// Updates the state, and has it told unless `body` throws.
    func update<Problem: Error>(
        _ body: (inout RemoteState) throws(Problem) -> Void
    ) throws(Problem) {
        try guarded.withLock { (guarded) throws(Problem) in
            try body(&guarded.state)
            guarded.isNew = true
            if guarded.telling == nil { guarded.telling = Task { await tell() } }
        }
    }

    /// Tells a person something.
    func say(_ message: String) { update { state in state.messages.append(message) } }

    /// Returns when everything is told.
    func end() async { await guarded.withLock { $0.telling }?.value }

    private func tell() async {
        var pause = Self.pauses.lowerBound
        while let state = newState() {
            tell(state)
            try? await Task.sleep(for: pause)
            pause = min(pause * 2, Self.pauses.upperBound)
        }
    }

    /// Returns what is to be told; `nil` if that is nothing.
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

    private func tell(_ state: RemoteState) {
        var messages = state.messages
        let notKept = kept.withLock { kept -> OverridesError? in
            guard kept.file?.content != state.file.content else { return nil }
            do throws(OverridesError) {
                try keep(state.file)
                kept.file = state.file
                if kept.isFailureSaid { messages.append("its file can be written again") }
                kept.isFailureSaid = false
                return nil
            } catch {
                if !kept.isFailureSaid { messages.append("\(error)") }
                kept.isFailureSaid = true
                return error
            }
        }
        report(
            RemoteFollower.Report(
                application: settings.name, provider: settings.provider, outcome: state.outcome,
                file: state.file, messages: messages, notKept: notKept, time: .since1970))
    }
}

extension ProvidedFile {
    /// The file without the times of its checks. Programs are woken when it changes, so not for these.
    fileprivate var content: ProvidedFile {
        var content = self
        content.loaded = nil
        content.checked = nil
        return content
    }
}
#endif
