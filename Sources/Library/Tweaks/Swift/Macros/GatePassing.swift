// SPDX-License-Identifier: BSD-3-Clause
public import CTweaks

/// Passes a gate. For macro expansions only.
///
/// - Parameter record: The record of the gate.
@inlinable @inline(__always)
public func __gate(_ record: UnsafeMutableRawPointer) {
    let state = (record + 8).assumingMemoryBound(to: UInt64.self)
    if fbtweak__is_waiting(state) { fbtweak__pass_gate(record) }
}
