// SPDX-License-Identifier: BSD-3-Clause
import CommandSupport
import Dispatch
import Glibc

/// Runs blocking code on a thread of its own.
func onThread(_ body: @escaping @Sendable () -> Void) {
    // If no thread can be started, a thread of Dispatch blocks.
    if startThread(stackSize: 1 << 20, body) != nil { DispatchQueue.global().async(execute: body) }
}

/// Runs blocking code on a thread of its own, and suspends the task meanwhile.
func waitingOnThread<Result: Sendable>(
    _ body: @escaping @Sendable () throws(Failure) -> Result
) async throws(Failure) -> Result {
    let result: Swift.Result<Result, Failure> = await withCheckedContinuation { continuation in
        onThread {
            do throws(Failure) {
                let value = try body()
                continuation.resume(returning: .success(value))
            } catch {
                continuation.resume(returning: .failure(error))
            }
        }
    }
    return try result.get()
}

/// Runs the jobs of an actor on a serial queue of Dispatch, where they may block.
final class QueueExecutor: SerialExecutor {
    private let queue: DispatchQueue

    init(_ label: String) { queue = DispatchQueue(label: label) }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        let executor = asUnownedSerialExecutor()
        queue.async { job.runSynchronously(on: executor) }
    }
}

/// Wakes a thread that waits for a descriptor.
final class WakeUp: Sendable {
    private let (reading, writing): (CInt, CInt)

    init() {
        var ends: (CInt, CInt) = (-1, -1)
        withUnsafeMutableBytes(of: &ends) { bytes in
            _ = pipe(bytes.assumingMemoryBound(to: CInt.self).baseAddress)
        }
        for end in [ends.0, ends.1] where end >= 0 {
            _ = fcntl(end, F_SETFL, O_NONBLOCK)
            _ = fcntl(end, F_SETFD, FD_CLOEXEC)
        }
        (reading, writing) = ends
    }

    deinit { for end in [reading, writing] where end >= 0 { close(end) } }

    func wake() { _ = write(writing, "!", 1) }

    /// Waits for a call of ``wake()``, or until a descriptor is readable.
    ///
    /// - Returns: Whether the descriptor is readable.
    @discardableResult
    func wait(orFor other: CInt = -1, _ duration: Duration) -> Bool {
        var entries = [other, reading].map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
        poll(&entries, 2, CInt(clamping: Int64((duration / .milliseconds(1)).rounded(.up))))
        if entries[1].revents != 0 {
            withUnsafeTemporaryAllocation(byteCount: 64, alignment: 1) { buffer in
                while read(reading, buffer.baseAddress, buffer.count) == buffer.count {}
            }
        }
        return entries[0].revents != 0
    }
}
