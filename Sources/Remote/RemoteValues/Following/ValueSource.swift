#if Remote
package import TweakRecords

/// A place that one application's values are loaded from: a file on a web server, a flag service, a cluster of etcd.
///
/// A ``RemoteFollower`` drives it: reads, waits, reads again, and backs off after a failure.
package protocol ValueSource: Sendable {
    /// When to read again, as it is before the first read.
    var schedule: CheckSchedule { get }

    /// Reads all values once, and updates what programs are told.
    ///
    /// - Throws: ``FetchProblem``. What was known stays.
    func read(_ updates: RemoteUpdates) async throws(FetchProblem)

    /// Waits until it is time to read again. A source that pushes changes updates what programs are told meanwhile.
    func wait(_ schedule: inout CheckSchedule, _ updates: RemoteUpdates) async

    /// Ends what goes on between two waits, such as listening for events.
    func end() async
}

extension ValueSource {
    /// Waits as long as the schedule says.
    package func wait(_ schedule: inout CheckSchedule, _ updates: RemoteUpdates) async {
        try? await Task.sleep(for: schedule.succeeded())
    }

    package func end() async {}
}

/// What a configuration says about one application and one source of its values.
package protocol SourceSettings: Sendable {
    /// The name under which the application's values are kept, as in `tweak list`.
    var name: String { get }
    /// The version of the application on this host, for filters; `nil` if it is not known.
    var version: String? { get }
    /// The provider of these values in programs, which also names the file in the agent's folder.
    var provider: TweakSource { get }
    /// What the values are labelled with in a program that follows the source itself.
    var kind: String { get }

    /// Makes the source.
    ///
    /// - Parameter resources: What it shares with the sources of other applications.
    /// - Throws: ``FetchProblem`` if what it needs cannot be used.
    func source(sharing resources: SharedResources) throws(FetchProblem) -> any ValueSource
}
#endif
