// SPDX-License-Identifier: BSD-3-Clause
#if compiler(<6.3)
extension Array {
    /// Appends the elements that a closure writes, as Swift 6.3 does.
    package mutating func append(
        addingCapacity capacity: Int, initializingWith initializer: (inout OutputSpan<Element>) -> Void
    ) {
        self += Array(unsafeUninitializedCapacity: capacity) { buffer, count in
            var span = OutputSpan(buffer: buffer, initializedCount: 0)
            initializer(&span)
            count = span.finalize(for: buffer)
        }
    }
}
#endif
