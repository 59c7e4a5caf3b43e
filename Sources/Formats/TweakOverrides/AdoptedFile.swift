// SPDX-License-Identifier: BSD-3-Clause
internal import TweakJSON
package import TweakProtocol
internal import TweakRecords
internal import TweakSystem

/// The variables of an application that a person has made tweaks of, in a file beside its overrides.
///
///     { "builds": [ { "buildID": "5f3c…", "program": "/usr/bin/game", "variables": [
///       { "address": 16616, "variable": "physics.c:gravity", "tweak": { "category": "Variables", … } } ] } ] }
///
/// An address is only right for one build, so the variables are those of a build id.
package struct AdoptedFile: Sendable {
    /// The path: `adopted.json` beside the overrides.
    package let path: String
    package var file: KeptFile { KeptFile(path: path) }

    package static let name = "adopted.json"

    /// The file of an application.
    ///
    /// - Throws: ``OverridesError/noDirectory(reason:)``.
    package init(application: String) throws(OverridesError) {
        path = try OverridesFile(application: application).directory + "/" + Self.name
    }

    /// Reads the file. One that does not exist has no variables.
    ///
    /// - Throws: ``OverridesError``.
    package func load() throws(OverridesError) -> AdoptedBuilds {
        guard let bytes = try file.read() else { return AdoptedBuilds() }
        let root = try OverridesDocument.object(json: bytes, path: path)
        return try AdoptedBuilds(root, JSONPlace(path: path))
    }

    /// Whether the file exists. It takes one system call.
    package var exists: Bool { isAccessible(path) }

    /// Reads the file for a process that stores values at its addresses. At most root and the user of this process may
    /// be able to write it, so that nobody else chooses the addresses.
    ///
    /// - Throws: ``OverridesError``.
    package func loadTrusted() throws(OverridesError) -> AdoptedBuilds {
        guard exists else { return AdoptedBuilds() }
        let builds = try load()
        try file.checkWriters()
        return builds
    }
}

/// The adopted variables of all builds of an application, the last changed first.
package struct AdoptedBuilds: Sendable {
    package var builds: [AdoptedBuild]

    package init(builds: [AdoptedBuild] = []) { self.builds = builds }

    /// The variables of a build, by its build id or checksum in hexadecimal digits; `nil` if none has been adopted.
    package subscript(buildID: String) -> [AdoptedVariable]? {
        builds.first { $0.buildID == buildID }?.variables
    }
}

/// The adopted variables of an executable or library.
package struct AdoptedBuild: Sendable {
    /// The build id in hexadecimal digits, or if it has none the checksum of the file, of eight digits.
    package var buildID: String
    /// The path it had.
    package var program: String
    package var variables: [AdoptedVariable]

    package init(buildID: String, program: String, variables: [AdoptedVariable]) {
        (self.buildID, self.program, self.variables) = (buildID, program, variables)
    }
}

/// A variable that a person has made a tweak of. A class, because copies of a large structure take much code.
package final class AdoptedVariable: Sendable {
    /// The name in the source, such as `physics.c:gravity` or `player.speed`.
    package let variable: String
    /// The address in the file, before relocation.
    package let address: UInt64
    package let tweak: JSONTweak

    package init(variable: String, address: UInt64, tweak: JSONTweak) {
        (self.variable, self.address, self.tweak) = (variable, address, tweak)
    }
}

// MARK: - JSON

// Not Codable, whose conformances would be a hundredth of the library.

extension AdoptedBuilds {
    fileprivate init(_ root: JSONObject, _ place: JSONPlace<OverridesError>) throws(OverridesError) {
        builds = try place.inside("builds").array(root["builds"] ?? .null, "an array") {
            (place, build) throws(OverridesError) in
            try AdoptedBuild(build, place)
        }
    }
}

extension AdoptedBuild {
    fileprivate init(_ value: JSONValue, _ place: JSONPlace<OverridesError>) throws(OverridesError) {
        let members = try place.object(value)
        buildID = try place.inside("buildID").text(members["buildID"] ?? .null)
        program = try place.inside("program").text(members["program"] ?? .null)
        variables = try place.inside("variables").array(members["variables"] ?? .null, "an array") {
            (place, variable) throws(OverridesError) in
            try AdoptedVariable(variable, place)
        }
    }
}

extension AdoptedVariable {
    fileprivate convenience init(
        _ value: JSONValue, _ place: JSONPlace<OverridesError>
    ) throws(OverridesError) {
        let members = try place.object(value)
        let variable = try place.inside("variable").text(members["variable"] ?? .null)
        guard case .scalar(.integer(let number))? = members["address"], let address = UInt64(exactly: number)
        else { throw place.inside("address").unexpected(members["address"], "an address") }
        let tweak: JSONTweak
        do throws(JSONError) { tweak = try JSONTweak(json: members["tweak"] ?? .null) } catch {
            throw place.inside("tweak").invalid("\(error)")
        }
        self.init(variable: variable, address: address, tweak: tweak)
    }
}
