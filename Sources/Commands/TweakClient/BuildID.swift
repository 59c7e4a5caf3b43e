// SPDX-License-Identifier: BSD-3-Clause
internal import TweakELF
internal import TweakRecords

/// The build id of an executable, in hexadecimal digits; `nil` if it has none or cannot be read.
package func buildID(of path: String) -> String? {
    var id: String?
    try? ELFFile(path: path).forEachObject { object in id = try? object.buildID()?.hexadecimal }
    return id
}
