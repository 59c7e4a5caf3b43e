// SPDX-License-Identifier: BSD-3-Clause
/// A version, cut into its components: `6.12.48+deb13` has the components 6, 12, 48 and deb13.
struct Version {
    /// The components, separated by anything but ASCII letters and digits, in lower case.
    let components: [String]

    init(_ text: String) {
        let isSeparator = { (byte: UInt8) in
            switch byte {
            case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), 0x80...: false
            default: true
            }
        }
        components = lowercased(text).utf8.split(whereSeparator: isSeparator).map { String(Substring($0)) }
    }

    /// Returns whether a version starts with all components of this one: 6 matches 6 and 6.1.3, but not 60.
    func takes(_ other: Version) -> Bool { !components.isEmpty && other.components.starts(with: components) }

    /// Compares with a bound, by as many components as the bound has: 13.2 is not later than 13.
    func order(of bound: Version) -> Order {
        for (index, limit) in bound.components.enumerated() {
            let component = components.indices.contains(index) ? components[index] : "0"
            let order = Self.order(component, limit)
            if order != .same { return order }
        }
        return .same
    }

    enum Order { case earlier, same, later }

    /// Orders numbers by value, texts by their bytes, and texts before numbers: `6.1-rc2` precedes `6.1.0`.
    private static func order(_ one: String, _ other: String) -> Order {
        let (number, otherNumber) = (digits(one), digits(other))
        switch (number, otherNumber) {
        case (let number?, let otherNumber?):
            // Without leading zeros, the number with more digits is larger.
            if number.count != otherNumber.count {
                return number.count < otherNumber.count ? .earlier : .later
            }
            return order(number, otherNumber)
        case (nil, nil): return order(Array(one.utf8), Array(other.utf8))
        case (nil, _): return .earlier
        case (_, nil): return .later
        }
    }

    private static func order(_ one: [UInt8], _ other: [UInt8]) -> Order {
        one == other ? .same : one.lexicographicallyPrecedes(other) ? .earlier : .later
    }

    /// The digits of a number without leading zeros; `nil` if it is not a number.
    private static func digits(_ text: String) -> [UInt8]? {
        guard text.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return nil }
        return Array(text.utf8.drop { $0 == UInt8(ascii: "0") })
    }
}

/// Returns whether a text matches a pattern, in which `*` stands for any text and `?` for one byte. ASCII letters match
/// in both cases.
func matches(_ text: String, pattern: String) -> Bool {
    let (text, pattern) = (Array(lowercased(text).utf8), Array(lowercased(pattern).utf8))
    var (at, place) = (0, 0)
    // The place after the last star, and the end of the text it covers so far.
    var star: (place: Int, end: Int)?
    while at < text.count {
        if place < pattern.count, pattern[place] == UInt8(ascii: "*") {
            place += 1
            star = (place, at)
        } else if place < pattern.count, pattern[place] == UInt8(ascii: "?") || pattern[place] == text[at] {
            place += 1
            at += 1
        } else if let last = star {
            star = (last.place, last.end + 1)
            (place, at) = (last.place, last.end + 1)
        } else {
            return false
        }
    }
    return pattern[place...].allSatisfy { $0 == UInt8(ascii: "*") }
}

func isPattern(_ text: String) -> Bool {
    text.utf8.contains { $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") }
}
