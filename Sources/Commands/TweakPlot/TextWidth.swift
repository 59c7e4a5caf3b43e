// SPDX-License-Identifier: BSD-3-Clause
internal import TweakRecords

extension String {
    /// The printable text, in ASCII for a terminal without Unicode.
    func shown(isUnicode: Bool) -> String {
        let text = printable
        guard !isUnicode, !text.utf8.allSatisfy({ $0 < 0x80 }) else { return text }
        return text.reduce(into: "") { ascii, character in
            switch character {
            case "→": ascii += "->"
            case "…": ascii += "..."
            default: ascii.append(character.isASCII ? character : "?")
            }
        }
    }

    /// The longest prefix that fits.
    func beginning(columns limit: Int) -> String {
        var rest = limit
        return String(
            prefix { character in
                rest -= character.columns
                return rest >= 0
            })
    }

    /// The longest suffix that fits, behind an ellipsis.
    func end(columns limit: Int, isUnicode: Bool) -> String {
        guard columns > limit else { return self }
        let sign = isUnicode ? "…" : "~"
        return sign.beginning(columns: limit)
            + String(String(reversed()).beginning(columns: limit - 1).reversed())
    }

    /// The text padded with blanks on one side.
    func padded(to width: Int, atStart: Bool = false) -> String {
        let blanks = String(repeating: " ", count: max(0, width - columns))
        return atStart ? blanks + self : self + blanks
    }
}
