// SPDX-License-Identifier: BSD-3-Clause
import Glibc

@_silgen_name("host_run")
func hostRun() -> Int32

/// A host that uses Swift's runtime before and after the library.
@main
struct Host {
    static func main() {
        let names = Dictionary(uniqueKeysWithValues: (0..<1000).map { ("name \($0)", "\($0)") })
        let status = hostRun()
        guard names["name 7"] == "7" else { exit(1) }
        exit(status)
    }
}
