// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakRecords

@Suite struct `Colours` {
    @Test(arguments: [
        ("#3366cc", TweakColor(red: 0x33, green: 0x66, blue: 0xCC)),
        ("#000000", TweakColor(red: 0, green: 0, blue: 0)),
        ("#01020380", TweakColor(red: 1, green: 2, blue: 3, alpha: 0x80)),
        ("#ffffff00", TweakColor(red: 255, green: 255, blue: 255, alpha: 0)),
    ])
    func `A colour is read as it is written`(text: String, color: TweakColor) {
        #expect(TweakColor(text) == color)
        #expect(color.description == text)
    }

    @Test(arguments: [
        ("#36C", "#3366cc"), ("#36C8", "#3366cc88"), ("#36cf", "#3366cc"), ("#3366CC", "#3366cc"),
        ("#AbCdEfFF", "#abcdef"),
    ])
    func `Short and upper-case forms are read`(text: String, written: String) {
        #expect(TweakColor(text)?.description == written)
    }

    @Test(arguments: [
        "", "#", "#3", "#33", "#3366c", "#3366cc8", "#3366cc888", "#3366cg", "# 3366cc", "#3366cc ",
        "##366cc", "#٣٣٣", "#３３３", "rad", "0x3366cc",
    ])
    func `Other text is not a colour`(text: String) {
        #expect(TweakColor(text) == nil)
    }
}
