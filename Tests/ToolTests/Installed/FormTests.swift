// SPDX-License-Identifier: BSD-3-Clause
import Foundation
import TestSupport
import Testing

/// The installed library compared with the one of ordinary Swift: `Tests/Programs/forms`.
@Suite(.enabled(if: sanitizer == nil, "what is installed is not built with it"))
struct `The forms of the library` {
    @Test func `Embedded and ordinary Swift behave the same`() throws {
        let prefix = try Installation.prefix.get()
        let folder = try TemporaryDirectory()
        let process = Process()
        process.executableURL = URL(fileURLWithPath: try Locations.program("bash"))
        process.currentDirectoryURL = URL(fileURLWithPath: Locations.package)
        process.arguments = [
            "-euc",
            """
            . tools/development/building
            tweaks_choose_linking
            read -ra libelf <<<"$(pkg-config --libs libelf)"
            tweaks_quietly tweaks_link_library .build/install/release "$1/libtweaks.so" "${libelf[@]}"
            Tests/Programs/forms/run --library "$2/lib/libtweaks.so.0" --other "$1/libtweaks.so" \
              --prefix "$2" --steps "$3"
            """, "forms", folder.path, prefix, isLong ? "100000" : "2500",
        ]
        let result = try RunningCommand(process).wait()
        withExtendedLifetime(folder) {}
        print(result.output.split(separator: "\n").last.map(String.init) ?? "")
        #expect(result.succeeded, "\(result.output)\(result.error)")
    }
}
