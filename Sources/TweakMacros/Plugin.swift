#if Macros
internal import SwiftCompilerPlugin
internal import SwiftSyntaxMacros

@main
struct Plugin: CompilerPlugin {
    let providingMacros: [any Macro.Type] = [
        BoolTweakMacro.self,
        IntTweakMacro.self,
        DoubleTweakMacro.self,
        StringTweakMacro.self,
    ]
}
#else
/// Without the trait nobody runs the plug-in, but the package manager still links it.
@main
enum Plugin {
    static func main() {}
}
#endif
