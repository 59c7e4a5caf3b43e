// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Testing

@Suite struct `A failure of a command` {
    @Test(
        arguments: [
            (Failure.Kind.usage, 64), (.invalid, 65), (.missing, 66), (.unavailable, 69), (.failed, 70),
            (.system, 71), (.cannotCreate, 73), (.inputOutput, 74), (.busy, 75), (.garbled, 76),
            (.forbidden, 77),
            (.misconfigured, 78), (.negative, 1), (.notExecutable, 126), (.notFound, 127),
        ] as [(Failure.Kind, Int32)])
    func `ends it with the matching status of sysexits.h`(kind: Failure.Kind, status: Int32) {
        #expect(Failure("", kind).exitCode == status)
    }

    @Test func `is about the given path unless its error says otherwise`() {
        struct Unclassified: Error, CustomStringConvertible { let description = "no number" }
        #expect(Failure(Unclassified()).kind == .invalid)
        #expect(Failure(Unclassified()).message == "no number")
    }
}
