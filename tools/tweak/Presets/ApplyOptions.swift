// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandSupport
import Glibc
import TweakClient
import TweakFormats
import TweakJSON
import TweakOverrides
import TweakProtocol
import TweakRecords

/// Options for applying a set of values.
struct ApplyOptions: ParsableArguments {
    @Flag(help: "Reset all other tweaks to their defaults, including those whose new values are refused.")
    var resetOthers = false

    @Flag(help: "Keep values even if this machine's Tweaks library cannot be loaded into the program.")
    var anyway = false

    @Option(help: "The output format.")
    var format: OutputFormat = .table

    /// - Parameters:
    ///   - leftOut: The entries of the file that are not values of tweaks.
    ///   - processes: Gets the change.
    /// - Throws: ``Failure`` if a value could not be applied; the others were.
    func apply(
        _ values: OverridesDocument, leavingOut leftOut: [ImportedOverrides.Problem] = [],
        to program: any Program, _ processes: ChangedProcesses, _ target: ProgramOptions
    ) throws(Failure) {
        (program as? OfflineProgram)?.keepsInVain = anyway
        let answer = try program.apply(values, resettingOthers: resetOthers, allOrNothing: false)
        if resetOthers || !answer.applied.isEmpty { processes.noteChange() }
        try target.show(Applied(answer: answer, leftOut: leftOut), of: program, as: format) {
            counted(answer.applied.count, "tweak was", "tweaks were") + " set"
                + (resetOthers ? ", all others have their defaults" : "")
        }
        try program.reportIneffective(answer.ineffective)
        for key in answer.clamped {
            warn("\(key): the value was outside the limits and has been clamped", .clamped, key)
        }
        let problems =
            leftOut.map { "\($0.entry): \($0.reason)" }
            + answer.unknown.map { "\($0): no such tweak" } + answer.refused.map(\.message)
        guard problems.isEmpty else {
            throw Failure(
                counted(problems.count, "value was", "values were") + " not applied", details: problems,
                .invalid)
        }
    }
}

/// The JSON form of the result. Scripts rely on its keys.
private struct Applied: Encodable {
    let answer: SetManyTweaks.Answer
    let leftOut: [ImportedOverrides.Problem]

    private struct Entry: Encodable {
        let entry: String
        let message: String
    }

    private enum CodingKeys: CodingKey { case leftOut }

    func encode(to encoder: any Encoder) throws {
        try answer.encode(to: encoder)
        guard !leftOut.isEmpty else { return }
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(
            leftOut.map { Entry(entry: $0.entry, message: $0.reason) }, forKey: .leftOut)
    }
}
