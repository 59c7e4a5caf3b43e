// SPDX-License-Identifier: BSD-3-Clause
import Testing
import TweakSystem

@Suite struct `The last component of a path` {
    @Test(arguments: [
        ("/usr/bin/game", "game"), ("game", "game"), ("./é", "é"), ("/usr/bin/", "bin"), ("a//b//", "b"),
        ("/", "/"), ("", ""), ("/a/\u{301}b", "\u{301}b"),
    ])
    func `is found by bytes`(path: String, name: String) {
        #expect(lastComponent(of: path) == name)
    }
}
