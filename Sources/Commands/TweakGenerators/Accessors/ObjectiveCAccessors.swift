// SPDX-License-Identifier: BSD-3-Clause
internal import TweakFormats

extension FeatureAccessors {
    /// A category of FlipTheSwitch's class `FTSFlipTheSwitch`, as its header and implementation.
    package var objectiveCFiles: [GeneratedFile] {
        let fileName = "FTSFlipTheSwitch+Features"
        var header =
            ["// \(origin.notice)", "#import <FlipTheSwitch/FTSFlipTheSwitch.h>", ""]
            + ["@interface FTSFlipTheSwitch (Features)"]
        var implementation =
            [
                "// \(origin.notice)", "#import \"\(fileName).h\"", "",
                "@implementation FTSFlipTheSwitch (Features)",
            ]
        for accessor in accessors {
            header += [""] + cComment(accessor.feature.description ?? "")
            implementation.append("")
            for method in methods(for: accessor) {
                header.append(method.declaration + ";")
                implementation += [method.declaration, "{", "    \(method.statement);", "}"]
            }
        }
        header += ["", "+ (void)resetAll;", "", "@end"]
        implementation += ["", "+ (void)resetAll", "{"]
        implementation += accessors.map { "    [self reset\($0.upper)];" }
        implementation += ["}", "", "@end"]
        return [
            GeneratedFile(name: fileName + ".h", lines: header),
            GeneratedFile(name: fileName + ".m", lines: implementation),
        ]
    }

    private func methods(for accessor: Accessor) -> [(declaration: String, statement: String)] {
        let (upper, key) = (accessor.upper, "[self \(accessor.lower)Key]")
        func send(_ message: String) -> String { "[[FTSFlipTheSwitch sharedInstance] \(message)]" }
        let gate = accessor.gate.map { "[self \($0)] && " } ?? ""
        return [
            ("+ (BOOL)\(accessor.isEnabled)", "return \(gate)\(send("isFeatureEnabled:\(key)"))"),
            ("+ (void)enable\(upper)", send("enableFeature:\(key)")),
            ("+ (void)disable\(upper)", send("disableFeature:\(key)")),
            ("+ (void)set\(upper)Enabled:(BOOL)enabled", send("setFeature:\(key) enabled:enabled")),
            ("+ (void)reset\(upper)", send("resetFeature:\(key)")),
            ("+ (NSString *)\(accessor.lower)Key", "return @\(cLiteral(accessor.feature.flatName))"),
        ]
    }
}
