// SPDX-License-Identifier: BSD-3-Clause
internal import TweakFormats
internal import TweakRecords

extension FeatureAccessors {
    /// An enumeration for Swift that needs the library Tweaks.
    ///
    /// The program declares the tweaks. In a release build it does not, and they are made on first use.
    package var swiftFile: GeneratedFile {
        let tweaks = SwiftTweaks(
            handles: accessors.map {
                SwiftTweaks.Handle(
                    name: $0.lower, description: $0.feature.description, key: $0.feature.key,
                    keySource: Self.key($0), defaultValue: .bool($0.feature.isEnabled))
            })
        var lines = ["// \(origin.notice)", "import Tweaks", "", "nonisolated enum \(name) {"]
        lines += tweaks.declaration
        lines += ["", "    /// The tweaks of all features.", "    static let tweaks = Handles(.shared)"]
        for accessor in accessors { lines += [""] + members(for: accessor) }
        lines += ["", "    static func resetAll() {"]
        lines += accessors.map { "        reset\($0.upper)()" }
        lines += ["    }", "}"] + tweaks.records
        return GeneratedFile(name: "\(name).swift", lines: lines)
    }

    private static func key(_ accessor: Accessor) -> String {
        let key = accessor.feature.key
        return
            "TweakKey(\([key.category, key.collection, key.name].map(swiftLiteral).joined(separator: ", ")))"
    }

    private func members(for accessor: Accessor) -> [String] {
        let (upper, tweak) = (accessor.upper, "tweaks.\(Identifier.swift(accessor.lower))")
        let gate = accessor.gate.map { "\($0) && " } ?? ""
        return swiftComment(accessor.feature.description ?? "", indentation: "    ") + [
            "    static var \(accessor.isEnabled): Bool { \(gate)\(tweak).value }",
            "    static func enable\(upper)() { set\(upper)Enabled(true) }",
            "    static func disable\(upper)() { set\(upper)Enabled(false) }",
            "    static func set\(upper)Enabled(_ enabled: Bool) { \(tweak).value = enabled }",
            "    static func reset\(upper)() { try? \(tweak).reset() }",
            "    static let \(accessor.lower)Key = \(Self.key(accessor))",
        ]
    }
}
