// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import Synchronization
package import TweakOverrides
internal import TweakRecords
internal import TweakSystem

/// The agent's metrics, as a text file for the textfile collector of Prometheus's node_exporter.
///
/// Source of the format: "Exposition formats" in Prometheus's documentation.
package final class AgentMetrics: Sendable {
    private struct Application {
        var last: RemoteFollower.Report
        var lastSuccess: Int64?
        var counts: [RemoteState.Outcome: Int] = [:]
    }

    private let path: String
    private let state = Mutex(State())
    /// Held while the file is written.
    private let file = Mutex(())

    private struct State {
        /// By the labels between braces.
        var applications: [String: Application] = [:]
        var isNew = false
        var isWriting = false
    }

    /// The minimum interval between writes of the file. The collector reads it every fifteen seconds, and it contains
    /// all applications.
    private static let interval: Duration = .seconds(1)

    package init(path: String) { self.path = path }

    /// Counts a check.
    ///
    /// - Returns: Whether the caller must call ``keepWriting(_:)``.
    package func note(_ report: RemoteFollower.Report) -> Bool {
        state.withLock { state in
            let source = report.provider == .remote ? "" : ",source=\"\(report.provider)\""
            let labels = "application=\"\(Self.escaped(report.application))\"\(source)"
            var application = state.applications[labels] ?? Application(last: report)
            application.last = report
            application.counts[report.outcome, default: 0] += 1
            if report.outcome != .failed { application.lastSuccess = report.time.components.seconds }
            state.applications[labels] = application
            defer { (state.isNew, state.isWriting) = (true, true) }
            return !state.isWriting
        }
    }

    /// Writes the file now, and again while there are new values.
    ///
    /// - Parameter report: Called with the result of each write.
    package func keepWriting(_ report: (OverridesError?) -> Void) async {
        repeat {
            write(report)
            try? await Task.sleep(for: Self.interval)
        } while state.withLock { state in
            state.isWriting = state.isNew
            return state.isNew
        }
    }

    /// Writes the file.
    package func write(_ report: (OverridesError?) -> Void) {
        file.withLock { _ in
            let applications = state.withLock { state in
                state.isNew = false
                return state.applications
            }
            do throws(OverridesError) {
                do throws(FileError) {
                    try FileReplacement.replace(
                        path, with: Array(Self.text(applications).utf8), permissions: 0o644, isLocked: true)
                } catch { throw OverridesError(error) }
                report(nil)
            } catch {
                report(error)
            }
        }
    }

    /// Removes applications that are no longer configured.
    package func keep(only names: [String]) {
        let names = Set(names)
        state.withLock { state in
            state.applications = state.applications.filter { names.contains($0.value.last.application) }
        }
    }

    private static func text(_ applications: [String: Application]) -> String {
        let sorted = applications.sorted { $0.key < $1.key }
        var text = ""
        func metric(
            _ name: String, _ type: String, _ help: String, _ value: (Application) -> [(String, Int64?)]
        ) {
            text += "# HELP tweak_agent_\(name) \(help)\n# TYPE tweak_agent_\(name) \(type)\n"
            for (labels, numbers) in sorted {
                for (label, number) in value(numbers) {
                    guard let number else { continue }
                    text += "tweak_agent_\(name){\(labels)\(label)} \(number)\n"
                }
            }
        }
        metric("up", "gauge", "Whether the last check succeeded and the file was written.") {
            [("", $0.last.outcome == .failed || $0.last.notKept != nil ? 0 : 1)]
        }
        metric("last_check_seconds", "gauge", "Time of the last check, in seconds since 1970.") {
            [("", $0.last.time.components.seconds)]
        }
        metric("last_success_seconds", "gauge", "Time of the last successful check, in seconds since 1970.") {
            [("", $0.lastSuccess)]
        }
        metric("version", "gauge", "Version of the accepted file.") {
            [("", $0.last.file.version.map { Int64($0) })]
        }
        metric("values", "gauge", "Number of values for its programs.") {
            [("", Int64($0.last.file.values.count))]
        }
        metric("checks_total", "counter", "Number of checks.") { application in
            RemoteState.Outcome.allCases.map {
                (",outcome=\"\($0.rawValue)\"", Int64(application.counts[$0] ?? 0))
            }
        }
        return text
    }

    private static func escaped(_ label: String) -> String {
        label.map { character in
            switch character {
            case "\\": "\\\\"
            case "\"": "\\\""
            case "\n": "\\n"
            default: String(character)
            }
        }.joined()
    }
}
#endif
