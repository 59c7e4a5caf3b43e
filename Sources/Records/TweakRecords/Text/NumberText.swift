// SPDX-License-Identifier: BSD-3-Clause
extension BinaryInteger {
    /// The digits of a non-negative number, padded with zeros.
    package func digits(_ count: Int, radix: Int = 10, uppercase: Bool = false) -> String {
        let digits = String(self, radix: radix, uppercase: uppercase)
        return String(repeating: "0", count: max(0, count - digits.utf8.count)) + digits
    }
}

/// A count with singular or plural, such as `1 tweak was` and `2 tweaks were`.
package func counted(_ count: Int, _ one: String, _ several: String) -> String {
    "\(count) \(count == 1 ? one : several)"
}

extension Sequence<UInt8> {
    /// The bytes as lower-case hexadecimal digits, two each.
    package var hexadecimal: String { map { $0.digits(2, radix: 16) }.joined() }
}
