// SPDX-License-Identifier: BSD-3-Clause
internal import TweakJSON
package import TweakOverrides
internal import TweakProtocol
internal import TweakRecords

extension AdoptedFile {
    /// The builds that are kept; older ones are forgotten.
    private static let mostBuilds = 64

    /// Changes the variables of builds.
    ///
    /// - Throws: ``OverridesError``, also if the file is corrupt, and the error of `change`; then it is unchanged.
    package func update(_ change: (inout AdoptedBuilds) throws(OverridesError) -> Void) throws(OverridesError)
    {
        try file.makeDirectories()
        try file.withLock { () throws(OverridesError) in
            var adopted = try load()
            try change(&adopted)
            adopted.builds = Array(adopted.builds.prefix(Self.mostBuilds))
            guard let json = try? adopted.json.json(isPretty: true) else {
                throw .system(action: "write", path: path, reason: "its content has no JSON form")
            }
            try file.replace(with: OverridesDocument.readable(json + [UInt8(ascii: "\n")], path))
        }
    }
}

extension AdoptedBuilds {
    /// Changes the variables of a build, which becomes the first one.
    package mutating func update(
        build: String, of program: String, _ change: (inout [AdoptedVariable]) -> Void
    ) {
        var variables = self[build] ?? []
        change(&variables)
        builds.removeAll { $0.buildID == build }
        guard !variables.isEmpty else { return }
        builds.insert(AdoptedBuild(buildID: build, program: program, variables: variables), at: 0)
    }

    fileprivate var json: JSONValue {
        get throws {
            var elements: [JSONValue] = []
            for build in builds { elements.append(try build.json) }
            return .object([ByteText("builds"): .array(elements)])
        }
    }
}

extension AdoptedBuild {
    fileprivate var json: JSONValue {
        get throws {
            var elements: [JSONValue] = []
            for variable in variables { elements.append(try variable.json) }
            var members: JSONObject = [:]
            members["buildID"] = .scalar(.string(buildID))
            members["program"] = .scalar(.string(program))
            members["variables"] = .array(elements)
            return .object(members)
        }
    }
}

extension AdoptedVariable {
    fileprivate var json: JSONValue {
        get throws {
            var members: JSONObject = [:]
            members["address"] = .scalar(.integer(Int128(address)))
            members["tweak"] = try JSONParser.value(of: tweak.json())
            members["variable"] = .scalar(.string(variable))
            return .object(members)
        }
    }
}
