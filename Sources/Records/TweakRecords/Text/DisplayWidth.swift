// SPDX-License-Identifier: BSD-3-Clause
extension Character {
    /// The number of terminal columns: two for wide East Asian characters and emoji.
    package var columns: Int {
        switch unicodeScalars.first?.value ?? 0 {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            2
        default: 1
        }
    }
}

extension String {
    /// The number of terminal columns of a text without control characters.
    package var columns: Int {
        let bytes = utf8
        return bytes.allSatisfy { $0 < 0x80 } ? bytes.count : reduce(0) { $0 + $1.columns }
    }

    /// The longest prefix of at most this many terminal columns.
    package func beginning(columns limit: Int) -> String {
        var rest = limit
        return String(
            prefix { character in
                rest -= character.columns
                return rest >= 0
            })
    }
}
