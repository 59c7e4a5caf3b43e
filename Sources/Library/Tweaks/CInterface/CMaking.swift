// SPDX-License-Identifier: BSD-3-Clause
internal import FBTweak
internal import TweakRecords

// The functions of fbtweak.h that make and remove tweaks, documented in the header.

@_cdecl("fbtweak__make")
func make(declaration: UnsafePointer<fbtweak_declaration>?) -> UnsafePointer<fbtweak>? {
    returningPointer { () throws(CFailure) in
        guard let declaration else { throw .refused("there is no declaration: the pointer is NULL") }
        return try make(TweakDeclaration(declaration.pointee))
    }
}

@_cdecl("fbtweak__make_monitor")
func makeMonitor(declaration: UnsafePointer<fbtweak_declaration>?) -> UnsafePointer<fbtweak>? {
    returningPointer { () throws(CFailure) in
        guard let declaration else { throw .refused("there is no declaration: the pointer is NULL") }
        var monitor = try TweakDeclaration(declaration.pointee)
        monitor.isMonitor = true
        return try make(monitor)
    }
}

@_cdecl("fbtweak__make_action")
func makeAction(
    category: UnsafePointer<CChar>?, collection: UnsafePointer<CChar>?, name: UnsafePointer<CChar>?,
    function: (@convention(c) (UnsafeMutableRawPointer?) -> Void)?, context: UnsafeMutableRawPointer?
) -> UnsafePointer<fbtweak>? {
    returningPointer { () throws(CFailure) in
        guard let key = TweakKey(category, collection, name), let function else {
            throw .refused("an action needs three levels of a name and a function; one of them is NULL")
        }
        let code = UInt(bitPattern: unsafeBitCast(function, to: UnsafeRawPointer.self))
        return try make(
            TweakDeclaration(key: key, type: .action, defaultValue: .nothing),
            CFunction(code: code, context: context))
    }
}

@_cdecl("fbtweak__remove")
func remove(tweak: UnsafePointer<fbtweak>?) -> CInt {
    returningCode { () throws(CFailure) in
        // Not `key(of:)` of the store, which would remember the name.
        guard let tweak, let key = TweakKey(record: UnsafeRawPointer(tweak)) else { throw .noHandle }
        return try orFailure { () throws(TweakError) in try TweakStore.ofProcess.remove(key) }
    }
}

private func make(
    _ declaration: TweakDeclaration, _ action: CFunction? = nil
) throws(CFailure) -> UnsafePointer<fbtweak> {
    do throws(TweakError) {
        return try TweakStore.ofProcess.makeHandle(declaration.checked(), action).pointer
    } catch {
        throw CFailure(error)
    }
}

extension TweakDeclaration {
    /// Validates a declaration from C.
    fileprivate init(_ declaration: fbtweak_declaration) throws(CFailure) {
        guard let key = TweakKey(declaration.category, declaration.collection, declaration.name) else {
            throw .refused("a tweak needs three levels of a name; one of them is NULL")
        }
        guard let type = TweakType(rawValue: UInt8(clamping: declaration.default_value.type)),
            let defaultValue = declaration.default_value.tweakValue
        else { throw .refused("\(key): the default has no valid type") }

        func value(_ value: fbtweak_value, _ what: String) throws(CFailure) -> TweakValue? {
            if value.type == CInt(FBTWEAK_TYPE_NONE) { return nil }
            guard value.type == declaration.default_value.type, let value = value.tweakValue else {
                throw .refused("\(key): the \(what) is of another type than the default, which is \(type)")
            }
            return value
        }
        let attributes = declaration.attributes.texts.map(Attribute.init(text:))
        var choices: [TweakChoice] = []
        // Beyond the range of Int.
        guard declaration.choice_count >= 0 else {
            throw .refused("\(key): choice_count is too large")
        }
        for index in 0..<(declaration.choices == nil ? 0 : declaration.choice_count) {
            guard let choice = declaration.choices?[index], let value = try value(choice.value, "choice")
            else {
                throw .refused("\(key): choice \(index) has no value")
            }
            choices.append(TweakChoice(value, label: choice.label.map { String(cString: $0) }))
        }
        self.init(
            key: key, type: type, defaultValue: defaultValue,
            minimum: try value(declaration.minimum, "minimum"),
            maximum: try value(declaration.maximum, "maximum"), step: try value(declaration.step, "step"),
            choices: choices, attributes: attributes)
    }
}

extension UnsafePointer<UnsafePointer<CChar>?>? {
    /// The strings of a NULL-terminated array.
    fileprivate var texts: [String] {
        var texts: [String] = []
        var next = self
        while let text = next?.pointee {
            texts.append(String(cString: text))
            next = next.map { $0 + 1 }
        }
        return texts
    }
}
