// SPDX-License-Identifier: BSD-3-Clause
internal import FBTweak
internal import TweakRecords

extension fbtweak_value {
    /// Converts a value for C. Its string stays valid until the process exits.
    ///
    /// - Parameter type: The type of the value's tweak. A tweak that only providers declare may have had another one.
    init(_ value: TweakValue, _ type: TweakType) {
        self.init()
        let type = type.fitting(value)
        self.type = CInt(type.rawValue)
        switch value {
        case .bool(let flag): boolean = flag
        case .integer(let number) where type.isSigned: integer = Int64(truncatingIfNeeded: number)
        case .integer(let number): natural = UInt64(truncatingIfNeeded: number)
        case .double(let number): self.number = number
        case .string where type != .string:
            natural = TweakValue.emptyCell(type == .float ? .double : type) ?? 0
        case .string(let text): self.text = TextPool.address(of: text)
        case .color(let color):
            self.color = fbtweak_color(
                red: color.red, green: color.green, blue: color.blue, alpha: color.alpha)
        case .nothing: break
        }
    }

    /// The value, or `nil` if the type is unknown.
    var tweakValue: TweakValue? {
        switch TweakType(rawValue: UInt8(clamping: type)) {
        case .bool: .bool(boolean)
        case .int8, .int16, .int32, .int64: .integer(Int128(integer))
        case .uint8, .uint16, .uint32, .uint64: .integer(Int128(natural))
        case .float, .double: .double(number)
        case .string: text.map { .string(String(cString: $0)) }
        case .color:
            .color(TweakColor(red: color.red, green: color.green, blue: color.blue, alpha: color.alpha))
        case .action, nil: nil
        }
    }
}

extension TweakType {
    fileprivate var isSigned: Bool { (integerRange?.lowerBound ?? 0) < 0 }

    /// Returns the type itself, or that of a value which it cannot have.
    fileprivate func fitting(_ value: TweakValue) -> TweakType {
        switch value {
        case .bool: .bool
        case .integer: integerRange == nil ? .int64 : self
        case .double: self == .float ? .float : .double
        case .color: .color
        case .string: value == .absent ? self : .string
        case .nothing: self
        }
    }
}

extension TweakKey {
    /// A name from three C strings; `nil` if one of them is NULL.
    init?(
        _ category: UnsafePointer<CChar>?, _ collection: UnsafePointer<CChar>?, _ name: UnsafePointer<CChar>?
    ) {
        guard let category, let collection, let name else { return nil }
        self.init(String(cString: category), String(cString: collection), String(cString: name))
    }
}

extension Handle {
    var pointer: UnsafePointer<fbtweak> { UnsafeRawPointer(record).assumingMemoryBound(to: fbtweak.self) }
}

extension TweakStore {
    func handle(of key: TweakKey) -> UnsafePointer<fbtweak>? {
        withDecodedState { state in state.handle(of: key) }?.pointer
    }

    /// The name of the tweak with this handle or compiled record.
    func key(of tweak: UnsafePointer<fbtweak>?) throws(CFailure) -> TweakKey {
        guard let tweak else { throw .noHandle }
        return key(ofCell: UInt(bitPattern: tweak) &+ UInt(RecordLayout.cellOffset))
    }

    /// The declaration of the tweak with this handle or compiled record.
    func declaration(of tweak: UnsafePointer<fbtweak>?) throws(CFailure) -> TweakDeclaration {
        guard let tweak, let declaration = TweakDeclaration(record: UnsafeRawPointer(tweak)) else {
            throw .noHandle
        }
        return declaration
    }
}
