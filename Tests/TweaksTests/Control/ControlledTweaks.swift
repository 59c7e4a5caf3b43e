// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import TweakProtocol
import TweakRecords

@testable import Tweaks

/// Tweaks in this process that clients reach through a socket of their own.
final class ControlledTweaks: Sendable {
    let tweaks: SyntheticTweaks
    let home: TemporaryDirectory
    let directory: ControlDirectory
    var store: TweakStore { tweaks.store }

    init(_ tweaks: SyntheticTweaks) throws {
        self.tweaks = tweaks
        home = try TemporaryDirectory()
        mkdir(home("runtime"), 0o700)
        directory = ControlDirectory(path: home("runtime/tweaks"))
        // Of its own, since tests let it hang.
        store.serveRequests(in: directory, worker: SerialQueue(patience: 1))
    }

    /// Keeps what is set in a file.
    func keepOverrides() -> OverridesFile {
        let file = OverridesFile(path: home("overrides.json"))
        store.keepOverrides(in: file)
        return file
    }

    func connect() throws -> ControlClient { try ControlClient(directory.socket(of: getpid())) }

    /// The names of the tweaks that most tests use.
    static let count = "Test/Values/Count"
    static let text = "Test/Values/Text"
}

/// Lets threads through when a test says so.
final class Gate: Sendable {
    private let gate = DispatchSemaphore(value: 0)
    private let count = Locked(0)

    /// How many threads have come.
    var arrivals: Int { count.withLock { $0 } }

    /// Waits until the gate is opened.
    func pass() {
        count.withLock { $0 += 1 }
        gate.wait()
        gate.signal()
    }

    func open() { gate.signal() }
}
