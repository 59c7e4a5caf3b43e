// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandSupport
import Glibc

/// `NAME=VALUE` on the command line.
struct Assignment: ExpressibleByArgument {
    let name: String
    let text: String

    init?(argument: String) {
        guard let equals = argument.firstIndex(of: "="), equals != argument.startIndex else { return nil }
        name = String(argument[..<equals])
        text = String(argument[argument.index(after: equals)...])
    }
}

extension Failure {
    /// Whether the program answered that a name or value is invalid.
    var isAboutName: Bool { kind == .invalid || kind == .usage }
}
