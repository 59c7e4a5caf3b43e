// SPDX-License-Identifier: BSD-3-Clause
internal import Synchronization
package import TweakRecords

/// A problem that does not end a command. With `--format json` it is a JSON object, on whose keys scripts rely.
package struct Warning: Encodable, ExpressibleByStringInterpolation {
    package enum Kind: String, Encodable {
        /// A value was outside the limits of its tweak, and was clamped.
        case clamped
        /// A value is kept or leased, but another provider decides.
        case hidden
        /// A value waits for a gate or a restart.
        case waiting
        /// Samples or changes are missing.
        case lost
        /// There are too few samples or updates for a statistic.
        case few
        /// A helper process restores the value.
        case restoring
        /// Some tweaks may have values of a part of an earlier change, whose writer was killed.
        case torn
        /// No code reads the tweak.
        case unread
        case other
    }

    package let kind: Kind
    package let message: String
    package var tweak: TweakKey?
    /// The process id of the program.
    package var process: Int32?
    /// The number of samples that were not taken in time.
    package var skipped: Int?

    package init(
        _ message: String, _ kind: Kind = .other, tweak: TweakKey? = nil, process: Int32? = nil,
        skipped: Int? = nil
    ) {
        (self.message, self.kind, self.tweak) = (message, kind, tweak)
        (self.process, self.skipped) = (process, skipped)
    }

    package init(stringLiteral message: String) { self.init(message) }

    private static let writesJSON = Atomic(false)

    /// Whether warnings are written as JSON: the command line has `--format json`.
    package static var areJSON: Bool {
        get { writesJSON.load(ordering: .relaxed) }
        set { writesJSON.store(newValue, ordering: .relaxed) }
    }

    /// Writes a line to standard error: `tweak: warning: …`, or a JSON object.
    ///
    /// - Parameter command: The name of the command.
    package func write(of command: String = "tweak") {
        if let captured = CapturedOutput.current { return captured.tell(message) }
        if Self.areJSON, let line = try? jsonLine(self) { return printError(line) }
        printMessage("warning: " + message, of: command)
    }
}
