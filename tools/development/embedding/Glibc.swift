// SPDX-License-Identifier: BSD-3-Clause

// The module Glibc for Embedded Swift, which has none. Like the toolchain's, it is the C library with what Swift does not
// import from its headers; add what the library's core needs.

@_exported public import SwiftGlibc

package var errno: CInt {
    get { __errno_location().pointee }
    set { __errno_location().pointee = newValue }
}

@discardableResult
package func fcntl(_ descriptor: CInt, _ command: CInt, _ number: CInt) -> CInt {
    fcntl_with_number(descriptor, command, number)
}

package var MAP_FAILED: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: -1) }

// In the headers they are no `mode_t`.
package var S_IFMT: mode_t { 0o170000 }
package var S_IFREG: mode_t { 0o100000 }
package var S_IFDIR: mode_t { 0o040000 }
package var S_IFLNK: mode_t { 0o120000 }
package var S_ISVTX: mode_t { 0o1000 }
