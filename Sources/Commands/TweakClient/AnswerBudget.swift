// SPDX-License-Identifier: BSD-3-Clause
internal import Synchronization

/// The size of the answers that all programs together may have in the memory of this process, for a process that follows
/// many. One program may be broken or hostile, and send as much as a single answer may have.
package final class AnswerBudget: Sendable {
    /// The largest sum of all shares in bytes.
    package let most: Int
    private let used = Mutex(0)

    package init(most: Int) { self.most = most }

    /// A part of a budget, which is free again when nobody has the share any more.
    package final class Share: Sendable {
        private let budget: AnswerBudget
        private let size = Mutex(0)

        package init(of budget: AnswerBudget) { self.budget = budget }

        deinit { budget.add(-size.withLock { $0 }) }

        /// Changes the size.
        ///
        /// - Throws: ``ConnectionError/tooMuch(most:)`` if less is left, and the share stays as it is.
        package func resize(to bytes: Int) throws(ConnectionError) {
            try size.withLock { size throws(ConnectionError) in
                guard bytes != size else { return }
                guard budget.add(bytes - size) else { throw .tooMuch(most: budget.most) }
                size = bytes
            }
        }
    }

    /// - Returns: `false` if less is left.
    @discardableResult
    private func add(_ bytes: Int) -> Bool {
        used.withLock { used in
            guard bytes <= 0 || bytes <= most - used else { return false }
            used += bytes
            return true
        }
    }
}
