internal import Glibc

/// An open file of the library's own.
///
/// The program may close it by its number, as some close all that they did not open, and then have the number for a
/// file of its own. So whoever uses the number asks first whether it still stands for the same file. Of files that
/// are none on a disk, such as those of inotify, all are the same here.
struct Descriptor: Hashable, Sendable {
    let number: CInt
    private let device: UInt64
    private let node: UInt64

    /// Those that are open. A child that was forked closes them.
    static let opened = Guarded<Set<Descriptor>>([])

    /// Opens a file.
    ///
    /// - Parameter open: Returns the number, or -1.
    /// - Returns: `nil` if it could not be opened; `errno` says why.
    static func make(_ open: () -> CInt) -> Descriptor? {
        opened.withLock { opened in
            let number = open()
            guard number >= 0 else { return nil }
            let descriptor = Descriptor(number)
            if let descriptor { opened.insert(descriptor) }
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

    /// Whether the program has left it alone.
    var isOurs: Bool { Descriptor(number) == self }

    func close() { Self.opened.withLock { if $0.remove(self) != nil, isOurs { Glibc.close(number) } } }

    static func closeAll() {
        opened.withLock { opened in
            for descriptor in opened where descriptor.isOurs { Glibc.close(descriptor.number) }
            opened = []
        }
    }
}
