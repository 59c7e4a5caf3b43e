// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
internal import Glibc
internal import TweakOverrides
public import TweakRecords

/// The values in the environment at the start of the process.
///
/// `TWEAK_SPRING__PHYSICS__STIFFNESS=240` sets `Spring/Physics/Stiffness`: the levels are in capitals and separated by
/// two underscores, and one underscore replaces each run of characters other than ASCII letters and digits. `TWEAKS`
/// can hold many values, as the JSON of an overrides file.
public struct EnvironmentVariables: Sendable {
    /// The values of the variables for single tweaks, by name.
    private var texts: [ByteText: String] = [:]
    /// The tweaks that have claimed them.
    private var owners: [ByteText: TweakKey] = [:]

    init() {}

    /// Reads the environment of this process.
    ///
    /// - Returns: The values in `TWEAKS`, and the reason if it is invalid.
    mutating func read() -> (values: [TweakKey: ProvidedValue], problem: String?) {
        // Swift's own `environ` traps after clearenv(3).
        var next = fbtweak__environment()
        while let variable = next, let text = variable.pointee {
            next = variable + 1
            // Most variables are unrelated, so they are compared as bytes without creating strings.
            guard strncmp(text, "TWEAK_", 6) == 0 else { continue }
            let parts = String(cString: text).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            // Splitting always yields a first part.
            texts[ByteText(String(parts[0]))] = parts.count == 2 ? String(parts[1]) : ""
        }
        guard let json = getenv("TWEAKS") else { return ([:], nil) }
        do throws(OverridesError) {
            return (
                try OverridesDocument(json: Array(String(cString: json).utf8), path: "TWEAKS").provided, nil
            )
        } catch {
            return ([:], "the environment variable \(error)")
        }
    }

    /// Whether there are no variables for single tweaks.
    var isEmpty: Bool { texts.isEmpty }

    /// The value of a tweak's variable. A variable belongs to the first tweak that claims it.
    mutating func claim(_ key: TweakKey, _ messages: inout [String]) -> String? {
        guard !texts.isEmpty else { return nil }
        let name = ByteText(Self.variable(for: key))
        guard let text = texts[name] else { return nil }
        let owner = owners[name] ?? key
        owners[name] = owner
        guard owner == key else {
            messages.append("\(key): \(name.text) is the variable of \(owner); TWEAKS can set both")
            return nil
        }
        return text
    }

    /// The name of the variable that sets a tweak. Names without any ASCII letter or digit have no variable; `TWEAKS`
    /// can set them.
    public static func variable(for key: TweakKey) -> String { key.environmentVariable }
}
