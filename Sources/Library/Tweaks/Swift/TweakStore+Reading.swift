// SPDX-License-Identifier: BSD-3-Clause
public import TweakRecords

#if !FB_TWEAK_DISABLED
public import FBTweak
#endif

extension TweakStore {
    /// The process's store, which has the tweaks of the executable and its libraries before `main` starts.
    ///
    /// A note marks each binary with code that uses this store; see <doc:ReleaseBuilds>.
    public static var shared: TweakStore {
        // In the user's binary, and not in the library's.
        @_alwaysEmitIntoClient
        get {
            #if !FB_TWEAK_DISABLED
            fbtweak__note_use()
            #endif
            return ofProcess
        }
    }

    /// Returns the status of a tweak.
    ///
    /// - Throws: ``TweakError/unknown(_:nearest:)``, or ``TweakError/encrypted(_:)``.
    public func status(of key: TweakKey) throws(TweakError) -> TweakStatus {
        let status = try storedStatus(of: key)
        guard let value = ScopedValues.current?.value(of: key, in: self) else { return status }
        return TweakStatus(
            declaration: status.declaration, value: value, source: .scope, pendingValue: nil)
    }

    /// Returns the current value of a tweak.
    ///
    /// - Throws: ``TweakError/unknown(_:nearest:)`` if no tweak has this name.
    public func value(of key: TweakKey) throws(TweakError) -> TweakValue {
        if let value = ScopedValues.current?.value(of: key, in: self) { return value }
        if let value = withDecodedState({ $0.tweaks[key]?.value }) { return value }
        throw unknown(key)
    }

    /// Returns the current value of a tweak, or a default if nothing declares the name, which is reported
    /// once.
    public func value(of key: TweakKey, default defaultValue: TweakValue) -> TweakValue {
        do throws(TweakError) {
            return try value(of: key)
        } catch {
            diagnostics.warn("\(error)")
            return defaultValue
        }
    }
}
