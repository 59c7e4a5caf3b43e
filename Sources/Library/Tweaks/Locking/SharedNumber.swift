// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
internal import Glibc

/// A number in memory that a process shares with the children that it forks.
///
/// `@unchecked Sendable`: the member is constant, and the memory is only accessed atomically.
final class SharedNumber: @unchecked Sendable {
    private let memory: UnsafeMutablePointer<UInt64>

    /// Creates a number, 0 at first; `nil` without memory.
    init?() {
        let size = MemoryLayout<UInt64>.size
        let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)
        guard let memory, memory != MAP_FAILED else { return nil }
        self.memory = memory.bindMemory(to: UInt64.self, capacity: 1)
    }

    deinit { munmap(memory, MemoryLayout<UInt64>.size) }

    var value: UInt64 {
        get { fbtweak__load_64(memory) }
        set { fbtweak__store_64(memory, newValue) }
    }
}
