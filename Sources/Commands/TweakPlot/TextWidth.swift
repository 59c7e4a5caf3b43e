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

    /// The longest suffix that fits, behind an ellipsis.
    func end(columns limit: Int, isUnicode: Bool) -> String {
        guard columns > limit else { return self }
        let sign = isUnicode ? "…" : "~"
        return sign.beginning(columns: limit)
            + String(String(reversed()).beginning(columns: limit - 1).reversed())
    }

    /// A change such as `Spring/Physics/Stiffness: 120 → 600 (control)`, in this width: the source is cut off first, then the
    /// name is shortened. The values are whole or left out, because a shortened number is another number.
    func change(columns limit: Int, isUnicode: Bool) -> String {
        guard columns > limit else { return self }
        let scalars = unicodeScalars
        let source = scalars.indices.last { scalars[$0] == "(" } ?? endIndex
        if String(self[..<source]).columns <= limit {
            var start = beginning(columns: limit)
            let isNumber = { (character: Character?) in
                character.map { "0"..."9" ~= $0 || $0 == "." } ?? false
            }
            if isNumber(dropFirst(start.count).first) {
                while isNumber(start.last) { start.removeLast() }
            }
            return start
        }
        let colon = scalars.firstIndex(of: ":") ?? source
        guard colon < source else { return end(columns: limit, isUnicode: isUnicode) }
        var values = String(self[colon..<source])
        while values.hasSuffix(" ") { values.removeLast() }
        let (name, room) = (String(self[..<colon]), limit - values.columns)
        return room > 1
            ? name.end(columns: room, isUnicode: isUnicode) + values
            : name.end(columns: limit, isUnicode: isUnicode)
    }

    /// The text padded with blanks on one side.
    func padded(to width: Int, atStart: Bool = false) -> String {
        let blanks = String(repeating: " ", count: max(0, width - columns))
        return atStart ? blanks + self : self + blanks
    }
}
