/// A colour in sRGB with straight alpha.
public struct TweakColor: Hashable, Sendable {
    /// The components, from 0 to 255.
    public var red, green, blue: UInt8
    /// From 0, which is transparent, to 255.
    public var alpha: UInt8

    /// Makes a colour of its components.
    @inlinable
    public init(red: UInt8, green: UInt8, blue: UInt8, alpha: UInt8 = 255) {
        self.red = red
        self.green = green
        self.blue = blue
        self.alpha = alpha
    }
}

extension TweakColor: LosslessStringConvertible {
    /// Reads `#rrggbb`, `#rrggbbaa`, `#rgb` or `#rgba`, in any case.
    public init?(_ text: String) {
        guard text.utf8.first == UInt8(ascii: "#") else { return nil }
        var digits = text.utf8.dropFirst().compactMap { Character(Unicode.Scalar($0)).hexDigitValue }
        guard digits.count == text.utf8.count - 1 else { return nil }
        if digits.count < 6 { digits = digits.flatMap { [$0, $0] } }
        guard digits.count == 6 || digits.count == 8 else { return nil }
        let bytes = stride(from: 0, to: digits.count, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) }
        self.init(red: bytes[0], green: bytes[1], blue: bytes[2], alpha: bytes.count == 4 ? bytes[3] : 255)
    }

    /// `#rrggbb`, or `#rrggbbaa` if the colour is not opaque.
    public var description: String {
        "#"
            + [red, green, blue, alpha].prefix(alpha == 255 ? 3 : 4)
            .map { ($0 < 16 ? "0" : "") + String($0, radix: 16) }.joined()
    }
}
