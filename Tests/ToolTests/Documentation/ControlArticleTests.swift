// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `The article about the protocol` {
    private static let article = Locations.package + "/Sources/Library/Tweaks/Tweaks.docc/ControlProtocol.md"

    /// The blocks of a language.
    private func blocks(_ language: String) throws -> [String] {
        let text = try String(contentsOfFile: Self.article, encoding: .utf8)
        return text.components(separatedBy: "```\(language)\n").dropFirst()
            .compactMap { $0.components(separatedBy: "\n```").first }
    }

    @Test func `Its client shows tweaks, sets one and reports changes`() throws {
        let program = try LiveProgram()
        let source = try program.home.write("client.py", try #require(try blocks("python").first) + "\n")
        let python = try Locations.program("python3")
        let id = "\(program.process.processID)"
        _ = try program.connect()

        let client = try start(
            python, [source, id, LiveProgram.text, "bonjour"], home: program.home,
            environment: ["PYTHONIOENCODING": "utf-8"])
        defer { client.kill() }
        #expect(waitUntil { client.written.output.contains("Live/Values/Text run → bonjour\n") })
        for line in ["Live/Values/Step = 0\n", "Live/Values/Text = run\n"] {
            #expect(client.written.output.contains(line))
        }
        let other = try program.connect()
        _ = try other.request("set", ["tweak": LiveProgram.step, "value": 4])
        #expect(waitUntil { client.written.output.hasSuffix("Live/Values/Step 0 → 4\n") })
        // It is answered before it is written, and whoever replaces the file then takes turns with nobody.
        let overrides = program.home("config/tweaks/live-program/overrides.json")
        #expect(try waitUntil { try String(contentsOfFile: overrides, encoding: .utf8).contains(" : 4") })
        #expect(try program.end().isEmpty)
        #expect(client.wait().error == "the program has ended\n")
    }

    @Test func `Its client may sample during requests`() throws {
        let program = try LiveProgram()
        let source = try #require(try blocks("python").first)
        let definition = try #require(source.components(separatedBy: "\nprogram = ").first)
        let sampling = """

            program = Program(sys.argv[1])
            program.ask("sample", tweaks=["\(LiveProgram.step)"], rate=1000)
            for number in range(300):
                program.ask("set", tweak="\(LiveProgram.step)", value=number % 5)
            methods = {program.wait()["method"] for _ in range(10)}
            print(methods)

            """
        let file = try program.home.write("sampling.py", definition + sampling)
        _ = try program.connect()
        let result = try run(
            Locations.program("python3"), [file, "\(program.process.processID)"], home: program.home)
        #expect(result.output == "{'samples'}\n", "\(result.error)")
    }

    @Test func `Each of its requests is valid for a program`() throws {
        let program = try LiveProgram()
        let client = try program.connect()
        for line in try blocks("json").flatMap({ $0.split(separator: "\n") }) {
            let message = try #require(
                try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
            guard let id = message["id"] as? Int, message["method"] != nil else { continue }
            try client.send(line: String(line))
            // The program has other tweaks; what is asked for is understood.
            let code = try client.answer(to: id).errorCode
            #expect(code == nil || code == 1 || id == 15 && code == 6, "\(line)")
        }
    }
}
