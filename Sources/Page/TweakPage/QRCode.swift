// SPDX-License-Identifier: BSD-3-Clause
/// A text as a QR code, for a camera. Source: ISO/IEC 18004, limited to what an address needs: bytes, error correction
/// level M (15 %), and versions 1 to 10.
struct QRCode {
    /// Whether each module is dark, by row.
    private(set) var modules: [[Bool]]
    /// The modules that are not data.
    private var isFixed: [[Bool]]
    private let version: Int
    private var size: Int { 17 + 4 * version }

    /// The blocks of each version: error correction bytes per block, number of blocks, and data bytes of a block; the
    /// last `longer` blocks have one byte more.
    private static let layouts: [(correction: Int, blocks: Int, data: Int, longer: Int)] = [
        (10, 1, 16, 0), (16, 1, 28, 0), (26, 1, 44, 0), (18, 2, 32, 0), (24, 2, 43, 0), (16, 4, 27, 0),
        (18, 4, 31, 0),
        (22, 4, 38, 2), (22, 5, 36, 2), (26, 5, 43, 1),
    ]
    /// The centres of the alignment patterns.
    private static let alignments = [
        [], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46], [6, 28, 50],
    ]

    /// - Returns: `nil` if the text has more than 213 bytes.
    init?(_ text: String) {
        let bytes = Array(text.utf8)
        func capacity(_ layout: (correction: Int, blocks: Int, data: Int, longer: Int)) -> Int {
            layout.blocks * layout.data + layout.longer
        }
        guard
            let place = Self.layouts.indices.first(where: {
                // Four bits for the mode, and eight or sixteen for the length.
                bytes.count + ($0 < 9 ? 2 : 3) <= capacity(Self.layouts[$0])
            })
        else { return nil }
        version = place + 1
        let size = 17 + 4 * version
        modules = Array(repeating: Array(repeating: false, count: size), count: size)
        isFixed = modules
        drawPatterns()
        let layout = Self.layouts[place]
        draw(Self.codewords(bytes, capacity: capacity(layout), isLong: version > 9, layout))
        mask()
    }

    // MARK: - Data

    private static func codewords(
        _ bytes: [UInt8], capacity: Int, isLong: Bool,
        _ layout: (correction: Int, blocks: Int, data: Int, longer: Int)
    ) -> [UInt8] {
        var bits: [Bool] = []
        func append(_ value: Int, _ count: Int) {
            for bit in (0..<count).reversed() { bits.append(value >> bit & 1 == 1) }
        }
        append(0b0100, 4)
        append(bytes.count, isLong ? 16 : 8)
        for byte in bytes { append(Int(byte), 8) }
        append(0, min(4, capacity * 8 - bits.count))
        while !bits.count.isMultiple(of: 8) { bits.append(false) }
        var data = stride(from: 0, to: bits.count, by: 8).map { start in
            bits[start..<start + 8].reduce(0 as UInt8) { $0 << 1 | ($1 ? 1 : 0) }
        }
        for index in 0..<max(0, capacity - data.count) { data.append(index.isMultiple(of: 2) ? 0xEC : 0x11) }

        var blocks: [(data: ArraySlice<UInt8>, correction: [UInt8])] = []
        var rest = data[...]
        for index in 0..<layout.blocks {
            let block = rest.prefix(layout.data + (index >= layout.blocks - layout.longer ? 1 : 0))
            rest = rest.dropFirst(block.count)
            blocks.append((block, correction(of: block, count: layout.correction)))
        }
        let interleaved = (0...layout.data).flatMap { index in
            blocks.compactMap { $0.data.dropFirst(index).first }
        }
        return interleaved + (0..<layout.correction).flatMap { index in blocks.map { $0.correction[index] } }
    }

    /// The Reed–Solomon error correction of a block: the remainder of a polynomial division over GF(256).
    private static func correction(of data: ArraySlice<UInt8>, count: Int) -> [UInt8] {
        var divisor = [UInt8](repeating: 0, count: count - 1) + [1]
        var root: UInt8 = 1
        for _ in 0..<count {
            for index in divisor.indices {
                divisor[index] = product(divisor[index], root) ^ (index + 1 < count ? divisor[index + 1] : 0)
            }
            root = product(root, 2)
        }
        var rest = [UInt8](repeating: 0, count: count)
        for byte in data {
            let factor = byte ^ rest.removeFirst()
            rest.append(0)
            for index in rest.indices { rest[index] ^= product(divisor[index], factor) }
        }
        return rest
    }

    private static func product(_ first: UInt8, _ second: UInt8) -> UInt8 {
        var result = 0
        for bit in (0..<8).reversed() {
            result = result << 1 ^ (result >> 7) * 0x11D
            result ^= Int(second >> bit & 1) * Int(first)
        }
        return UInt8(truncatingIfNeeded: result)
    }

    // MARK: - Modules

    private mutating func set(_ row: Int, _ column: Int, _ isDark: Bool) {
        guard modules.indices.contains(row), modules.indices.contains(column) else { return }
        modules[row][column] = isDark
        isFixed[row][column] = true
    }

    private mutating func drawPatterns() {
        for index in 0..<size {
            set(6, index, index.isMultiple(of: 2))
            set(index, 6, index.isMultiple(of: 2))
        }
        for (row, column) in [(3, 3), (3, size - 4), (size - 4, 3)] {
            for down in -4...4 {
                for right in -4...4 {
                    let distance = max(abs(down), abs(right))
                    set(row + down, column + right, distance != 2 && distance != 4)
                }
            }
        }
        let middles = Self.alignments[version - 1]
        for row in middles {
            for column in middles {
                let isCorner = [(6, 6), (6, size - 7), (size - 7, 6)].contains { $0 == (row, column) }
                for down in -2...2 where !isCorner {
                    for right in -2...2 { set(row + down, column + right, max(abs(down), abs(right)) != 1) }
                }
            }
        }
        drawFormat(0)
        guard version >= 7 else { return }
        var rest = version
        for _ in 0..<12 { rest = rest << 1 ^ (rest >> 11) * 0x1F25 }
        let bits = version << 12 | rest
        for index in 0..<18 {
            let (long, short) = (size - 11 + index % 3, index / 3)
            set(short, long, bits >> index & 1 == 1)
            set(long, short, bits >> index & 1 == 1)
        }
    }

    /// Draws the format twice: the level, which is 0, and the mask.
    private mutating func drawFormat(_ mask: Int) {
        var rest = mask
        for _ in 0..<10 { rest = rest << 1 ^ (rest >> 9) * 0x537 }
        let bits = (mask << 10 | rest) ^ 0x5412
        for index in 0..<15 {
            let isDark = bits >> index & 1 == 1
            switch index {
            case 0..<6: set(index, 8, isDark)
            case 6, 7: set(index + 1, 8, isDark)
            case 8: set(8, 7, isDark)
            default: set(8, 14 - index, isDark)
            }
            if index < 8 { set(8, size - 1 - index, isDark) } else { set(size - 15 + index, 8, isDark) }
        }
        set(size - 8, 8, true)
    }

    /// Draws two columns at a time, from the right, alternating upwards and downwards.
    private mutating func draw(_ codewords: [UInt8]) {
        var bit = 0
        for right in stride(from: size - 1, through: 1, by: -2) {
            // Skips the column of the timing pattern.
            let right = right <= 6 ? right - 1 : right
            for step in 0..<size {
                let isUpwards = (right + 1) & 2 == 0
                for column in [right, right - 1] {
                    let row = isUpwards ? size - 1 - step : step
                    guard !isFixed[row][column], bit < codewords.count * 8 else { continue }
                    modules[row][column] = codewords[bit / 8] >> (7 - bit % 8) & 1 == 1
                    bit += 1
                }
            }
        }
    }

    /// Applies the mask with the fewest patterns that confuse cameras.
    private mutating func mask() {
        let rules: [(Int, Int) -> Bool] = [
            { ($0 + $1) % 2 == 0 }, { row, _ in row % 2 == 0 }, { $1 % 3 == 0 }, { ($0 + $1) % 3 == 0 },
            { ($0 / 2 + $1 / 3) % 2 == 0 }, { $0 * $1 % 2 + $0 * $1 % 3 == 0 },
            { ($0 * $1 % 2 + $0 * $1 % 3) % 2 == 0 }, { (($0 + $1) % 2 + $0 * $1 % 3) % 2 == 0 },
        ]
        let candidates = rules.indices.map { number in
            var candidate = self
            for row in 0..<size {
                for column in 0..<size where !isFixed[row][column] && rules[number](row, column) {
                    candidate.modules[row][column].toggle()
                }
            }
            candidate.drawFormat(number)
            return candidate
        }
        self = candidates.min { $0.penalty < $1.penalty } ?? self
    }

    private var penalty: Int {
        let columns = modules.indices.map { column in modules.map { $0[column] } }
        var penalty = 0
        for line in modules + columns {
            var start = 0
            for index in 1...line.count where index == line.count || line[index] != line[start] {
                if index - start >= 5 { penalty += index - start - 2 }
                start = index
            }
            // The pattern of the large squares.
            let eye = [true, false, true, true, true, false, true]
            let light = [Bool](repeating: false, count: 4)
            for start in 0...(line.count - 11) {
                let part = line[start..<start + 11]
                if part.elementsEqual(eye + light) || part.elementsEqual(light + eye) { penalty += 40 }
            }
        }
        for row in 1..<size {
            for column in 1..<size {
                let corner = modules[row][column]
                if modules[row - 1][column] == corner, modules[row][column - 1] == corner,
                    modules[row - 1][column - 1] == corner
                {
                    penalty += 3
                }
            }
        }
        let dark = modules.joined().count { $0 }
        return penalty + abs(dark * 20 - size * size * 10) / (size * size) * 10
    }

    // MARK: - Text

    /// The code as lines for a terminal, dark on light in any colour scheme, with two modules above each other in a
    /// character.
    var lines: [String] {
        let margin = 4
        func isDark(_ row: Int, _ column: Int) -> Bool {
            modules.indices.contains(row) && modules.indices.contains(column) && modules[row][column]
        }
        return stride(from: -margin, to: size + margin, by: 2).map { row in
            let characters = (-margin..<size + margin).map { column in
                switch (isDark(row, column), isDark(row + 1, column)) {
                case (true, true): "█"
                case (true, false): "▀"
                case (false, true): "▄"
                case (false, false): " "
                }
            }
            return "\u{1B}[38;5;16;48;5;231m" + characters.joined() + "\u{1B}[m"
        }
    }
}
