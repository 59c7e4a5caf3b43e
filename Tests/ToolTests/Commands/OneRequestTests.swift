// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// What commands ask a program, counted on the way.
@Suite struct `One request changes everything` {
    private let setter: RunningSetter
    private let endpoint: FakeEndpoint
    private let asked = Locked<[String]>([])

    init() throws {
        let setter = try RunningSetter()
        let client = Locked<ControlClient>(try ControlClient(setter.socketPath))
        self.setter = setter
        endpoint = try FakeEndpoint(setter.program) { [asked] line in
            guard
                let request = try? JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any],
                let method = request["method"] as? String,
                var answer = try? client.withLock({
                    try $0.request(method, request["params"] as? [String: Any] ?? [:]).message
                })
            else { return .end }
            asked.withLock { $0.append(method) }
            answer["id"] = request["id"]
            return .line(
                String(
                    decoding: (try? JSONSerialization.data(withJSONObject: answer)) ?? Data(), as: UTF8.self))
        }
    }

    /// The methods that a command uses.
    ///
    /// - Parameter words: The command line, in which `PID` is the program.
    private func methods(_ words: [String], environment: [String: String]) throws -> [String] {
        asked.withLock { $0 = [] }
        let result = try setter.program.command(
            words.map { $0 == "PID" ? "\(getpid())" : $0 }, environment: environment)
        #expect(result.status == 0, "\(words): \(result)")
        return asked.withLock { $0 }
    }

    @Test func `of every command that sets`() throws {
        defer { endpoint.stop() }
        let home = setter.home
        try home.write("values.json", #"{"Setter": {"Values": {"Count": 3, "Ratio": 0.25}}}"#)
        let editor = try home.write(
            "editor", "#!/bin/sh\nsed -i -e 's/\"Count\" : [0-9]*/\"Count\" : 4/' -e '/\"Flag\"/d' \"$1\"\n")
        try #require(chmod(editor, 0o755) == 0)
        let commands = [
            (["set", "PID", "Count", "5"], []), (["set", "PID", "Count=6", "Ratio=0.5", "Flag=toggle"], []),
            (["reset", "PID", "Count", "Ratio"], []),
            (["set", "PID", "Setter/Values/Count", "4", "--format", "json"], []),
            (["reset", "PID", "Setter/Values/Count"], []), (["import", "PID", home("values.json")], []),
            // What is edited is shown before, and compared with what is there afterwards.
            (["edit", "PID"], ["describe", "list", "list"]),
            // The tweaks of a group are chosen from all.
            (["reset", "PID", "Setter/"], ["describe", "list"]),
            // The folder has the name of the application.
            (["preset", "load", "PID", "one", "--reset-others"], ["describe"]),
            (["reset", "PID", "--all"], []),
            (["set", "PID", "Count+=1", "--for", "20s"], []),
        ]
        try #require(setter.tweak("set", "Count", "2").succeeded)
        try #require(setter.program.command(["preset", "save", "\(setter.pid)", "one"]).succeeded)
        for (words, before) in commands {
            let methods = try methods(words, environment: ["EDITOR": editor])
            #expect(methods == before + ["change"], "\(words)")
        }
    }
}
