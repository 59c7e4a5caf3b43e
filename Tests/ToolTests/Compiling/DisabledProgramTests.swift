// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// The package is built for each, which takes minutes.
@Suite(.serialized, .enabled(if: isLong)) struct `A release that makes tweaks at run time` {
    private let package: TemporaryDirectory

    init() throws {
        package = try TemporaryDirectory()
        try Example.writeManifest(
            in: package,
            target:
                #".executableTarget(name: "App", dependencies: [.product(name: "Tweaks", package: "tweaks")])"#
        )
        try package.write(
            "Sources/App/App.swift",
            """
            import Glibc
            import Tweaks
            struct Search { @FeatureVariable("search", "limit") var limit = 20 }
            @main struct App {
                static func main() throws {
                    let search = Search()
                    let gain = try TweakStore.shared.make("App", "Control", "Gain", default: 1.0)
                    if gain.value == 1 { try gain.set(2) }
                    search.limit += 1
                    print(gain.value, search.limit)
                    fflush(nil)
                    while access("end", F_OK) != 0 { usleep(1000) }
                }
            }
            """)
    }

    @Test(arguments: [false, true])
    func `can be changed from outside, unless that is disabled`(isDisabled: Bool) throws {
        let switches = isDisabled ? ["-Xswiftc", "-DFB_TWEAK_DISABLED", "-Xcc", "-DFB_TWEAK_DISABLED"] : []
        let build = try Example.swift(["build", "--package-path", package.path, "-c", "release"] + switches)
        try #require(build.succeeded, "\(build.error)")
        let app = package(".build/release/App")
        let note = "\(app): code that uses the tweaks of the process, such as some made at run time\n"
        #expect(try dump(["--forbid", app], home: package).output == (isDisabled ? "" : note))
        let home = try LiveProgram.home()
        for values in ["2.0 21\n", isDisabled ? "2.0 21\n" : "2.0 22\n"] {
            let running = try start(app, home: home, in: home.path)
            defer { running.kill() }
            #expect(waitUntil { running.written.output == values }, "\(running.written)")
            let list = try run("\(Locations.commands)/tweak", ["list", "\(running.processID)"], home: home)
            #expect(list.output.contains("Gain") != isDisabled, "\(list.output)")
            let get = try run("\(Locations.commands)/tweak", ["get", "App", "Gain"], home: home)
            #expect(
                isDisabled
                    ? get.error.contains("App (\(running.processID)): the process has no tweaks")
                    : get.output == "2.0\n", "\(get)")
            try home.write("end", "")
            #expect(running.wait().succeeded)
            try FileManager.default.removeItem(atPath: home("end"))
        }
        #expect(FileManager.default.fileExists(atPath: home("config/tweaks/App")) != isDisabled)
        // The socket was there until the end.
        #expect(FileManager.default.fileExists(atPath: home("runtime/tweaks")) != isDisabled)
    }
}
