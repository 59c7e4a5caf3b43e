internal import TweakRecords

extension Character {
    /// How many columns of a terminal it takes: two for wide East Asian ones and emoji.
    var columns: Int {
        switch unicodeScalars.first?.value ?? 0 {
        case 0x1100...0x115F, 0x2E80...0xA4CF, 0xAC00...0xD7A3, 0xF900...0xFAFF, 0xFE30...0xFE6F,
            0xFF00...0xFF60, 0xFFE0...0xFFE6, 0x1F300...0x1FAFF, 0x20000...0x3FFFD:
            2
        default: 1
        }
    }
}

extension String {
    var columns: Int { reduce(0) { $0 + $1.columns } }

    /// As it may be shown: without what a terminal takes as a command, and where that knows only ASCII, in that.
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

    /// As much of the beginning as fits.
    func beginning(columns limit: Int) -> String {
        var rest = limit
        return String(
            prefix { character in
                rest -= character.columns
                return rest >= 0
            })
    }

    /// As much of the end as fits, behind a sign that something is missing.
    func end(columns limit: Int, isUnicode: Bool) -> String {
        guard columns > limit else { return self }
        let sign = isUnicode ? "…" : "~"
        return sign.beginning(columns: limit)
            + String(String(reversed()).beginning(columns: limit - 1).reversed())
    }

    /// With blanks at one side, as wide as a column is.
    func padded(to width: Int, atStart: Bool = false) -> String {
        let blanks = String(repeating: " ", count: max(0, width - columns))
        return atStart ? blanks + self : self + blanks
    }
}
