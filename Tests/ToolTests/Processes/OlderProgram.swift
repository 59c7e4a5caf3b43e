// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// A program in C that came from an older system, and the command `tweak` for it.
final class OlderProgram {
    let home: TemporaryDirectory
    let path: String
    private var process: RunningCommand?

    private static let source = """
        #include <fbtweak.h>
        #include <stdio.h>
        #include <unistd.h>

        int main(void) {
          double mass = FBTweakValue("Spring-2", "Physics", "Mass", 1.0, 0.0, 100.0);
          int stiffness = FBTweakValue("Spring-2", "Physics", "Stiffness", 120);
          bool trail = FBTweakValue("Spring-2", "Physics", "Trail", false);
          const char *glyph = FBTweakValue("Spring-2", "Physics", "Glyph", "o");
          fbtweak_color ink = FBTweakValue("Spring-2", "Physics", "Ink", FBTweakRGBA(0, 0, 0, 255));
          bool awesome = FBTweakFeature("awesome", true);
          bool stereo = FBTweakFeaturePart("awesome", "sound/stereo", false);
          int answer = FBTweakValue("Features", "general", "answer", 1);
          int other = FBTweakValue("Features", "other", "answer", 1);
          printf("%g %d %d %s %d %d %d %d %d\\n", mass, stiffness, trail, glyph, ink.red, awesome, stereo, answer, other);
          fflush(stdout);
          pause();
        }

        """

    /// - Parameters:
    ///   - state: Whether the program runs.
    ///   - variables: A file of JustTweak that it has its values from.
    init(_ state: ProgramState, variables: String? = nil) throws {
        home = try TemporaryDirectory()
        path = home("older")
        if let variables {
            try home.write("variables.json", variables)
            try home.write("older.tweaks.json", #"{ "providers": [ { "variables": ["variables.json"] } ] }"#)
        }
        try Compiler.gcc.compile(
            [try home.write("older.c", Self.source)], to: path, ["-DDEBUG"], home: home)
        guard state == .running else { return }
        try FileManager.default.createDirectory(
            atPath: home("runtime"), withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
        let process = try start(
            path, home: home,
            environment: ["LD_PRELOAD": Installation.path("lib/libtweaks.so.0"), "TWEAKS_WATCH": "0"])
        self.process = process
        let socket = home("runtime/tweaks/\(process.processID).sock")
        #expect(waitUntil { FileManager.default.fileExists(atPath: socket) })
    }

    deinit {
        process?.kill()
        _ = process?.wait()
    }

    /// Runs the command on the program: `tweak("get", "Mass")` is `tweak get PROGRAM Mass`.
    func tweak(_ command: String, _ arguments: String...) throws -> CommandResult {
        try tweak(command, arguments)
    }

    func tweak(_ command: String, _ arguments: [String]) throws -> CommandResult {
        let program = process.map { "\($0.processID)" } ?? path
        return try run(Locations.product("tweak"), [command, program] + arguments, home: home)
    }

    /// What is set, sorted by name.
    func values() throws -> [String] {
        let tweaks = try tweak("list", "--format", "json").json["tweaks"] as? [[String: Any]] ?? []
        return tweaks.compactMap { tweak in
            guard tweak["source"] as? String == "override", let name = tweak["tweak"],
                let value = tweak["value"]
            else { return nil }
            return "\(name)=\(value)"
        }.sorted()
    }

    /// Writes a file of the older system, and has the command import it.
    func importing(_ content: Data, _ arguments: String...) throws -> CommandResult {
        let program = process.map { "\($0.processID)" } ?? path
        let file = try home.write("older.plist", content)
        return try run(
            Locations.product("tweak"), ["import"] + arguments + [program, file], home: home)
    }
}

/// A form of the user's defaults.
enum DefaultsForm: String, CaseIterable, CustomTestStringConvertible {
    case xml, binary, json

    var testDescription: String {
        switch self {
        case .xml: "a property list in XML"
        case .binary: "a binary property list"
        case .json: "JSON"
        }
    }

    func data(_ defaults: [String: Any]) throws -> Data {
        guard self != .json else { return try JSONSerialization.data(withJSONObject: defaults) }
        return try PropertyListSerialization.data(
            fromPropertyList: defaults, format: self == .xml ? .xml : .binary, options: 0)
    }
}
