// SPDX-License-Identifier: BSD-3-Clause
import Glibc

/// What tests have of OpenFeature: its SDK and an evaluator of flags, both for Python.
public enum OpenFeature {
    /// The arguments that run a program of `Tests/Programs/openfeature`, after the interpreter itself.
    public static func command(_ program: String, _ arguments: [String]) throws -> (String, [String]) {
        let python = Locations.package + "/.build/openfeature/bin/python3"
        guard access(python, X_OK) == 0 else {
            throw CompilationError(description: "\(python) is missing; tools/test installs it")
        }
        // Without files of bytecode beside the sources.
        return (python, ["-B", "\(Locations.package)/Tests/Programs/openfeature/\(program)"] + arguments)
    }
}
