// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
internal import FBTweak
internal import Glibc
internal import TweakRecords

// The functions of fbtweak.h that find and read tweaks, documented in the header.

@_cdecl("fbtweak__handle_of_record")
func handle(ofRecord record: UnsafeRawPointer?) -> UnsafePointer<fbtweak>? {
    returningPointer { () throws(CFailure) in
        let tweak = record?.assumingMemoryBound(to: fbtweak.self)
        let declaration = try TweakStore.ofProcess.declaration(of: tweak)
        return TweakStore.ofProcess.withDecodedState {
            $0.handle(of: declaration.key, otherwise: declaration)
        }?
        .pointer
    }
}

@_cdecl("fbtweak__find")
func find(
    category: UnsafePointer<CChar>?, collection: UnsafePointer<CChar>?, name: UnsafePointer<CChar>?
) -> UnsafePointer<fbtweak>? {
    returningPointer { () throws(CFailure) in
        if let category, let collection, let name,
            let handle = TweakStore.ofProcess.knownHandle(category.bytes, collection.bytes, name.bytes)
        {
            return handle
        }
        TweakStore.ofProcess.start()
        guard let key = TweakKey(category, collection, name) else {
            throw .unknown("there is no tweak: a level of its name is NULL")
        }
        let (handle, monitor) = TweakStore.ofProcess.withDecodedState { state in
            let entry = state.tweaks[key]
            return (entry.flatMap { state.handle(of: $0) }, entry?.declaration)
        }
        if let monitor, handle == nil { throw CFailure(.refused(.isMonitor(monitor))) }
        guard let handle else { throw CFailure(TweakStore.ofProcess.unknown(key)) }
        return handle.pointer
    }
}

extension TweakStore {
    /// The handle of a name that was found before, which is the most common case. Bytes that are not UTF-8 are not found.
    fileprivate func knownHandle(
        _ category: UnsafeRawBufferPointer, _ collection: UnsafeRawBufferPointer,
        _ name: UnsafeRawBufferPointer
    ) -> UnsafePointer<fbtweak>? {
        state.withLock { state in
            // An image that was loaded since may declare the tweak differently.
            guard state.images.undecoded.isEmpty else { return nil }
            return state.tweaks.withEntry(category, collection, name) { $0.handle?.pointer }
        }
    }
}

extension UnsafePointer<CChar> {
    /// The bytes of a C string.
    fileprivate var bytes: UnsafeRawBufferPointer { UnsafeRawBufferPointer(start: self, count: strlen(self)) }
}

@_cdecl("fbtweak__walk")
func walk(
    category: UnsafePointer<CChar>?, collection: UnsafePointer<CChar>?,
    visit: (@convention(c) (UnsafePointer<fbtweak>?, UnsafeMutableRawPointer?) -> Bool)?,
    context: UnsafeMutableRawPointer?
) -> Int {
    guard let visit else { return 0 }
    TweakStore.ofProcess.start()
    let keys = TweakStore.ofProcess.keys(
        category.map { String(cString: $0) }, collection.map { String(cString: $0) })
    var count = 0
    for key in keys {
        // Monitors have no handle.
        guard let handle = TweakStore.ofProcess.handle(of: key) else { continue }
        count += 1
        typealias Visitor = @convention(c) (UnsafeRawPointer?, UnsafeMutableRawPointer?) -> Bool
        if !fbtweak__call_visitor(unsafeBitCast(visit, to: Visitor.self), handle, context) { break }
    }
    return count
}

@_cdecl("fbtweak__source")
func source(tweak: UnsafePointer<fbtweak>?) -> UnsafePointer<CChar>? {
    returningPointer { () throws(CFailure) in
        let key = try TweakStore.ofProcess.key(of: tweak)
        do throws(TweakError) {
            return TextPool.address(of: try TweakStore.ofProcess.storedStatus(of: key).source.description)
        } catch {
            throw CFailure(error)
        }
    }
}
