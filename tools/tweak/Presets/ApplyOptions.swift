import ArgumentParser
import Glibc
import TweakProtocol
import TweakText
import Tweaks

/// How a set of values is applied, and what is said of it.
struct ApplyOptions: ParsableArguments {
    @Flag(help: "Give all other tweaks their defaults.")
    var resetOthers = false

    @Option(help: "The form of the output.")
    var format: OutputFormat = .table

    /// - Throws: ``Failure`` if not all values could be applied; then the others are.
    func apply(
        _ values: OverridesDocument, to program: any Program, _ target: ProgramOptions
    ) throws(Failure) {
        let answer = try program.apply(values, resettingOthers: resetOthers)
        switch format {
        case .json: try target.printJSON(answer, of: program)
        case .table:
            print("\(answer.applied.count) \(answer.applied.count == 1 ? "tweak was" : "tweaks were") set")
        }
        for key in answer.clamped { warn("\(key): the value was outside the limits and has been clamped") }
        let problems = answer.unknown.map { "\($0): there is no such tweak" } + answer.refused.map(\.message)
        guard problems.isEmpty else {
            throw Failure(
                "\(problems.count) \(problems.count == 1 ? "value was" : "values were") not applied",
                details: problems, EX_DATAERR)
        }
    }
}
