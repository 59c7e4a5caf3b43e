// SPDX-License-Identifier: BSD-3-Clause

import Foundation
import TestSupport
import Testing

@Suite struct `Licenses` {
    /// Those that users copy, and what programs have written.
    private static let others = [
        "tools/example/", "tools/development/packaging/examples/", "tools/development/toolchain-probe/",
        "tools/development/fuzzing/corpus/", "Tests/Programs/released/1",
    ]
    private static let suffixes = ["swift", "c", "h", "cpp", "hpp", "py", "js", "mjs", "css", "html"]

    @Test(arguments: ["CSupport", "Sources", "Tests", "tools"])
    func `Every source file names its license in the first two lines`(folder: String) throws {
        let names = try #require(
            FileManager.default.enumerator(atPath: Locations.package + "/" + folder)
        ).compactMap { $0 as? String }
        let files = names.filter { name in
            let path = folder + "/" + name
            return !path.contains("/.build/") && !Self.others.contains(where: path.hasPrefix)
                && (Self.suffixes.contains(URL(fileURLWithPath: name).pathExtension) || !name.contains("."))
        }
        let missing = files.filter { name in
            guard let data = FileManager.default.contents(atPath: "\(Locations.package)/\(folder)/\(name)")
            else { return false }
            let lines = String(decoding: data.prefix(500), as: UTF8.self).split(separator: "\n").prefix(2)
            let isSource = name.contains(".") || lines.first?.hasPrefix("#!") == true
            return isSource && !lines.contains { $0.contains("SPDX-License-Identifier: BSD-3-Clause") }
        }
        #expect(files.count > 1 && missing.sorted() == [])
    }
}
