// SPDX-License-Identifier: BSD-3-Clause
import Foundation

/// Waits until something is so, for at most a minute.
///
/// - Returns: Whether it is.
public func waitUntil(_ condition: () throws -> Bool) rethrows -> Bool {
    let deadline = Date() + 60
    while Date() < deadline {
        if try condition() { return true }
        usleep(1000)
    }
    return try condition()
}
