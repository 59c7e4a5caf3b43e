// SPDX-License-Identifier: BSD-3-Clause
/// Numbers that look random and are the same each time, so that a test which fails once fails again.
///
/// The algorithm is SplitMix64 of Sebastiano Vigna, which is in the public domain: https://prng.di.unimi.it/splitmix64.c
public struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    /// Begins a sequence.
    public init(seed: UInt64) { state = seed }

    /// The next number.
    public mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var result = state
        result = (result ^ (result >> 30)) &* 0xbf58_476d_1ce4_e5b9
        result = (result ^ (result >> 27)) &* 0x94d0_49bb_1331_11eb
        return result ^ (result >> 31)
    }
}

/// What becomes of bytes in the hands of somebody careless or hostile.
///
/// - Parameters:
///   - original: Bytes that are right.
///   - count: How many changed copies to make, besides the original cut off at each of as many places.
///   - seed: What decides the changes.
/// - Returns: Copies that are cut off, or have bytes changed, added, removed, repeated or replaced by extreme ones.
public func damaged(_ original: [UInt8], count: Int, seed: UInt64 = 1) -> [[UInt8]] {
    var generator = SeededGenerator(seed: seed)
    let cuts = (0..<count).map { Array(original[..<($0 * original.count / count)]) }
    let changes = (0..<count).map { _ in changed(original, using: &generator) }
    return cuts + changes
}

private func changed(_ original: [UInt8], using generator: inout SeededGenerator) -> [UInt8] {
    var bytes = original
    for _ in 0..<Int.random(in: 1...4, using: &generator) where !bytes.isEmpty {
        let index = Int.random(in: bytes.indices, using: &generator)
        let end = Int.random(in: index...min(index + 16, bytes.count), using: &generator)
        switch Int.random(in: 0...6, using: &generator) {
        case 0: bytes[index] = UInt8.random(in: 0...255, using: &generator)
        case 1: bytes[index] ^= 1 << UInt8.random(in: 0...7, using: &generator)
        case 2: bytes.removeSubrange(index..<end)
        case 3: bytes.insert(bytes.randomElement(using: &generator) ?? 0, at: index)
        case 4: bytes.insert(contentsOf: bytes[index..<end], at: index)
        default:
            let extreme: UInt8 = [0, 0x7F, 0x80, 0xFF][Int.random(in: 0...3, using: &generator)]
            for place
                in index..<min(index + [1, 2, 4, 8][Int.random(in: 0...3, using: &generator)], bytes.count)
            {
                bytes[place] = extreme
            }
        }
    }
    return bytes
}

/// A copy of a file with something wrong, as a rule where it matters.
///
/// - Parameters:
///   - original: The file.
///   - regions: Where bytes are changed; each is chosen as often as the others.
///   - random: What decides the changes.
public func mutated(
    _ original: [UInt8], in regions: [Range<Int>], using random: inout SeededGenerator
) -> [UInt8] {
    var bytes = original
    for _ in 0..<Int.random(in: 1...6, using: &random) {
        guard let region = regions.randomElement(using: &random), !region.isEmpty else { continue }
        let place = Int.random(in: region, using: &random)
        let end = min(bytes.count, place + [1, 2, 4, 8][Int.random(in: 0..<4, using: &random)])
        guard place < bytes.count else { continue }
        let extreme: [UInt8] = [0, 1, 0x7F, 0x80, 0xFF]
        switch Int.random(in: 0..<12, using: &random) {
        case 0: bytes.removeSubrange(Int.random(in: place...bytes.count, using: &random)...)
        case 1: bytes.removeSubrange(place..<end)
        case 2: bytes.insert(contentsOf: bytes[place..<end], at: place)
        case 3...6:
            let byte = extreme.randomElement(using: &random) ?? 0
            for index in place..<end { bytes[index] = byte }
        case 7: bytes[place] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        default: bytes[place] = UInt8.random(in: 0...255, using: &random)
        }
    }
    return bytes
}
