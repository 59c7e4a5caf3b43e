// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport

extension SetterProgram {
    /// Runs the program in the place of a shell that has prepared what a process inherits: limits, descriptors. Signals have
    /// their default actions.
    ///
    /// - Parameters:
    ///   - script: What the shell does; `"$@"` is the program with its arguments.
    ///   - arguments: The arguments.
    /// - Returns: What it left behind; the status is 124 if it hung.
    func setter(
        in script: String, _ arguments: [String], environment: [String: String] = [:]
    ) throws -> CommandResult {
        let words = ["--default-signal=PIPE,XFSZ", "timeout", "60", "sh", "-euc", script, "sh", Self.path]
        return try run("/usr/bin/env", words + arguments, home: home, environment: environment)
    }
}
