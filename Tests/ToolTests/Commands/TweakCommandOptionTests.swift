// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `Options of tweak` {
    private let setter: RunningSetter

    init() throws { setter = try RunningSetter() }

    @Test(arguments: [
        ["log"], ["measure", "Count"], ["plot", "Count"], ["record", "file.mcap"], ["set", "Count", "6"],
        ["sweep", "Count=1..2/2", "--measure", "last(Count)"], ["watch", "Count"],
    ])
    func `take or refuse every number`(command: [String]) throws {
        let tweak = Locations.product("tweak")
        let help = try run(tweak, [command[0], "--experimental-dump-help"], home: setter.home).json
        let description = try #require(help["command"] as? [String: Any])
        let arguments = try #require(description["arguments"] as? [[String: Any]])
        let options = arguments.compactMap { argument in
            argument["kind"] as? String == "option"
                ? (argument["preferredName"] as? [String: String])?["name"] : nil
        }
        try #require(!options.isEmpty)
        #expect(try setter.tweak("set", "Count", "5").succeeded)
        let line = [command[0], "\(setter.pid)"] + command.dropFirst()
        for option in options {
            for number in ["1e300", "inf", "\(Int.max)", "99999999999999999999999999", "-1"] {
                // Many take a number that is longer than anyone waits.
                let result = try run(
                    Locations.program("timeout"),
                    ["--signal", "KILL", "1", tweak] + line + ["--\(option)=\(number)"], home: setter.home,
                    in: setter.home.path)
                #expect(
                    result.status < 128 || result.status == 128 + SIGKILL, "\(option) \(number): \(result)")
            }
        }
    }
}
