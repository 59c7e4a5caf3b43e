// SPDX-License-Identifier: BSD-3-Clause
import CChain
import Configuration
import Glibc
import Tweaks

/// Takes values from a file, or from none, and exits with the value of a tweak as its status.
///
/// - `start`: values from the overrides and a providers file beside the program
/// - `variables <file>`: values from a `VariablesProvider`
/// - `configuration <file>`: a single value from swift-configuration
/// - `chain <samples> <file>`: prints the nanoseconds of each loop of ``Chain``, `<samples>` times
@main
struct ProvideBenchmark {
    static func main() async throws {
        let arguments = CommandLine.arguments
        switch arguments.dropFirst().first {
        case "variables" where arguments.count == 3:
            try TweakStore.shared.add(VariablesProvider(files: [arguments[2]]), below: .overrides)
            exit(chain_lowest())
        case "configuration" where arguments.count == 3:
            let provider = try await FileProvider<JSONSnapshot>(filePath: .init(arguments[2]))
            let found = try provider.snapshot().value(forKey: ["Chain", "Lowest", "Value"], type: .int)
            guard case .int(let value)? = found.value?.content else { fatalError("no such value") }
            exit(Int32(value))
        case "chain" where arguments.count == 4:
            try Chain(VariablesProvider(files: [arguments[3]])).show(samples: Int(arguments[2]) ?? 1)
        default: exit(chain_lowest())
        }
    }
}
