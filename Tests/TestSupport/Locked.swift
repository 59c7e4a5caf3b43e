// SPDX-License-Identifier: BSD-3-Clause
import Foundation

/// A value and the lock that guards it, in a form that ThreadSanitizer sees.
public final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    /// Makes a guarded value.
    public init(_ value: Value) { self.value = value }

    /// Runs `body` with the lock held.
    public func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}
