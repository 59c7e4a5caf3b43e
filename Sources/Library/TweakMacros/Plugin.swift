// SPDX-License-Identifier: BSD-3-Clause
#if Macros
internal import SwiftCompilerPlugin
internal import SwiftSyntaxMacros

@main
struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        BoolTweakMacro.self,
        IntTweakMacro.self, Int8TweakMacro.self, Int16TweakMacro.self, Int32TweakMacro.self,
        Int64TweakMacro.self,
        UIntTweakMacro.self, UInt8TweakMacro.self, UInt16TweakMacro.self, UInt32TweakMacro.self,
        UInt64TweakMacro.self,
        FloatTweakMacro.self, DoubleTweakMacro.self, RealTweakMacro.self, DurationTweakMacro.self,
        StringTweakMacro.self, ColorTweakMacro.self,
        IntsTweakMacro.self, DoublesTweakMacro.self, StringsTweakMacro.self,
        OptionalBoolTweakMacro.self, OptionalIntTweakMacro.self, OptionalFloatTweakMacro.self,
        OptionalDoubleTweakMacro.self, OptionalStringTweakMacro.self,
        RawStringTweakMacro.self, RawIntTweakMacro.self, RawDoubleTweakMacro.self,
        UnsupportedTweakMacro.self, FeatureMacro.self,
        TweakableMacro.self,
        TweakActionMacro.self,
        TweakApplicationMacro.self,
        TweakGateMacro.self,
        BoolMonitorMacro.self,
        IntMonitorMacro.self, Int8MonitorMacro.self, Int16MonitorMacro.self, Int32MonitorMacro.self,
        Int64MonitorMacro.self,
        UIntMonitorMacro.self, UInt8MonitorMacro.self, UInt16MonitorMacro.self, UInt32MonitorMacro.self,
        UInt64MonitorMacro.self,
        FloatMonitorMacro.self, DoubleMonitorMacro.self, UnsupportedMonitorMacro.self,
        MonitoredMacro.self,
        TweakGroupMacro.self, TweakFieldMacro.self,
    ]
}
#else
/// Without the trait nothing runs the plug-in, but the package manager still links it.
@main
enum Plugin {
    static func main() {}
}
#endif
