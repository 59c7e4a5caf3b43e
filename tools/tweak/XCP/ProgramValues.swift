// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import TweakClient
import TweakGenerators
import TweakJSON
import TweakProtocol
import TweakRecords
import TweakXCP

/// The values of a running program, for clients of XCP.
struct ProgramValues: XCPValues {
    private let program: LiveProgram
    private let objects: [A2LFile.Object]

    /// - Parameter objects: The places of the values, in the order of the session's memory.
    init(_ program: LiveProgram, _ objects: [A2LFile.Object]) {
        (self.program, self.objects) = (program, objects)
    }

    func bytes(of object: Int) throws(XCPError) -> [UInt8] {
        let described = objects[object].declaration
        let tweak = try reporting { () throws(Failure) in try program.tweak(described.key) }
        // Another declaration of the tweak, of another type, may have come first.
        guard let tweak, tweak.declaration.type == described.type, let value = tweak.value else {
            throw .accessDenied
        }
        return Array(described.slot(of: value).prefix(described.type.byteCount))
    }

    func change(_ object: Int, to bytes: [UInt8]) throws(XCPError) {
        let described = objects[object].declaration
        let key = described.key
        let value = bytes.span.bytes.value(
            at: 0, described.type, .native, isOptional: described.isOptional)
        guard let value else { throw .malformed }
        let (answer, changed) = try reporting { () throws(Failure) in
            let change = ChangeTweaks.Change(tweak: "\(key)", value: JSONValue(value))
            let answer = try program.change(ChangeTweaks([change], exactNames: true, describing: true))
            return (answer, try program.tweaks(of: answer))
        }
        if let refusal = answer.refused.first {
            Failure(refusal.message, refusal.failureKind).write()
            throw refusal.error
        }
        for change in changed {
            if change.effect.clampedTo != nil {
                warn(outsideLimits("\(key): \(value)", allowed: described.allowed), .clamped, key)
            }
            change.warnOfOthers(SetDurations())
        }
    }

    /// Writes a failure to the terminal, and makes it the answer to the client.
    private func reporting<Result>(_ body: () throws(Failure) -> Result) throws(XCPError) -> Result {
        do throws(Failure) { return try body() } catch {
            error.write()
            throw error.kind == .busy ? .busy : .unavailable
        }
    }
}

extension ChangeTweaks.Answer.Refusal {
    /// The answer to a client of XCP.
    fileprivate var error: XCPError {
        switch kind {
        case .refusedValue, .refusedTerms, .gate: .outOfRange
        case .notSettable: .writeProtected
        case .malformedName, .unknownTweak, .ambiguousName: .accessDenied
        }
    }
}
