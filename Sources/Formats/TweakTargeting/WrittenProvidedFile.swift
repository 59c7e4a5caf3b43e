// SPDX-License-Identifier: BSD-3-Clause
internal import TweakJSON
package import TweakOverrides
package import TweakRecords
internal import TweakSystem

// Not in the same module as reading, so that the library, which only reads these files, does not contain it.

extension ProvidedFile {
    /// The file as JSON for people, sorted by name, with a newline at the end. ``init(json:path:)`` reads it.
    package func json() -> [UInt8] {
        var root: JSONObject = ["values": .object(values.root)]
        let texts = [("from", from), ("loaded", loaded), ("checked", checked), ("problem", problem)]
        for (name, text) in texts {
            if let text { root[name] = .scalar(.string(text)) }
        }
        if !failure.isEmpty { root["failure"] = .object(failure) }
        if let version { root["version"] = .scalar(.integer(Int128(version))) }
        if !reasons.isEmpty { root["reasons"] = .object(reasons) }
        if !kills.root.isEmpty { root["kills"] = .object(kills.root) }
        if !killReasons.isEmpty { root["killReasons"] = .object(killReasons) }
        return JSONValue.object(root).json(isPretty: true) + [UInt8(ascii: "\n")]
    }

    /// Writes the file, readable by everybody. Call it with the lock of its directory held.
    package func write(to path: String) throws(OverridesError) {
        do throws(FileError) {
            try FileReplacement.replace(path, with: json(), permissions: 0o644, isLocked: true)
        } catch { throw OverridesError(error) }
    }

    /// Sets the value of a tweak, and its reason.
    package mutating func set(_ value: TweakValue, for key: TweakKey, because reason: String? = nil) {
        values.set(value, for: key)
        reasons[key.description] = reason.map { .scalar(.string($0)) }
    }
}
