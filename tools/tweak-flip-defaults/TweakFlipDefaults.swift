// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Glibc
import Yams

/// Prints the options in `.flip.yml` in the working directory, as FlipTheSwitch reads it, for `tweak generate`.
///
/// A program of its own, because the YAML parser needs Foundation, which is larger than all of `tweak`. Prints the
/// options as JSON, or an error.
@main
struct TweakFlipDefaults {
    private static let path = ".flip.yml"
    private static let keys = ["input", "environment", "plist_output", "settings_output", "category_output"]

    static func main() throws {
        reserveStandardDescriptors()
        // `tweak` asks its commands for their abstracts; this is not one.
        guard CommandLine.argc < 2 else { exit(EX_USAGE) }
        let options: [String: String]
        do throws(Failure) { options = try Self.options(yaml: readInput(path, isNamed: false)) } catch {
            print(error.message)
            exit(error.exitCode)
        }
        try printJSON(options)
    }

    private static func options(yaml: [UInt8]) throws(Failure) -> [String: String] {
        guard let text = String(validating: yaml, as: UTF8.self) else { throw failure("it is not UTF-8") }
        let node: Node?
        do { node = try Yams.compose(yaml: text) } catch { throw failure("it is not YAML: \(error)") }
        guard let node else { return [:] }
        guard let mapping = node.mapping else { throw failure("names and values are expected") }
        var options: [String: String] = [:]
        for (name, value) in mapping {
            guard let name = name.string, keys.contains(name) else {
                let place = name.mark.map { " in line \($0.line)" } ?? ""
                printMessage(
                    "warning: \(path): \"\(name.string ?? "…")\"\(place) is unknown; the known names are "
                        + keys.joined(separator: ", "))
                continue
            }
            guard let text = value.string, !text.isEmpty else {
                throw failure("\(name): a text is expected")
            }
            options[name] = text
        }
        return options
    }

    private static func failure(_ reason: String) -> Failure { Failure("\(path): \(reason)", .invalid) }
}
