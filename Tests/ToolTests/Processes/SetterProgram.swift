// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// The program `tweak-setter` and the command `tweak` with a home of their own.
struct SetterProgram {
    let home: TemporaryDirectory
    static let path = Locations.product("tweak-setter")

    init() throws { home = try TemporaryDirectory() }

    var overridesPath: String { home("config/tweaks/tweak-setter/overrides.json") }

    /// Runs the program.
    func setter(_ arguments: String..., environment: [String: String] = [:]) throws -> CommandResult {
        try run(Self.path, arguments, home: home, environment: environment)
    }

    /// Makes a copy of the program, for another user: commands on the program report the processes of other users, and so
    /// would those of the tests beside this one.
    func copy() throws -> String {
        let path = home("tweak-setter")
        try FileManager.default.copyItem(atPath: Self.path, toPath: path)
        return path
    }

    /// Runs the command on the program: `tweak("get", "A/B/C")` is `tweak get PROGRAM A/B/C`.
    func tweak(_ command: String, _ arguments: String..., environment: [String: String] = [:]) throws
        -> CommandResult
    {
        try run(
            Locations.product("tweak"), [command, Self.path] + arguments, home: home, environment: environment
        )
    }

    /// Writes the overrides file.
    @discardableResult
    func writeOverrides(_ data: Data) throws -> String {
        try home.write("config/tweaks/tweak-setter/overrides.json", data)
    }

    /// The overrides, as `[category: [collection: [name: value]]]`.
    func overrides() throws -> [String: [String: [String: Int]]] {
        let data = try Data(contentsOf: URL(fileURLWithPath: overridesPath))
        return try #require(
            JSONSerialization.jsonObject(with: data) as? [String: [String: [String: Int]]])
    }

    /// The names of the files beside the overrides, sorted.
    func names() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: home("config/tweaks/tweak-setter")).sorted()
    }
}

extension CommandResult {
    var errorLines: [Substring] { error.split(separator: "\n") }
}
