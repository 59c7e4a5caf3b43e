internal import CTweaks
internal import Glibc
internal import TweakOverrides
public import TweakRecords

/// The values that a process was started with.
///
/// `TWEAK_SPRING__PHYSICS__STIFFNESS=240` sets `Spring/Physics/Stiffness`: the levels are in capitals, two underscores
/// are between them, and one underscore is in the place of each run of other characters than ASCII letters and digits. `TWEAKS` has
/// many, as JSON that an overrides file could hold.
public struct EnvironmentVariables: Sendable {
    /// What the variables for one tweak each hold, by their names.
    private var texts: [ByteText: String] = [:]
    /// The tweaks that have taken them.
    private var owners: [ByteText: TweakKey] = [:]

    init() {}

    /// Reads the environment of this process.
    ///
    /// - Returns: The values in `TWEAKS`, and what is wrong with it.
    mutating func read() -> (values: [TweakKey: ProvidedValue], problem: String?) {
        // Swift's own `environ` traps after clearenv(3).
        var next = fbtweak__environment()
        while let variable = next, let text = variable.pointee {
            next = variable + 1
            // Most variables are others, so they are not made strings of.
            guard strncmp(text, "TWEAK_", 6) == 0 else { continue }
            let parts = String(cString: text).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            // Of any text there is a first part.
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

    /// Whether every tweak has to be looked at.
    var isEmpty: Bool { texts.isEmpty }

    /// What the variable of a tweak holds. A variable is for one tweak, the one that asks first.
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

    /// The name of the variable that sets a tweak. Names without any ASCII letter or digit have none of their own; `TWEAKS`
    /// can set them.
    public static func variable(for key: TweakKey) -> String { key.environmentVariable }
}
