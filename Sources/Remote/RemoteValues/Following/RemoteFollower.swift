// SPDX-License-Identifier: BSD-3-Clause
#if Remote
package import TweakOverrides
package import TweakRecords

/// Follows one origin of an application's values, and writes the file for its programs.
package struct RemoteFollower: Sendable {
    let settings: any OriginSettings
    let origin: any RemoteOrigin
    let resources: SharedResources
    /// Whether the resources are not shared and end with this.
    private let hasOwnResources: Bool

    /// - Parameter resources: Shared resources, which the caller ends; `nil` for own ones.
    /// - Throws: ``FetchProblem`` if the certificates cannot be used.
    package init(
        _ settings: any OriginSettings, sharing resources: SharedResources? = nil
    ) throws(FetchProblem) {
        self.settings = settings
        hasOwnResources = resources == nil
        self.resources = resources ?? SharedResources()
        origin = try settings.origin(sharing: self.resources)
    }

    /// The state after a check or a change.
    package struct Report: Sendable {
        /// The name of the application.
        package let application: String
        /// The provider of the values.
        package let provider: TweakSource
        /// For example `etcd`.
        package let kind: String
        package let outcome: RemoteState.Outcome
        /// The revision of etcd up to which all changes are known, when one of them came last.
        package let knownRevision: Int?
        /// The file for programs.
        package let file: ProvidedFile
        /// The tweaks whose values in etcd are not for all hosts.
        package let targeted: Set<TweakKey>
        /// Messages for people.
        package let messages: [String]
        /// The error if the file could not be written.
        package let notKept: OverridesError?
        /// The time since 1970.
        package let time: Duration
    }

    /// Follows the origin until the task is cancelled.
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
        await RemoteFollowing(
            [self], sharing: resources, isOnce: isOnce, from: { _ in last },
            keep: { files in
                var errors: [OverridesError?] = []
                for file in files {
                    do throws(OverridesError) {
                        try await keep(file.file)
                        errors.append(nil)
                    } catch { errors.append(error) }
                }
                return errors
            },
            report: report
        ).follow()
        if hasOwnResources { await resources.end() }
    }
}
#endif
