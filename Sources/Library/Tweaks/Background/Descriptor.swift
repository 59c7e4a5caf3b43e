// SPDX-License-Identifier: BSD-3-Clause
internal import CTweakSystem
internal import Glibc

/// A file descriptor that the library owns.
///
/// Some programs close every descriptor that they did not open, and may then reuse the number for a file of their own.
/// So check ``isOurs`` before using the number. All anonymous files, such as those of inotify, count as the same file
/// here.
struct Descriptor: Equatable, Sendable {
    let number: CInt
    private let device: UInt64
    private let node: UInt64

    /// The open descriptors. A forked child closes them.
    static let opened = Guarded<[Descriptor]>([])

    /// Opens a file, on a descriptor other than the three standard ones.
    ///
    /// - Parameter open: Returns the descriptor, or -1.
    /// - Returns: `nil` if it could not be opened; `errno` has the reason.
    static func make(_ open: () -> CInt) -> Descriptor? {
        opened.withLock { opened in
            let number = fbtweak__above_standard(open())
            guard number >= 0 else { return nil }
            guard let descriptor = Descriptor(number) else {
                Glibc.close(number)
                return nil
            }
            opened.append(descriptor)
            return descriptor
        }
    }

    private init?(_ number: CInt) {
        var status = stat()
        guard fstat(number, &status) == 0 else { return nil }
        self.number = number
        device = UInt64(status.st_dev)
        node = UInt64(status.st_ino)
    }

    /// Whether the number still refers to the same file.
    var isOurs: Bool { Descriptor(number) == self }

    func close() {
        Self.opened.withLock { opened in
            guard let index = opened.firstIndex(of: self) else { return }
            opened.remove(at: index)
            if isOurs { Glibc.close(number) }
        }
    }

    static func closeAll() {
        opened.withLock { opened in
            for descriptor in opened where descriptor.isOurs { Glibc.close(descriptor.number) }
            opened = []
        }
    }
}
