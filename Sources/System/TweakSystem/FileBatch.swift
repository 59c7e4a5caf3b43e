// SPDX-License-Identifier: BSD-3-Clause
package import Glibc

/// A file to be replaced together with others.
package struct NewFile: Sendable {
    /// The path; its directory is created if necessary, world-readable.
    package let path: String
    package let bytes: [UInt8]

    package init(path: String, bytes: [UInt8]) { (self.path, self.bytes) = (path, bytes) }
}

extension FileReplacement {
    /// The number of files from which on their file system is flushed once, instead of twice for each of them: flushing
    /// 10,000 files one by one takes many seconds. Few files do not wait for everything that others write.
    static let manyFiles = 32

    /// The number of files that are flushed at once. The folder of each is open meanwhile, and a process may have no more
    /// than 1024 files open.
    private static let mostAtOnce = 256

    /// Replaces files atomically, each as if alone.
    ///
    /// Call it with the lock that all writers take.
    ///
    /// - Returns: The error of each file, or `nil`.
    package static func replaceAll(_ files: [NewFile], permissions: mode_t) -> [FileError?] {
        stride(from: 0, to: files.count, by: mostAtOnce).flatMap { start in
            replace(Array(files[start..<min(start + mostAtOnce, files.count)]), permissions)
        }
    }

    private static func replace(_ files: [NewFile], _ permissions: mode_t) -> [FileError?] {
        let isFlushed = files.count < manyFiles
        var errors = [FileError?](repeating: nil, count: files.count)
        var written: [(index: Int, replacement: FileReplacement)] = []
        for (index, file) in files.enumerated() {
            do throws(FileError) {
                try makeFolders(containingFolder(of: file.path), permissions: 0o755)
                let replacement = try FileReplacement(
                    of: file.path, with: file.bytes, permissions: permissions, isLocked: true,
                    isFlushed: isFlushed)
                written.append((index, replacement))
            } catch { errors[index] = error }
        }
        guard !isFlushed else {
            for (index, replacement) in written {
                do throws(FileError) { try replacement.commit() } catch { errors[index] = error }
            }
            return errors
        }
        let folders = firstFolders(written.map { files[$0.index].path })
        do throws(FileError) { try flush(folders) } catch {
            for (index, replacement) in written {
                replacement.discard()
                errors[index] = error
            }
            return errors
        }
        var renamed: [Int] = []
        for (index, replacement) in written {
            do throws(FileError) {
                try replacement.commit(isFlushed: false)
                renamed.append(index)
            } catch { errors[index] = error }
        }
        do throws(FileError) { try flush(folders) } catch {
            for index in renamed { errors[index] = error }
        }
        return errors
    }

    /// The directory of one of these files for each file system.
    private static func firstFolders(_ paths: [String]) -> [String] {
        var known: Set<dev_t> = []
        return paths.lazy.map { containingFolder(of: $0) }.filter { folder in
            stat(path: folder).map { known.insert($0.st_dev).inserted } ?? true
        }
    }

    /// Flushes the file systems of these directories.
    private static func flush(_ folders: [String]) throws(FileError) {
        for folder in folders {
            let descriptor = openFile(folder, O_RDONLY | O_DIRECTORY)
            guard descriptor >= 0 else { throw FileError("open", folder) }
            defer { close(descriptor) }
            guard flushFileSystem(of: descriptor) else { throw FileError("sync", folder) }
        }
    }
}
