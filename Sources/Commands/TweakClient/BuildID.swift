// SPDX-License-Identifier: BSD-3-Clause
internal import TweakELF
internal import TweakRecords

/// The build id of an executable, in hexadecimal digits; `nil` if it has none or cannot be read.
package func buildID(of path: String) -> String? {
    var id: String?
    try? ELFFile(path: path).forEachObject { object in id = try? object.buildID()?.hexadecimal }
    return id
}

/// The build ids of an executable and of the libraries that it would be started with, as far as they have one.
func buildIDs(of path: String) -> [String] {
    var ids = buildID(of: path).map { [$0] } ?? []
    for library in (try? ELFFile(path: path).neededLibraries()) ?? [] {
        try? library.forEachObject { object in
            if let id = try? object.buildID()?.hexadecimal { ids.append(id) }
        }
    }
    return ids
}
