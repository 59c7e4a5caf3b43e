public import FBTweak
internal import TweakRecords

extension Tweak {
    /// The tweak of a handle of `fbtweak.h`, such as `FBTweakInline` makes in a C header.
    ///
    /// - Throws: ``TweakError`` if the handle is `NULL`, or the tweak is of another type.
    public init(_ handle: UnsafePointer<fbtweak>?) throws(TweakError) {
        guard let handle, let declaration = TweakDeclaration(record: UnsafeRawPointer(handle)) else {
            throw .invalid(TweakKey("", "", ""), reason: "there is no tweak: the handle is NULL")
        }
        let key = declaration.key
        self = try TweakStore.shared.tweak(key.category, key.collection, key.name)
    }

    /// The handle of the tweak for functions of `fbtweak.h`; valid for as long as the process. `nil` for the tweaks of
    /// private stores, which C does not have, and where tweaks are disabled.
    public var cHandle: UnsafePointer<fbtweak>? {
        cell == 0 || privateStore != nil ? nil : store.handle(of: key)
    }
}
