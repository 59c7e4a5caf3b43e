// SPDX-License-Identifier: BSD-3-Clause
internal import Synchronization

/// The output of a command that runs inside a server: JSON, and messages.
package final class CapturedOutput: Sendable {
    /// Where the commands of this task print; `nil` for standard output and standard error.
    @TaskLocal package static var current: CapturedOutput?

    private struct Contents {
        var output = ""
        var messages: [String] = []
    }

    private let contents = Mutex(Contents())

    package init() {}

    /// The JSON that was printed.
    package var output: String { contents.withLock { $0.output } }
    /// The messages, without the name of the command.
    package var messages: [String] { contents.withLock { $0.messages } }

    func print(_ json: String) { contents.withLock { $0.output += json } }

    func tell(_ message: String) { contents.withLock { $0.messages.append(message) } }
}
