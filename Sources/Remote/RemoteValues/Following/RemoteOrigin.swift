// SPDX-License-Identifier: BSD-3-Clause
#if Remote
package import TweakRecords

/// An origin of one application's values: a file on a web server, a flag service, an etcd cluster.
///
/// A ``RemoteFollower`` drives it: reads, waits, reads again, and backs off after a failure.
package protocol RemoteOrigin: Sendable {
    /// The initial schedule of reads.
    var schedule: CheckSchedule { get }

    /// Reads all values once, and updates those for programs.
    ///
    /// - Throws: ``FetchProblem``. The known values stay.
    func read(_ updates: RemoteUpdates) async throws(FetchProblem)

    /// Starts to wait for the next read, after a successful one. An origin that pushes changes updates the values for
    /// programs meanwhile.
    ///
    /// - Returns: The time to call ``check(_:_:)``, unless ``RemoteUpdates/wake()`` is called before.
    func wait(_ schedule: inout CheckSchedule, _ updates: RemoteUpdates) async -> ContinuousClock.Instant

    /// Checks, while waiting, whether to read again.
    ///
    /// - Returns: The time of the next check, or `nil` to read now.
    func check(_ schedule: inout CheckSchedule, _ updates: RemoteUpdates) async -> ContinuousClock.Instant?

    /// Ends background work, such as event streams.
    func end() async
}

extension RemoteOrigin {
    /// Waits according to the schedule.
    package func wait(
        _ schedule: inout CheckSchedule, _ updates: RemoteUpdates
    ) async -> ContinuousClock.Instant { .now + schedule.succeeded() }

    package func check(
        _ schedule: inout CheckSchedule, _ updates: RemoteUpdates
    ) async -> ContinuousClock.Instant? { nil }

    package func end() async {}
}

/// The configuration of one origin of an application's values.
package protocol OriginSettings: Sendable {
    /// The application's name, under which its values are kept, as in `tweak list`.
    var name: String { get }
    /// The version of the application on this host, for filters, or `nil`.
    var version: String? { get }
    /// The provider of these values in programs, which also names the file in the agent's directory.
    var provider: TweakSource { get }
    /// The provider's name in a program that follows the origin itself.
    var kind: String { get }
    /// The server or cluster. If one hangs, the origins at others do not wait.
    var server: String { get }

    /// Creates the origin.
    ///
    /// - Parameter resources: Shared with the origins of other applications.
    /// - Throws: ``FetchProblem`` if the certificates cannot be used.
    func origin(sharing resources: SharedResources) throws(FetchProblem) -> any RemoteOrigin
}
#endif
