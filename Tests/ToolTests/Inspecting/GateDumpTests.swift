// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `Gates in binaries` {
    private let home: TemporaryDirectory

    init() throws { home = try TemporaryDirectory() }

    private func object(_ lines: String...) throws -> String {
        let source = try home.write(
            "motor.c", (["#include <fbtweak.h>"] + lines).joined(separator: "\n") + "\n")
        let path = home("motor.o")
        _ = try Compiler.gcc.compile([source], to: path, ["-c", "-DDEBUG", "-std=gnu11"], home: home)
        return path
    }

    private static let gate = #"void pass(void) { FBTweakGate("Motor", "PID"); }"#
    private static let tweak =
        #"double p(void) { return FBTweakValue("Motor", "PID", "P", 1.0, FBTweakDescription("Gain")); }"#

    @Test func `They are listed below the tweaks`() throws {
        let result = try dump([object(Self.gate, Self.tweak)], home: home)
        #expect(result.status == 0 && result.error.isEmpty)
        #expect(result.lines.last == "  gate Motor/PID, 64 stores, at motor.c:2")
        #expect(
            try !dump(["--type", "int32", object(Self.gate, Self.tweak)], home: home).output.contains("gate"))
    }

    @Test func `They have a list of their own in JSON`() throws {
        let json = try dump(["--format", "json", object(Self.gate, Self.tweak)], home: home).json
        let image = try #require((json["images"] as? [[String: Any]])?.first)
        #expect((image["tweaks"] as? [Any])?.count == 1)
        let gate = try #require((image["gates"] as? [[String: Any]])?.first)
        #expect(gate["gate"] as? String == "Motor/PID" && gate["capacity"] as? Int == 64)
        #expect((gate["location"] as? String)?.hasSuffix("motor.c:2") == true)
    }

    @Test func `Two gates of one name are found, and one without tweaks`() throws {
        let good = try dump(["--lint", object(Self.gate, Self.tweak)], home: home)
        #expect(good.status == 0 && good.output.isEmpty)
        let twice = try dump(
            ["--lint", object(Self.gate, Self.gate.replacing("pass", with: "again"), Self.tweak)], home: home)
        #expect(twice.status == 65)
        #expect(twice.output.contains(": Motor/PID: a gate at "))
        #expect(twice.output.hasSuffix("motor.c:3; the first one is used [severalGates]\n"))
        let idle = try dump(
            ["--lint", object(Self.gate.replacing("PID", with: "Old"), Self.tweak)], home: home)
        #expect(idle.status == 65)
        #expect(idle.output.contains(": Motor/Old: no tweak is below the gate at "))
        #expect(idle.output.hasSuffix("motor.c:2 [idleGate]\n"))
    }

    @Test func `A release has none`() throws {
        let result = try dump(["--forbid", object(Self.gate)], home: home)
        #expect(result.status == 1 && result.output.contains("the gate Motor/PID, declared at "))
    }
}
