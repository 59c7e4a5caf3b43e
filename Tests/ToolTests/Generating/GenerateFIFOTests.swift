// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

@Suite struct `A FIFO where tweak generate looks for a file` {
    @Test(arguments: [(".flip.yml", "plist"), ("Settings.bundle/Root.plist", "settings")])
    func `is an error and not waited for`(path: String, command: String) throws {
        let home = try TemporaryDirectory()
        try home.write("features.json", #"{"default": {"search": {"enabled": true}}}"#)
        let file = home(path)
        try FileManager.default.createDirectory(
            atPath: URL(fileURLWithPath: file).deletingLastPathComponent().path,
            withIntermediateDirectories: true)
        try #require(mkfifo(file, 0o600) == 0)
        let result = try run(
            "/usr/bin/timeout", ["60", Locations.product("tweak"), "generate", command], home: home,
            in: home.path)
        #expect(result.status == 66)
        #expect(result.error == "tweak: \(path): it is not a regular file\n")
    }
}
