// SPDX-License-Identifier: BSD-3-Clause
import TweakJSON
import TweakRecords

/// A value as JSON that JavaScript reads without loss: integers that a double cannot hold exactly become texts.
func pageJSON(_ value: some Encodable) throws -> [UInt8] {
    let bytes = try encodeJSON(value)
    guard mayHaveLargeIntegers(bytes) else { return bytes }
    return try encodeJSON(withoutLargeIntegers(decodeJSON(JSONValue.self, from: bytes)))
}

/// Integers of fewer than 16 digits are below 2⁵³.
private func mayHaveLargeIntegers(_ bytes: [UInt8]) -> Bool {
    var digits = 0
    for byte in bytes {
        if 0x30...0x39 ~= byte {
            digits += 1
            if digits == 16 { return true }
        } else {
            digits = 0
        }
    }
    return false
}

private func withoutLargeIntegers(_ value: JSONValue) -> JSONValue {
    switch value {
    case .scalar(.integer(let number)) where number.magnitude >= 1 << 53:
        .scalar(.string("\(number)"))
    case .array(let elements): .array(elements.map(withoutLargeIntegers))
    case .object(let members): .object(members.mapValues(withoutLargeIntegers))
    case .null, .scalar: value
    }
}
