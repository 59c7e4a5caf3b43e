// SPDX-License-Identifier: BSD-3-Clause
import Glibc
import TweakSystem

/// Reports the folders in which files were created, changed, renamed or removed. Source: inotify(7).
///
/// While a folder is missing, its nearest existing parent is watched instead.
struct FolderChanges: ~Copyable {
    /// Readable after a change; -1 if the kernel gives out no more.
    let descriptor = inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK))
    /// The folders for which a watch was added.
    private var watches: [CInt: Set<String>] = [:]

    private static let events = UInt32(
        IN_CLOSE_WRITE | IN_MOVE | IN_CREATE | IN_DELETE | IN_DELETE_SELF | IN_MOVE_SELF)

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Watches these folders and no others. Call it again after each change, because a folder may have been replaced.
    ///
    /// - Returns: The folders that cannot be watched.
    mutating func watch(_ folders: Set<String>) -> Set<String> {
        var added: [CInt: Set<String>] = [:]
        let unwatched = folders.filter { !add($0, for: $0, to: &added) }
        for watch in watches.keys where added[watch] == nil { inotify_rm_watch(descriptor, watch) }
        watches = added
        return unwatched
    }

    /// - Returns: Whether the folder, or one of its parents, is watched.
    private func add(_ path: String, for folder: String, to added: inout [CInt: Set<String>]) -> Bool {
        while true {
            let watch = inotify_add_watch(descriptor, path, Self.events)
            if watch >= 0 {
                added[watch, default: []].insert(folder)
                return true
            }
            guard errno == ENOENT, add(containingFolder(of: path), for: folder, to: &added) else {
                return false
            }
            // It may have been created before its parent was watched.
            guard access(path, F_OK) == 0 else { return true }
        }
    }

    /// Waits for a change, or for a call of ``WakeUp/wake()``.
    ///
    /// - Returns: The changed folders. Changes in quick succession are reported together.
    func wait(_ wakeUp: WakeUp, _ duration: Duration) -> Set<String> {
        guard wakeUp.wait(orFor: descriptor, duration) else { return [] }
        usleep(10_000)
        var changed: Set<String> = []
        withUnsafeTemporaryAllocation(byteCount: 4096, alignment: 8) { buffer in
            while case let count = read(descriptor, buffer.baseAddress, buffer.count), count > 0 {
                var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                while rest.count >= MemoryLayout<inotify_event>.size {
                    let event = rest.loadUnaligned(as: inotify_event.self)
                    let isOverflow = event.mask & UInt32(IN_Q_OVERFLOW) != 0
                    changed.formUnion(isOverflow ? Set(watches.values.joined()) : watches[event.wd] ?? [])
                    let size = MemoryLayout<inotify_event>.size + Int(event.len)
                    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(size))
                }
            }
        }
        return changed
    }
}
