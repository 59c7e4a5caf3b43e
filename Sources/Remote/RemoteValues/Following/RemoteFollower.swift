#if Remote
package import TweakOverrides
package import TweakRecords
internal import TweakSystem
internal import TweakTargeting

/// Looks at the file of one application again and again.
package struct RemoteFollower: Sendable {
    private let application: RemoteApplication
    private let fetcher: HTTPFetcher
    private let resources: SharedResources
    private let isAlone: Bool

    /// - Parameter resources: What this shares with others, which ends later; `nil` if it is alone.
    /// - Throws: ``FetchProblem`` if what it needs cannot be used.
    package init(
        _ application: RemoteApplication, sharing resources: SharedResources? = nil
    ) throws(FetchProblem) {
        self.application = application
        (self.resources, isAlone) = (resources ?? SharedResources(), resources == nil)
        fetcher = try HTTPFetcher(application, self.resources)
    }

    /// What a check has come to.
    package struct Report: Sendable {
        package let application: String
        /// Where the values are from.
        package var source = TweakSource.remote
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

    /// Follows the file until the task is cancelled.
    ///
    /// - Parameters:
    ///   - last: What an earlier agent has left.
    ///   - isOnce: Whether there is one check only.
    ///   - keep: Tells the programs. It is called if something is new.
    ///   - report: Is called after every check.
    package func follow(
        from last: ProvidedFile?, isOnce: Bool = false,
        keep: @Sendable (ProvidedFile) throws(OverridesError) -> Void, report: @Sendable (Report) -> Void
    ) async {
        var state = RemoteState(application, last: last)
        var schedule = CheckSchedule(interval: application.interval)
        var kept = last
        var isKeepingSaid = false
        let streams = EventStreams(application, fetcher)
        while true {
            let start = ContinuousClock.now
            let facts = resources.facts(application.name, application.version)
            var answer: Result<FetchedFile?, FetchProblem>
            do throws(FetchProblem) {
                answer = .success(
                    try await fetcher.load(known: state.fetched, facts: facts, query: streams.query()))
            } catch {
                answer = .failure(error)
            }
            // What was broken off by the end of the agent is nobody's failure.
            if Task.isCancelled { break }
            var result = state.take(answer, facts: facts)
            result.messages += streams.messages()
            var notKept: OverridesError?
            if kept?.content != state.file.content {
                do throws(OverridesError) {
                    try keep(state.file)
                    kept = state.file
                    if isKeepingSaid { result.messages.append("its file can be written again") }
                    isKeepingSaid = false
                } catch {
                    if !isKeepingSaid { result.messages.append("\(error)") }
                    isKeepingSaid = true
                    notKept = error
                }
            }
            report(
                Report(
                    application: application.name, outcome: result.outcome, file: state.file,
                    messages: result.messages, notKept: notKept, time: .since1970))
            if isOnce { break }
            var pause: Duration
            if case .failure(let problem) = answer {
                pause = schedule.failed(retryAfter: problem.retryAfter)
            } else {
                pause = result.outcome == .failed ? schedule.failed() : schedule.succeeded()
            }
            if result.outcome == .failed {
                // Events do not make a server that fails be asked more often.
                try? await Task.sleep(for: pause)
            } else {
                streams.follow(state.streams)
                await streams.wait(for: pause, after: start)
            }
            if Task.isCancelled { break }
        }
        await streams.end()
        if isAlone { await resources.end() }
    }
}

extension ProvidedFile {
    /// The file without the times of its checks. Programs are woken when it changes, so not for these.
    var content: ProvidedFile {
        var content = self
        content.loaded = nil
        content.checked = nil
        return content
    }
}
#endif
