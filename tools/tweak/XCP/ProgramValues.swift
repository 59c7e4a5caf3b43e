// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import TweakClient
import TweakGenerators
import TweakJSON
import TweakProtocol
import TweakRecords
import TweakSystem
import TweakXCP

/// The values of a running program, for clients of XCP.
struct ProgramValues: XCPValues {
    private let program: LiveProgram
    private let objects: [A2LFile.Object]
    /// The samples that are taken at each event.
    private(set) var samplings: [XCPEvent: Sampling] = [:]

    /// Samples of some objects. Each event has a connection of its own, which does nothing else.
    struct Sampling {
        fileprivate let program: LiveProgram
        fileprivate let subscription: Int
        /// The bytes of a sample.
        fileprivate let size: Int

        /// The socket, which can be read if there are samples.
        var descriptor: CInt { program.connection.descriptor }

        /// Reads the samples that have arrived.
        ///
        /// - Parameter body: Called with whole samples, see ``TakenSamples/frames``, and the number of samples that were
        ///   lost before them.
        func read(_ body: ([UInt8], Int) -> Void) throws(ConnectionError) {
            try program.connection.receive()
            while let message = try program.connection.nextMessage() {
                guard case .sampled(let samples) = message, samples.subscription == subscription else {
                    continue
                }
                let lost = samples.dropped + samples.skipped
                // If a value does not exist any more, its bytes mean nothing.
                if samples.missing.isEmpty {
                    body(samples.frames, lost)
                } else {
                    body([], lost + samples.frames.count / size)
                }
            }
        }
    }

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

    func canSample(_ object: Int) -> Bool { objects[object].declaration.canBeSampled }

    var now: Double { Duration.since1970 / .seconds(1) }

    mutating func sample(_ objects: [Int], at event: XCPEvent) throws(XCPError) {
        guard !objects.isEmpty else {
            samplings[event] = nil
            return
        }
        let described = objects.map { self.objects[$0].declaration }
        samplings[event] = try reporting { () throws(Failure) in
            guard let own = try LiveProgram(program.running, warn: warn) else {
                throw Failure("it accepts no connection for samples", about: program.title, .unavailable)
            }
            let answer = try own.ask(SampleTweaks(tweaks: described.map(\.key), rate: event.rate))
            guard answer.types == described.map({ "\($0.type)" }) else {
                throw Failure(
                    "some of its values have other types than in A2L", about: program.title, .garbled)
            }
            return Sampling(
                program: own, subscription: answer.subscription, size: 8 * (described.count + 1))
        }
    }

    /// Ends the samples of an event whose connection the program has closed.
    mutating func end(_ event: XCPEvent) { samplings[event] = nil }

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
