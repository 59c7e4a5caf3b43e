public import CTweaks

// What the macros expand to. `@_transparent`, so that a read is the load and nothing else in every caller.

/// Reads the cell of a Bool record. For the expansion of `#tweak` only.
@_transparent
public func __boolTweak(_ cell: UnsafeMutablePointer<UInt64>, default: Bool) -> Bool {
    fbtweak__load_8(UnsafeRawPointer(cell).assumingMemoryBound(to: UInt8.self)) != 0
}

/// Reads the cell of an integer record. For the expansion of `#tweak` only.
@_transparent
public func __intTweak(_ cell: UnsafeMutablePointer<Int64>, default: Int) -> Int {
    Int(truncatingIfNeeded: fbtweak__load_64(UnsafeRawPointer(cell).assumingMemoryBound(to: UInt64.self)))
}

/// Reads the cell of a floating-point record. For the expansion of `#tweak` only.
@_transparent
public func __doubleTweak(_ cell: UnsafeMutablePointer<Double>, default: Double) -> Double {
    Double(bitPattern: fbtweak__load_64(UnsafeRawPointer(cell).assumingMemoryBound(to: UInt64.self)))
}

/// Reads the cell of a text record. For the expansion of `#tweak` only.
@_transparent
public func __stringTweak(_ cell: UnsafeMutablePointer<UInt64>, default: @autoclosure () -> String) -> String
{
    guard
        let text = fbtweak__load_text(
            UnsafeRawPointer(cell).assumingMemoryBound(to: UnsafePointer<CChar>?.self))
    else { return `default`() }
    return String(cString: text)
}
