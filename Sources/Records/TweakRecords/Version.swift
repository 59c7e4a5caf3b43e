// SPDX-License-Identifier: BSD-3-Clause
/// The version of the library and its packages.
package let libraryVersion = "1.0.0-beta.1"

/// The name that programs load the library by. Its number changes only if linked programs must be linked again.
package let librarySoname = "libtweaks.so.0"
