// SPDX-License-Identifier: BSD-3-Clause
internal import TweakELF
internal import TweakRecords

/// The build id of an executable, in hexadecimal digits; `nil` if it has none or cannot be read.
package func buildID(of path: String) -> String? {
    var id: String?
    try? ELFFile(path: path).forEachObject { object in id = try? object.buildID()?.hexadecimal }
    return id
}

/// What tells the build of an executable or library from others, in hexadecimal digits: its build id, or a checksum of
/// the file; `nil` if it cannot be read.
package func buildIdentity(of path: String) -> String? {
    (try? ELFFile(path: path)).flatMap(buildIdentity)
}

private func buildIdentity(of file: ELFFile) -> String? {
    var identity: String?
    try? file.forEachObject { object in identity = try? object.identity()?.hexadecimal }
    return identity
}

/// The identities of an executable and of the libraries that it would be started with.
func buildIdentities(of path: String) -> [String] {
    guard let file = try? ELFFile(path: path) else { return [] }
    return ([file] + ((try? file.neededLibraries()) ?? [])).compactMap(buildIdentity)
}
