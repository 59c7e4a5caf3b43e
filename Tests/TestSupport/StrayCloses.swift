// SPDX-License-Identifier: BSD-3-Clause
import Foundation

/// Repeats a function, and returns how often it closed a descriptor that belonged to another thread.
///
/// Code that closes a descriptor twice closes whatever another thread has opened in between.
public func strayCloses(whileRepeating count: Int, _ body: @escaping @Sendable () -> Void) -> Int {
    let isOver = Locked(false)
    let finished = DispatchSemaphore(value: 0)
    Thread.detachNewThread {
        for _ in 0..<count { body() }
        isOver.withLock { $0 = true }
        finished.signal()
    }
    var strays = 0
    while !isOver.withLock({ $0 }) {
        // The lowest free number is the one that was closed last.
        let opened = (0..<8).map { _ in open("/dev/null", O_RDONLY | O_CLOEXEC) }
        for descriptor in opened where close(descriptor) != 0 { strays += 1 }
    }
    finished.wait()
    return strays
}
