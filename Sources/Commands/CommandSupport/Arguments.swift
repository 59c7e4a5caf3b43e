// SPDX-License-Identifier: BSD-3-Clause
internal import CCommandSupport
internal import Glibc
internal import TweakSystem

/// The arguments of the process as bytes, beginning with its name.
package var argumentBytes: [UnsafeMutablePointer<CChar>?] {
    Array(UnsafeBufferPointer(start: fbtweak__arguments(), count: Int(fbtweak__argument_count())))
}

/// The name under which the process was started, without its folder.
package var programName: String { argumentBytes.first?.map { lastComponent(of: pathText($0)) } ?? "" }

/// The arguments of a command, without its name.
///
/// They are paths as `pathText` makes them; `repaired` replaces what is not UTF-8. A process that was started with no
/// arguments at all, not even a name, ends with `EX_USAGE`, because its task is unknown.
package func commandArguments(of command: String) -> [String] {
    let arguments = argumentBytes
    guard !arguments.isEmpty else {
        printMessage("it was started with an empty argument list; argv[0] must be its name", of: command)
        exit(EX_USAGE)
    }
    return arguments.dropFirst().compactMap { $0.map { pathText($0) } }
}
