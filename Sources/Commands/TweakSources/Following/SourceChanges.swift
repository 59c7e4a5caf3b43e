// SPDX-License-Identifier: BSD-3-Clause
internal import CommandSupport
internal import Glibc
internal import TweakSystem

/// Reports files that were written and closed, or put in place by a rename. Source: inotify(7).
///
/// The folders are watched, because many editors replace the file.
struct SourceChanges: ~Copyable {
    /// Readable after a change.
    let descriptor: CInt
    private let paths: Set<String>
    /// The watched folders.
    private var folders: [CInt: String] = [:]
    /// Folders that are gone and may come back, as when another branch is checked out.
    private(set) var missing: Set<String> = []
    /// Files that somebody has begun to write and not closed yet.
    private(set) var unfinished: Set<String> = []

    private static let events = UInt32(
        IN_MODIFY | IN_CLOSE_WRITE | IN_MOVED_TO | IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR)

    /// - Parameter paths: The files, without symbolic links.
    init(of paths: Set<String>) throws(Failure) {
        self.paths = paths
        descriptor = inotify_init1(CInt(IN_CLOEXEC | IN_NONBLOCK))
        guard descriptor >= 0 else { throw Failure("files cannot be watched: \(systemMessage())", .system) }
        for folder in Set(paths.map(containingFolder)) {
            let watch = inotify_add_watch(descriptor, folder, Self.events)
            guard watch >= 0 || errno == ENOENT else {
                throw Failure("\(folder): it cannot be watched: \(systemMessage())", .system)
            }
            if watch >= 0 { folders[watch] = folder } else { missing.insert(folder) }
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// The files that changed since the last call and are not being written.
    mutating func next() -> Set<String> {
        var changed: Set<String> = []
        withUnsafeTemporaryAllocation(byteCount: 1 << 14, alignment: 8) { buffer in
            while case let count = read(descriptor, buffer.baseAddress, buffer.count), count > 0 {
                var rest = UnsafeRawBufferPointer(rebasing: buffer[..<count])
                while rest.count >= MemoryLayout<inotify_event>.size {
                    let event = rest.loadUnaligned(as: inotify_event.self)
                    let size = MemoryLayout<inotify_event>.size + Int(event.len)
                    let name = rest[MemoryLayout<inotify_event>.size..<min(size, rest.count)].prefix {
                        $0 != 0
                    }
                    note(event, of: String(decoding: name, as: UTF8.self), &changed)
                    rest = UnsafeRawBufferPointer(rebasing: rest.dropFirst(size))
                }
            }
        }
        for folder in missing {
            let watch = inotify_add_watch(descriptor, folder, Self.events)
            guard watch >= 0 else { continue }
            missing.remove(folder)
            folders[watch] = folder
            changed.formUnion(paths.filter { containingFolder(of: $0) == folder })
        }
        return changed
    }

    private mutating func note(_ event: inotify_event, of name: String, _ changed: inout Set<String>) {
        func has(_ events: Int...) -> Bool { events.contains { event.mask & UInt32($0) != 0 } }
        if event.mask & UInt32(IN_Q_OVERFLOW) != 0 {
            unfinished = []
            changed = paths
            return
        }
        guard let folder = folders[event.wd] else { return }
        if has(Int(IN_MOVE_SELF), Int(IN_DELETE_SELF), Int(IN_IGNORED)) {
            folders[event.wd] = nil
            inotify_rm_watch(descriptor, event.wd)
            missing.insert(folder)
            return
        }
        let path = folder + "/" + name
        guard paths.contains(path) else { return }
        if has(Int(IN_MODIFY)) {
            unfinished.insert(path)
            changed.remove(path)
        } else {
            unfinished.remove(path)
            changed.insert(path)
        }
    }
}
