// SPDX-License-Identifier: BSD-3-Clause
import TweakRecords

/// A record as a compiler would leave it, spelled out so that a test can bend each field.
struct RecordBytes {
    var type: UInt8
    var byteOrder = ByteOrder.native
    var version: UInt8 = 1
    var kind: UInt8 = 1
    var flags: UInt8 = 0
    var defaultValue: [UInt8] = []
    var minimum: [UInt8] = []
    var maximum: [UInt8] = []
    var step: [UInt8] = []
    /// Category, collection, name, default text and attributes; each gets its NUL.
    var texts: [[UInt8]] = ["Category", "Collection", "Name", ""].map { Array($0.utf8) }
    /// The values of the choices, at the end.
    var choices: [[UInt8]] = []
    /// What the size field says, if it is not the truth.
    var claimedSize: UInt32?

    var bytes: [UInt8] {
        let text = Array(texts.map { $0 + [UInt8(0)] }.joined())
        let block = choices.flatMap { $0 + Array(repeating: 0, count: 8 - $0.count) }
        let size = (48 + text.count + 7) / 8 * 8 + block.count
        var bytes = encode(claimedSize ?? UInt32(size), byteOrder) + [version, kind, type, flags]
        for field in [defaultValue, defaultValue, minimum, maximum, step] {
            bytes += field + Array(repeating: 0, count: 8 - field.count)
        }
        return bytes + text + Array(repeating: 0, count: size - bytes.count - text.count - block.count)
            + block
    }
}

/// The bytes of a number in a byte order.
func encode<Number: FixedWidthInteger>(_ number: Number, _ order: ByteOrder) -> [UInt8] {
    (0..<Number.bitWidth / 8).map { index in
        let shift = 8 * (order == .little ? index : Number.bitWidth / 8 - 1 - index)
        return UInt8(truncatingIfNeeded: number >> Number(shift))
    }
}

/// Decodes a section that ends exactly where its allocation does, so that a sanitizer sees a byte too many.
func decode(_ bytes: [UInt8], _ order: ByteOrder = .native) -> RecordSection {
    let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: bytes.count, alignment: 1)
    defer { buffer.deallocate() }
    buffer.copyBytes(from: bytes)
    return RecordSection(UnsafeRawBufferPointer(buffer).bytes, byteOrder: order)
}

/// Decodes one record whose name is known.
func decodeKnown(
    _ bytes: [UInt8], _ order: ByteOrder = .native, of key: TweakKey
) throws -> TweakDeclaration {
    try bytes.withUnsafeBytes {
        try TweakDeclaration(record: $0.bytes, in: 0..<bytes.count, byteOrder: order, knownAs: key)
    }
}

/// One tweak of each type with everything that its record can say.
struct Sample: CustomStringConvertible {
    var type: TweakType
    var byteOrder: ByteOrder = .native
    var hasChoices = false

    static let all = [ByteOrder.little, .big].flatMap { order in
        TweakType.allCases.map { Sample(type: $0, byteOrder: order) } + withChoices(order)
    }

    static func withChoices(_ order: ByteOrder) -> [Sample] {
        TweakType.allCases.filter { $0.isNumeric || $0 == .string }
            .map { Sample(type: $0, byteOrder: order, hasChoices: true) }
    }

    var description: String { "\(type), \(byteOrder)-endian" + (hasChoices ? ", choices" : "") }

    var declaration: TweakDeclaration {
        let (value, limits, step) = numbers
        var declaration = TweakDeclaration(
            key: TweakKey("Spring", "Größe/弹簧", "100 %"), type: type, defaultValue: value,
            minimum: limits?.0, maximum: limits?.1, step: step,
            attributes: [.init(key: "at", value: "spring.c:7"), .init(key: "doc", value: "a=b")])
        guard hasChoices else { return declaration }
        (declaration.minimum, declaration.maximum, declaration.step) = (nil, nil, nil)
        declaration.choices = [TweakChoice(value), TweakChoice(type == .string ? "" : one, label: "ü")]
        for choice in declaration.choices {
            let text = if case .string(let text) = choice.value { text } else { "" }
            declaration.attributes.append(.init(key: "choice", value: text))
            if let label = choice.label { declaration.attributes.append(.init(key: "label", value: label)) }
        }
        return declaration
    }

    private var one: TweakValue { type.integerRange == nil ? 1.0 : 1 }

    var record: RecordBytes {
        let declaration = declaration
        let text = if case .string(let text) = declaration.defaultValue { text } else { "" }
        let texts =
            [declaration.key.category, declaration.key.collection, declaration.key.name, text]
            + declaration.attributes.map { "\($0.key)=\($0.value)" }
        var record = RecordBytes(
            type: type.rawValue, byteOrder: byteOrder, kind: type == .action ? 2 : 1,
            flags: declaration.minimum == nil ? 0 : 7,
            defaultValue: field(declaration.defaultValue), minimum: field(declaration.minimum),
            maximum: field(declaration.maximum), step: field(declaration.step),
            texts: texts.map { Array($0.utf8) })
        if hasChoices, type.isNumeric {
            record.flags = 8
            record.choices = declaration.choices.map { field($0.value) }
        }
        return record
    }

    private var numbers: (value: TweakValue, limits: (TweakValue, TweakValue)?, step: TweakValue?) {
        switch type {
        case .bool: (true, nil, nil)
        case .string: ("Text ü 弹", nil, nil)
        case .color: (.color(TweakColor(red: 1, green: 2, blue: 3, alpha: 0x80)), nil, nil)
        case .action: (.nothing, nil, nil)
        case .float: (0.1, (-1.5, 3.3), 0.25)
        case .double: (0.1, (-1e300, 1e300), 0.25)
        default:
            (
                .integer((type.integerRange?.upperBound ?? 0) - 2),
                type.integerRange.map { (.integer($0.lowerBound), .integer($0.upperBound)) }, 3
            )
        }
    }

    private func field(_ value: TweakValue?) -> [UInt8] {
        switch value {
        case .bool(let value): [value ? 1 : 0]
        case .integer(let value):
            switch type.byteCount {
            case 1: encode(UInt8(truncatingIfNeeded: value), byteOrder)
            case 2: encode(UInt16(truncatingIfNeeded: value), byteOrder)
            case 4: encode(UInt32(truncatingIfNeeded: value), byteOrder)
            default: encode(UInt64(truncatingIfNeeded: value), byteOrder)
            }
        case .double(let value) where type == .float: encode(Float(value).bitPattern, byteOrder)
        case .double(let value): encode(value.bitPattern, byteOrder)
        case .color(let color): [color.red, color.green, color.blue, color.alpha]
        // The addresses of a function and of its context.
        case .nothing: Array(repeating: 0xAB, count: 8)
        case .string, nil: []
        }
    }
}
