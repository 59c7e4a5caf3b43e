// SPDX-License-Identifier: BSD-3-Clause
internal import TweakFormats
internal import TweakRecords

extension FeatureAccessors {
    /// A header for C and C++ that needs `fbtweak.h` and nothing else.
    ///
    /// A function reads its feature with ``FBTweakValue``, so a program has the tweaks that it reads, and a release
    /// build the constants.
    package var cHeader: GeneratedFile {
        var lines =
            cComment(origin.notice) + ["#ifndef \(name)_H", "#define \(name)_H", "", "#include <fbtweak.h>"]
        for accessor in accessors { lines += [""] + functions(for: accessor) }
        lines += ["", "static inline void \(name)_resetAll(void) {"]
        lines += accessors.map { "  \(name)_reset\($0.upper)();" }
        lines += ["}", "", "#endif"]
        return GeneratedFile(name: "\(name).h", lines: lines)
    }

    private func functions(for accessor: Accessor) -> [String] {
        let (upper, key) = (accessor.upper, accessor.feature.key)
        let arguments =
            [key.category, key.collection, key.name].map(cLiteral) + ["\(accessor.feature.isEnabled)"]
            + (summary(accessor.feature.description).map { ["FBTweakDescription(\(cLiteral($0)))"] } ?? [])
        let tweak = "(" + arguments.joined(separator: ", ") + ")"
        let lower = accessor.lower.drop { $0 == "_" }
        let handle = "\(name)_\(lower)Tweak"
        func function(_ type: String, _ function: String, _ parameters: String, _ value: String) -> [String] {
            ["static inline \(type)\(function)(\(parameters)) {", "  return \(value);", "}"]
        }
        return cComment(accessor.feature.description ?? "")
            + function(
                "bool ", "\(name)_\(accessor.isEnabled)", "void",
                (accessor.gate.map { "\(name)_\($0)() && " } ?? "") + "FBTweakValue\(tweak)")
            + function("const fbtweak *", handle, "void", "FBTweakInline\(tweak)")
            + function(
                "int ", "\(name)_set\(upper)Enabled", "bool enabled", "fbtweak_set_bool(\(handle)(), enabled)"
            )
            + function("int ", "\(name)_enable\(upper)", "void", "\(name)_set\(upper)Enabled(true)")
            + function("int ", "\(name)_disable\(upper)", "void", "\(name)_set\(upper)Enabled(false)")
            + function("int ", "\(name)_reset\(upper)", "void", "fbtweak_reset(\(handle)())")
            + function("const char *", "\(name)_\(lower)Key", "void", cLiteral("\(key)"))
    }
}
