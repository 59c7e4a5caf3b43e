// SPDX-License-Identifier: BSD-3-Clause
import Foundation

/// Waits until something is so, for at most a minute.
///
/// - Returns: Whether it is.
public func waitUntil(_ condition: () throws -> Bool) rethrows -> Bool {
    let deadline = Date() + 60
    // Others need the processor, too, if it takes long.
    var pause: UInt32 = 1000
    while Date() < deadline {
        if try condition() { return true }
        usleep(pause)
        pause = min(pause + pause / 8, 10_000)
    }
    return try condition()
}

/// How often a process's first thread, or a thread, has gone to sleep, which tells that its loop goes on; 0 if there is
/// none.
///
/// - Parameter name: Its folder in `/proc`, such as `4711` or `4711/task/4712`.
public func sleepCount(of name: String) -> Int {
    let status = (try? String(contentsOfFile: "/proc/\(name)/status", encoding: .utf8)) ?? ""
    let line = status.split(separator: "\n").first { $0.hasPrefix("voluntary_ctxt_switches:") }
    return line?.split(separator: "\t").last.flatMap { Int($0) } ?? 0
}
