// SPDX-License-Identifier: BSD-3-Clause
import Testing

/// Runs the tests of this module, with the options of `swift test`.
@main enum Main {
    static func main() async { await Testing.__swiftPMEntryPoint() as Never }
}
