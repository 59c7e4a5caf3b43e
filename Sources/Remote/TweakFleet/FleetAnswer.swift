// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
package import CommandSupport
import RemoteValues

/// The answer of a `tweak fleet` that runs inside a server.
package struct FleetAnswer: Sendable {
    /// The JSON that the command prints.
    package let json: String
    package let warnings: [String]

    /// Whether this program has the commands.
    package static var isPossible: Bool {
        #if Remote
        true
        #else
        false
        #endif
    }

    /// Runs a subcommand. Blocks the thread. Connections to the cluster stay open for the next one.
    ///
    /// - Parameter words: The command line after `tweak fleet`; of no subcommand that runs until it is ended.
    /// - Throws: ``Failure`` with the message that the command prints.
    package init(to words: [String]) throws(Failure) {
        let captured = CapturedOutput()
        let result = CapturedOutput.$current.withValue(captured) {
            FleetWording.$isOfPage.withValue(true) { Self.run(words) }
        }
        try result.get()
        (json, warnings) = (captured.output, captured.messages)
    }

    /// Waits until somebody changes a value or a kill of an application, or some time has passed.
    ///
    /// - Parameters:
    ///   - words: The command line after `tweak fleet list`.
    ///   - revision: The revision of etcd after which the change is made.
    /// - Returns: Whether there was a change.
    /// - Throws: ``Failure`` if the command line or the configuration is wrong.
    package static func waitForChange(
        _ words: [String], after revision: Int, atMost time: Duration
    ) async throws(Failure) -> Bool {
        #if Remote
        let list: FleetList
        do { list = try FleetList.parse(words) } catch {
            throw Failure(FleetList.message(for: error), .usage)
        }
        let editors = [try Fleet.editor(list.fleet), try Fleet.editor(list.fleet, .kills)]
        let (changes, continuation) = AsyncStream.makeStream(of: Bool.self)
        return await withTaskGroup(of: Void.self) { group in
            for editor in editors {
                group.addTask {
                    await editor.watch(after: revision) { _ in
                        continuation.yield(true)
                    } problem: { _ in
                    }
                }
            }
            group.addTask {
                try? await Task.sleep(for: time)
                continuation.yield(false)
            }
            defer { group.cancelAll() }
            for await isChanged in changes { return isChanged }
            return false
        }
        #else
        return false
        #endif
    }

    private static func run(_ words: [String]) -> Result<Void, Failure> {
        do throws(Failure) {
            let command: any ParsableCommand
            do { command = try FleetCommand.parseAsRoot(words) } catch {
                throw Failure(FleetCommand.message(for: error), .usage)
            }
            guard let command = command as? any AgentCommand else {
                throw Failure("tweak fleet: a subcommand is expected", .usage)
            }
            try command.performIfBuilt()
            return .success(())
        } catch {
            return .failure(error)
        }
    }
}
