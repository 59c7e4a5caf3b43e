// SPDX-License-Identifier: BSD-3-Clause
internal import FBTweak
internal import TweakRecords

// The functions of fbtweak.h that change tweaks, documented in the header.

@_cdecl("fbtweak__set")
func set(tweak: UnsafePointer<fbtweak>?, value: UnsafePointer<fbtweak_value>?) -> CInt {
    let value = value?.pointee.tweakValue
    return set(
        tweak, value.map(ProvidedValue.value) ?? .unusable("a value without a type, or a text that is NULL,"))
}

@_cdecl("fbtweak__set_typed")
func set(tweak: UnsafePointer<fbtweak>?, text: UnsafePointer<CChar>?) -> CInt {
    set(tweak, text.map { .text(String(cString: $0)) } ?? .unusable("NULL"))
}

private func set(_ tweak: UnsafePointer<fbtweak>?, _ given: ProvidedValue) -> CInt {
    returningCode { () throws(CFailure) in
        let key = try TweakStore.ofProcess.key(of: tweak)
        do throws(TweakError) {
            return try TweakStore.ofProcess.set(given, for: key).wasClamped
                ? CInt(FBTWEAK_CLAMPED) : CInt(FBTWEAK_OK)
        } catch {
            throw CFailure(error)
        }
    }
}

@_cdecl("fbtweak__reset")
func reset(tweak: UnsafePointer<fbtweak>?) -> CInt {
    returningCode { () throws(CFailure) in
        let key = try TweakStore.ofProcess.key(of: tweak)
        return try orFailure { () throws(TweakError) in try TweakStore.ofProcess.reset(key) }
    }
}

@_cdecl("fbtweak__reset_group")
func reset(category: UnsafePointer<CChar>?, collection: UnsafePointer<CChar>?) -> CInt {
    returningCode { () throws(CFailure) in
        let (category, collection) = (
            category.map { String(cString: $0) }, collection.map { String(cString: $0) }
        )
        return try orFailure { () throws(TweakError) in
            try TweakStore.ofProcess.reset(category, collection, by: .program)
        }
    }
}

@_cdecl("fbtweak__bind")
func bind(tweak: UnsafePointer<fbtweak>?, variable: UnsafeMutableRawPointer?) -> CInt {
    returningCode { () throws(CFailure) in
        let declaration = try TweakStore.ofProcess.declaration(of: tweak)
        guard let variable else { throw .refused("\(declaration.key): the variable to bind is NULL") }
        guard declaration.type != .action else { throw .refused("\(TweakValueError.isAction(declaration))") }
        return try TweakStore.ofProcess.bind(declaration, Cell(address: variable, type: declaration.type))
    }
}

@_cdecl("fbtweak__unbind")
func unbind(variable: UnsafeMutableRawPointer?) {
    guard let variable else { return }
    TweakStore.ofProcess.state.withLock { $0.unbind(UInt(bitPattern: variable)) }
}

extension TweakStore {
    fileprivate func bind(_ declaration: TweakDeclaration, _ variable: Cell) throws(CFailure) -> CInt {
        let isKnown = withDecodedState { state in
            guard let entry = state.tweaks[declaration.key], entry.declaration.type == declaration.type else {
                return false
            }
            state.bind(variable, to: entry)
            return true
        }
        guard isKnown else { throw .unknown("\(declaration.key): no such tweak") }
        return CInt(FBTWEAK_OK)
    }
}

@_cdecl("fbtweak__flush")
func flush() { TweakStore.ofProcess.flush() }

@_cdecl("fbtweak__run")
func run(tweak: UnsafePointer<fbtweak>?) -> CInt {
    returningCode { () throws(CFailure) in
        let key = try TweakStore.ofProcess.key(of: tweak)
        return try orFailure { () throws(TweakError) in try TweakStore.ofProcess.run(key) }
    }
}
