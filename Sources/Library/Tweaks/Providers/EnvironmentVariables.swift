// SPDX-License-Identifier: BSD-3-Clause
internal import CTweakSystem
internal import CTweaks
internal import Glibc
internal import TweakOverrides
public import TweakRecords

/// The values of tweaks in the environment at the start of the process.
///
/// `TWEAK_SPRING__PHYSICS__STIFFNESS=240` sets `Spring/Physics/Stiffness`: the levels are in capitals and
/// separated by two underscores, and one underscore replaces each run of characters other than ASCII letters
/// and digits. `TWEAKS` can hold many values, as the JSON of an overrides file.
public struct EnvironmentVariables: Sendable {
    /// The values of the variables for single tweaks, by name.
    private var texts: [ByteText: String] = [:]
    /// The tweaks that have claimed the variables.
    private var owners: [ByteText: TweakKey] = [:]
    /// The process that has read the variables and has not reported unknown ones yet; `nil` if there is
    /// nothing to report.
    private var reporter: UInt32?

    init() {}

    /// Reads the environment of this process.
    ///
    /// - Returns: The values in `TWEAKS`, and the reason if it is invalid.
    mutating func read() -> (values: [TweakKey: ProvidedValue], problem: String?) {
        reporter = fbtweak__generation()
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

    /// The variables for single tweaks that no tweak has claimed, sorted.
    var unclaimed: [String] { texts.keys.filter { owners[$0] == nil }.map { $0.text }.sorted() }

    /// Whether any variable for a single tweak is unclaimed.
    var hasUnclaimed: Bool { texts.keys.contains { owners[$0] == nil } }

    /// Returns whether unknown variables are to be reported now: once, and not again by a forked child.
    mutating func beginReport() -> Bool {
        defer { reporter = nil }
        return reporter == fbtweak__generation()
    }

    /// Returns the value of a tweak's variable. A variable belongs to the first tweak that claims it.
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

    /// Returns the name of the environment variable that sets a tweak. No variable sets a tweak without any
    /// ASCII letter or digit in its name, but `TWEAKS` can.
    public static func variable(for key: TweakKey) -> String { key.environmentVariable }
}

// MARK: - Unknown variables

extension StoreState {
    /// The maximum number of messages about unknown variables.
    private static let mostUnknown = 5

    /// Returns messages about variables and values in the environment that belong to no tweak.
    func unknownInEnvironment() -> [String] {
        let values = layers[.environment].keys.filter { tweaks[$0] == nil }.sorted()
        let variables = environment.unclaimed
        guard !values.isEmpty || !variables.isEmpty else { return [] }
        let keys = tweaks.all.map { $0.key }
        let names = variables.isEmpty ? [] : keys.map { $0.environmentVariable }
        let messages =
            variables.map {
                "the environment variable \($0) sets no tweak" + didYouMean(names.nearest(to: $0))
            }
            + values.map {
                "the environment variable TWEAKS: there is no tweak \($0)"
                    + didYouMean(keys.nearest(to: $0).map { $0.description })
            }
        guard messages.count > Self.mostUnknown else { return messages }
        return messages.prefix(Self.mostUnknown)
            + ["\(messages.count - Self.mostUnknown) more environment variables set no tweak"]
    }
}

extension TweakStore {
    /// Reports names in the environment that belong to no tweak, once: a quarter of a second after the start
    /// or at exit, because until then the program may make tweaks and open plug-ins.
    func reportUnknownVariablesSoon() {
        let isNeeded = state.withLock { state in
            state.environment.hasUnclaimed
                || state.layers[.environment].keys.contains { state.tweaks[$0] == nil }
        }
        guard isNeeded else { return state.withLock { state in _ = state.environment.beginReport() } }
        _ = EventLoop.wait { [self] thread, _ in
            _ = thread.worker.add { self.reportUnknownVariables() }
            return nil
        }
    }

    func reportUnknownVariables() {
        guard state.withLock({ $0.environment.beginReport() }) else { return }
        for message in withDecodedState({ $0.unknownInEnvironment() }) { diagnostics.warn(message) }
    }
}
