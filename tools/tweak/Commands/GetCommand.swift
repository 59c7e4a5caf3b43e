// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandSupport
import Glibc
import TweakClient
import TweakFormats
import TweakOverrides
import TweakProtocol
import TweakRecords

struct GetCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "get", abstract: "Print the value of one tweak, or those of a category or collection.",
        discussion: """
            A value is printed without its unit and with all decimals; control characters in a text are escaped.

            For example:

              tweak get motor Gain
              tweak get motor Control/
              tweak get motor Gain --wait 30s
            """)

    @Option(help: "The output format.")
    var format: OutputFormat = .table

    @Flag(help: "Print a text verbatim, including control characters.")
    var raw = false

    @OptionGroup var target: AwaitedProgramOptions

    @Argument(
        help:
            "The tweak, as Category/Collection/Name or shorter, or several, as Category/, Category/Collection/ or shorter.",
        completion: .custom(completeTweaks))
    var tweak: String

    func run() throws {
        try target.forEach(format) { program throws(Failure) in
            let name = tweak
            let tweak: JSONTweak
            do throws(Failure) { tweak = try program.tweak(named: name) } catch {
                guard error.isAboutName else { throw error }
                let all = try program.tweaks()
                guard let group = try? TweakScope(name, among: all) else { throw error }
                let tweaks = all.filter {
                    group.contains($0.declaration.key) && $0.declaration.type != .action
                }
                return try target.show(["tweaks": tweaks], of: program, as: format) {
                    tweaks.map { "\(printable("\($0.declaration.key)")) = \(text($0))" }.joined(
                        separator: "\n")
                }
            }
            guard tweak.declaration.type != .action else {
                throw Failure(TweakValueError.isAction(tweak.declaration))
            }
            try target.show(tweak, of: program, as: format) {
                text(tweak)
            }
            if format == .table, let pending = tweak.pendingValue, let waiting = program.waitingText(tweak) {
                warn("\(tweak.declaration.key): \(tweak.declaration.text(of: pending)) \(waiting)")
            }
            // Scripts read only the value.
            if let lease = tweak.leaseText, format == .table, isatty(STDERR_FILENO) == 1 {
                printMessage("\(tweak.declaration.key): it is from \(lease)")
            }
        }
    }

    private func text(_ tweak: JSONTweak) -> String {
        let text = "\(tweak.value ?? .nothing)"
        return raw ? text : printable(text)
    }
}
