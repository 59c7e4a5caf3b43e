// SPDX-License-Identifier: BSD-3-Clause
internal import TweakELF
internal import TweakRecords

/// The build id of an executable, in hexadecimal digits; `nil` if it has none or cannot be read.
package func buildID(of path: String) -> String? {
    (try? ELFFile(path: path)).flatMap {
        digits(of: $0) { (object) throws(ELFError) in try object.buildID() }
    }
}

/// What tells the build of an executable or library from others, in hexadecimal digits: its build id, or a checksum of
/// the file; `nil` if it cannot be read.
package func buildIdentity(of path: String) -> String? {
    (try? ELFFile(path: path)).flatMap(buildIdentity)
}

private func buildIdentity(of file: ELFFile) -> String? {
    digits(of: file) { (object) throws(ELFError) in try object.identity() }
}

private func digits(of file: ELFFile, _ bytes: (ELFObject) throws(ELFError) -> [UInt8]?) -> String? {
    var digits: String?
    try? file.forEachObject { (object) throws(ELFError) in digits = try bytes(object)?.hexadecimal }
    return digits
}

/// The identities of an executable and of the libraries that it would be started with.
func buildIdentities(of path: String) -> [String] {
    guard let file = try? ELFFile(path: path) else { return [] }
    return ([file] + ((try? file.neededLibraries()) ?? [])).compactMap(buildIdentity)
}
