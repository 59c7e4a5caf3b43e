// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A program without tweaks, some variables of which are adopted, changed, and made the initializers in its source.
private struct BakedVariables {
    private let program: BareProgram
    private let source: String
    private let compile: (String, String, TemporaryDirectory) throws -> Void

    init(
        _ text: String, in file: String,
        _ compile: @escaping (String, String, TemporaryDirectory) throws -> Void
    ) throws {
        self.compile = compile
        program = try BareProgram(named: "plain", text, in: file, compile: compile)
        source = program.home(file)
    }

    /// Starts the program, gives variables other values, and bakes these.
    ///
    /// - Returns: What the command said, and the new source.
    func baked(_ values: KeyValuePairs<String, String>) throws -> (result: CommandResult, source: String) {
        for (name, _) in values {
            let adopted = try program.command(["adopt", program.path, name])
            try #require(adopted.succeeded, "\(adopted.error)")
        }
        try program.start()
        for (name, value) in values {
            let set = try program.tweak("set", name, value)
            #expect(set.succeeded, "\(set.error)")
        }
        // The compiler ran elsewhere.
        let result = try program.tweak("bake", "--write", "--from", program.home.path)
        program.end()
        return (result, try String(contentsOfFile: source, encoding: .utf8))
    }

    /// Builds the program from its new source, and waits until it prints its values.
    func rebuilt(_ values: String) throws {
        try compile(source, program.path, program.home)
        try program.start()
        program.expect(values)
    }
}

@Suite struct `Baked parts and variables` {
    @Test func `A rebuilt program in C has the new parts`() throws {
        let text = """
            #include <stdio.h>
            #include <unistd.h>
            struct pid { double kp, ki; int gains[3]; };
            volatile struct pid pid = {.kp = 1.5, .ki = 0.25, .gains = {1, 2, 3}}, rest = {1.5, 2};
            volatile struct pid plain = {1.5, 2};
            volatile double table[4] = {1, 2.5, 3, 4};
            volatile int matrix[2][2] = {{1, 2}, {3, 4}};
            int main(void) {
              for (;;) {
                printf("%g %g %d %g %g %d %g %g\\n", pid.kp, pid.ki, pid.gains[2], table[1], table[3], matrix[1][0], rest.ki, plain.ki);
                fflush(stdout);
                usleep(1000);
              }
            }

            """
        let variables = try BakedVariables(text, in: "bare.c") { source, path, home in
            try Compiler.gcc.compile([source], to: path, ["-g", "-O2"], home: home)
        }
        let (result, source) = try variables.baked([
            "pid.kp": "3.25", "pid.gains[2]": "33", "table[1]": "0.1", "matrix[1][0]": "30", "rest.ki": "4",
            "plain.ki": "5",
        ])
        #expect(result.status == 65)
        #expect(
            result.error.contains(
                "rest.ki is skipped: its initializer does not name all members; write .ki = there\n"))
        #expect(
            source
                == text.replacing(".kp = 1.5", with: ".kp = 3.25").replacing("{1, 2, 3}", with: "{1, 2, 33}")
                .replacing("{1, 2.5,", with: "{1, 0.1,").replacing("{3, 4}", with: "{30, 4}")
                .replacing("plain = {1.5, 2}", with: "plain = {1.5, 5}"))
        try variables.rebuilt("3.25 0.25 33 0.1 4 30 2 5")
    }

    @Test func `A rebuilt program in Swift has the new variables`() throws {
        let text = """
            import Glibc
            nonisolated(unsafe) var gravity = 9.81
            @main enum Tuning {
                nonisolated(unsafe) static var gain: Float = 2.5
                nonisolated(unsafe) static var count = 7
                nonisolated(unsafe) static var product = 2.0 * 3
                static func main() {
                    while true {
                        print(gravity, gain, count, product)
                        fflush(nil)
                        usleep(1000)
                    }
                }
            }

            """
        let variables = try BakedVariables(text, in: "bare.swift") { source, path, home in
            let result = try run(
                Locations.program("swiftc"),
                ["-parse-as-library", "-g", "-Onone", source, "-o", path, "-Xlinker", "--build-id"],
                home: home
            )
            try #require(result.succeeded, "\(result.error)")
        }
        let (result, source) = try variables.baked([
            "gravity": "1.62", "gain": "0.1", "count": "-8", "product": "7",
        ])
        #expect(result.status == 65)
        #expect(result.error.contains("product is skipped: its default is an expression: 2.0 * 3\n"))
        #expect(
            source
                == text.replacing("9.81", with: "1.62").replacing("Float = 2.5", with: "Float = 0.1")
                .replacing("count = 7", with: "count = -8"))
        try variables.rebuilt("1.62 0.1 -8 6.0")
    }
}
