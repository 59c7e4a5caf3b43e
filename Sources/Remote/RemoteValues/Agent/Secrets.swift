// SPDX-License-Identifier: BSD-3-Clause
#if Remote
internal import Glibc
internal import TweakFormats
internal import TweakSystem

/// Reads a file with a secret.
///
/// - Returns: The bytes, more than `limit` if the file is larger.
/// - Throws: ``FormatError`` if the file cannot be read, or is world-readable.
func readSecret(_ path: String, limit: Int) throws(FormatError) -> [UInt8] {
    let descriptor = openFile(path, O_RDONLY)
    defer { if descriptor >= 0 { close(descriptor) } }
    var status = stat()
    guard descriptor >= 0, fstat(descriptor, &status) == 0, let bytes = readToEnd(descriptor, limit: limit)
    else { throw .malformed(path: path, reason: systemMessage()) }
    guard status.st_mode & 0o007 == 0 else {
        throw .malformed(path: path, reason: "the file is world-readable; run chmod o= on it")
    }
    return bytes
}
#endif
