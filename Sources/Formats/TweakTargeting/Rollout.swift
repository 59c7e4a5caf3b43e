// SPDX-License-Identifier: BSD-3-Clause
/// The position of a host in the rollout of a feature to a percentage of hosts.
///
/// The position is the first four bytes of SHA-256 of `<salt>/<key>/<machine id>`, as a big-endian number out of 2³². A
/// feature with `"percentage": 10` is on for hosts with positions in the lowest tenth. So a host keeps its position, a
/// higher percentage only adds hosts, and another key or salt shuffles the hosts. In a shell:
///
///     $ printf '%s' "$salt/$key/$(cat /etc/machine-id)" | sha256sum | cut -c 1-8
package struct RolloutPosition: Hashable, Sendable {
    let number: UInt32

    /// Computes the position of a host for a feature.
    ///
    /// - Parameters:
    ///   - machine: The machine id, or another unique name of the host.
    ///   - key: The key of the feature.
    ///   - salt: The feature's salt; empty if it has none.
    package init(machine: String, key: String, salt: String = "") {
        let digest = SHA256.digest(of: Array("\(salt)/\(key)/\(machine)".utf8))
        number = digest.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }

    /// The position as a percentage.
    package var percent: Double { Double(number) * 100 / 4_294_967_296 }

    /// Returns whether the position is below a percentage.
    package func isBelow(_ percentage: Double) -> Bool { percent < percentage }
}

/// SHA-256 of FIPS 180-4.
enum SHA256 {
    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4,
        0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7,
        0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc,
        0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351,
        0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e,
        0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585,
        0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f,
        0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7,
        0xc671_78f2,
    ]

    static func digest(of message: [UInt8]) -> [UInt8] {
        var state: [UInt32] = [
            0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab,
            0x5be0_cd19,
        ]
        var padded = message + [0x80]
        while padded.count % 64 != 56 { padded.append(0) }
        let bits = UInt64(message.count) &* 8
        for shift in stride(from: 56, through: 0, by: -8) {
            padded.append(UInt8(truncatingIfNeeded: bits >> UInt64(shift)))
        }
        for start in stride(from: 0, to: padded.count, by: 64) {
            compress(padded[start..<(start + 64)], into: &state)
        }
        return state.flatMap { word in
            stride(from: 24, through: 0, by: -8).map { UInt8(truncatingIfNeeded: word >> UInt32($0)) }
        }
    }

    private static func compress(_ block: ArraySlice<UInt8>, into state: inout [UInt32]) {
        var words = stride(from: block.startIndex, to: block.endIndex, by: 4).map { place in
            block[place..<(place + 4)].reduce(UInt32(0)) { $0 << 8 | UInt32($1) }
        }
        for index in 16..<64 {
            let (w15, w2) = (words[index - 15], words[index - 2])
            let s0 = rotated(w15, 7) ^ rotated(w15, 18) ^ w15 >> 3
            let s1 = rotated(w2, 17) ^ rotated(w2, 19) ^ w2 >> 10
            words.append(words[index - 16] &+ s0 &+ words[index - 7] &+ s1)
        }
        var (a, b, c, d) = (state[0], state[1], state[2], state[3])
        var (e, f, g, h) = (state[4], state[5], state[6], state[7])
        for (constant, word) in zip(constants, words) {
            let s1 = rotated(e, 6) ^ rotated(e, 11) ^ rotated(e, 25)
            let choice = (e & f) ^ (~e & g)
            let t1 = h &+ s1 &+ choice &+ constant &+ word
            let s0 = rotated(a, 2) ^ rotated(a, 13) ^ rotated(a, 22)
            let majority = (a & b) ^ (a & c) ^ (b & c)
            (h, g, f, e) = (g, f, e, d &+ t1)
            (d, c, b, a) = (c, b, a, t1 &+ s0 &+ majority)
        }
        for (index, word) in [a, b, c, d, e, f, g, h].enumerated() { state[index] &+= word }
    }

    private static func rotated(_ word: UInt32, _ count: UInt32) -> UInt32 {
        word >> count | word << (32 - count)
    }
}
