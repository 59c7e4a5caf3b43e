// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// The command `tweak generate` in a directory of its own.
struct Generating {
    let home: TemporaryDirectory
    /// The working directory of the command.
    var directory: String { home("work") }

    init(features: String? = nil) throws {
        home = try TemporaryDirectory()
        try FileManager.default.createDirectory(atPath: home("work"), withIntermediateDirectories: true)
        if let features { try write("features.json", features) }
    }

    /// With accessors in a language for features that have awkward names.
    init(accessorsIn language: String) throws {
        try self.init(features: Self.awkwardFeatures)
        let result = try generate("accessors", "--language", language)
        try #require(result.succeeded, "\(result.error)")
    }

    @discardableResult
    func write(_ name: String, _ text: String) throws -> String { try home.write("work/\(name)", text) }

    /// Runs `tweak generate`.
    func generate(_ arguments: String...) throws -> CommandResult {
        try run(Locations.product("tweak"), ["generate"] + arguments, home: home, in: directory)
    }

    func text(_ name: String) throws -> String { try String(contentsOfFile: path(name), encoding: .utf8) }

    func path(_ name: String) -> String { "\(directory)/\(name)" }

    /// All files in the directory, sorted.
    func files() throws -> [String] {
        try FileManager.default.subpathsOfDirectory(atPath: directory).sorted()
    }

    /// When a file was changed.
    func changeTime(_ name: String) throws -> Date? {
        try FileManager.default.attributesOfItem(atPath: path(name))[.modificationDate] as? Date
    }

    /// A property list as text with sorted keys, to be compared.
    func propertyList(_ name: String) throws -> NSDictionary? {
        let data = try Data(contentsOf: URL(fileURLWithPath: path(name)))
        return try PropertyListSerialization.propertyList(from: data, format: nil) as? NSDictionary
    }

    /// Features with names and descriptions that are hard for code.
    static let awkwardFeatures = #"""
        {
          "default": {
            "awesome": {
              "enabled": true, "description": "Ends */ and /* begins // \"quotes\" ??/\n\n\tand \\(x) \\\nin lines.\n",
              "sound": { "enabled": true, "stereo": { "enabled": false, "description": "" } }
            },
            "HTTPProxy_v2": { "enabled": false }, "a-b": { "enabled": true }, "class": { "enabled": true },
            "1st": { "enabled": true }, "功能": { "enabled": true, "description": "中文 \u202e 描述" },
            "e\u0301tat": { "enabled": true, "%d%n\"": { "enabled": true } },
            "x": { "enabled": true, "beta": { "enabled": true } }, "y": { "enabled": false, "beta": { "enabled": true } },
            "कि": { "enabled": true }, "straße": { "enabled": true }, "\u2126": { "enabled": true }, "한": { "enabled": true },
            "init": { "enabled": true }, "self": { "enabled": true }, "Type": { "enabled": true }, "_lead": { "enabled": true, "z": { "enabled": true } }
          }
        }
        """#
}
