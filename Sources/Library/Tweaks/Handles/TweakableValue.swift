internal import CTweaks
public import TweakRecords

/// A type that a tweak can have.
///
/// `Bool`, `Int` and the integers of 8 to 64 bits, `Float`, `Double`, `String`, `Duration` and ``TweakColor`` are such
/// types, every enumeration with raw values that says it is a ``TweakableEnum``, and what else has raw values and says
/// it is a ``TweakableRawRepresentable``. These the macros know too. Other types say as what they are kept:
///
///     extension Angle: TweakableValue {
///         static var tweakType: TweakType { .double }
///         init?(tweakValue: TweakValue) {
///             guard let degrees = Double(tweakValue: tweakValue) else { return nil }
///             self.init(degrees: degrees)
///         }
///         var tweakValue: TweakValue { .double(degrees) }
///     }
public protocol TweakableValue: Sendable, Equatable {
    /// What a record of such a tweak holds.
    static var tweakType: TweakType { get }
    /// The only values that such a tweak takes; none if it takes all. An enumeration's cases.
    static var tweakChoices: [TweakChoice] { get }
    /// What its numbers count, unless a declaration says it, such as `s` for a `Duration`.
    static var tweakUnit: String? { get }
    /// The value as the store has it; `nil` if it is none of this type.
    init?(tweakValue: TweakValue)
    /// What the store has.
    var tweakValue: TweakValue { get }
    /// Reads a cell with one relaxed atomic load. There is an implementation for every type; the faster ones are the
    /// library's own.
    ///
    /// - Parameters:
    ///   - cell: The eight bytes at offset 8 of a record of ``tweakType``.
    ///   - fallback: The default in the binary, for a string that is null in the cell, and a value that is none of
    ///     this type.
    static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Self) -> Self
}

extension TweakableValue {
    /// None: such a tweak takes all values.
    public static var tweakChoices: [TweakChoice] { [] }
    /// None.
    public static var tweakUnit: String? { nil }

    /// Reads any cell.
    public static func __read(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Self) -> Self {
        decode(cell, tweakType).flatMap(Self.init(tweakValue:)) ?? fallback()
    }

    /// Reads a cell. For the expansions of macros only.
    ///
    /// In a release build it is one load. In a debug build, as tests are, the values of ``TweakStore/withValues(_:_:)-([TweakKey:TweakValue],_)``
    /// come first.
    ///
    /// - Parameters:
    ///   - cell: The eight bytes at offset 8 of a record of ``tweakType``.
    ///   - fallback: The default in the binary.
    @inlinable @inline(__always)
    public static func __load(_ cell: UnsafeRawPointer, default fallback: @autoclosure () -> Self) -> Self {
        #if DEBUG
        if let value: Self = __scopedValue(of: cell) { return value }
        #endif
        return __read(cell, default: fallback())
    }
}

/// Decodes a cell; `nil` for a string that is null.
func decode(_ cell: UnsafeRawPointer, _ type: TweakType) -> TweakValue? {
    switch type {
    case .bool: Bool.__read(cell, default: false).tweakValue
    case .int8: Int8.__read(cell, default: 0).tweakValue
    case .int16: Int16.__read(cell, default: 0).tweakValue
    case .int32: Int32.__read(cell, default: 0).tweakValue
    case .int64: Int64.__read(cell, default: 0).tweakValue
    case .uint8: UInt8.__read(cell, default: 0).tweakValue
    case .uint16: UInt16.__read(cell, default: 0).tweakValue
    case .uint32: UInt32.__read(cell, default: 0).tweakValue
    case .uint64: UInt64.__read(cell, default: 0).tweakValue
    case .float: Float.__read(cell, default: 0).tweakValue
    case .double: Double.__read(cell, default: 0).tweakValue
    case .string: String.__text(cell).map { .string($0) }
    case .color: TweakColor.__read(cell, default: TweakColor(red: 0, green: 0, blue: 0)).tweakValue
    case .action: nil
    }
}
