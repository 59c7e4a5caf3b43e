// SPDX-License-Identifier: BSD-3-Clause
internal import TweakJSON
package import TweakOverrides
internal import TweakProtocol
internal import TweakRecords

extension AdoptedFile {
    /// The builds that are kept; older ones are forgotten.
    private static let mostBuilds = 16

    /// Changes the variables of a build.
    ///
    /// - Throws: ``OverridesError``, also if the file is corrupt; then it is unchanged.
    package func update(
        build: String, of program: String, _ change: (inout [AdoptedVariable]) -> Void
    ) throws(OverridesError) {
        try file.makeDirectories()
        try file.withLock { () throws(OverridesError) in
            var builds = try load().builds
            var variables = builds.first { $0.buildID == build }?.variables ?? []
            change(&variables)
            builds.removeAll { $0.buildID == build }
            if !variables.isEmpty {
                builds.insert(AdoptedBuild(buildID: build, program: program, variables: variables), at: 0)
            }
            let adopted = AdoptedBuilds(builds: Array(builds.prefix(Self.mostBuilds)))
            guard let json = try? adopted.json.json(isPretty: true) else {
                throw .system(action: "write", path: path, reason: "its content has no JSON form")
            }
            try file.replace(with: OverridesDocument.readable(json + [UInt8(ascii: "\n")], path))
        }
    }
}

extension AdoptedBuilds {
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
            members["tweak"] = try decodeJSON(from: encodeJSON(tweak))
            members["variable"] = .scalar(.string(variable))
            return .object(members)
        }
    }
}
