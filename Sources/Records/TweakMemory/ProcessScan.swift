// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
internal import TweakELF
internal import TweakSystem

/// Finds processes with tweaks by their mapped files. Each file is examined once.
package struct ProcessScan {
    /// A process's or file's relation to tweaks.
    package enum Content: Hashable, Sendable {
        /// It has tweaks, but not the library.
        case tweaks
        /// It has the library, with or without tweaks.
        case library
        /// It has neither.
        case nothing
    }

    private var known: [String: Content] = [:]

    package init() {}

    /// Examines a process by its files, for which its memory need not be readable.
    ///
    /// - Returns: `nil` if access is denied, or there is no such process. One that ends has no memory any more.
    package mutating func content(of pid: Int32) -> Content? {
        guard let maps = readWhole("/proc/\(pid)/maps"), !maps.isEmpty else { return nil }
        var content = Content.nothing
        for region in MemoryRegion.all(inMaps: maps, of: pid)
        where region.fileOffset == 0 && region.path != nil {
            switch self.content(of: region, in: pid) {
            case .library: return .library
            case .tweaks: content = .tweaks
            case .nothing: continue
            }
        }
        return content
    }

    /// The paths of the files that a process has mapped from their start, such as its libraries, each once.
    package static func mappedFiles(of pid: Int32) -> [String] {
        guard let maps = readWhole("/proc/\(pid)/maps") else { return [] }
        var seen: Set<String> = []
        return MemoryRegion.all(inMaps: maps, of: pid).filter { $0.fileOffset == 0 }.compactMap(\.path)
            .filter { seen.insert($0).inserted }
    }

    private mutating func content(of region: MemoryRegion, in pid: Int32) -> Content {
        if let known = known[region.file] { return known }
        let path = "/proc/\(pid)/root" + (region.path ?? "")
        // A file that was deleted or replaced still belongs to the process.
        let isExecutable = executablePath(of: "\(pid)") == region.path
        let content = Self.content(ofFile: isExecutable ? "/proc/\(pid)/exe" : path)
        // The process may end meanwhile, and others have the file.
        known[region.file] = content
        return content ?? .nothing
    }

    /// Examines a file.
    ///
    /// - Returns: `nil` if it cannot be opened.
    package static func content(ofFile path: String) -> Content? {
        guard let status = stat(path: path) else { return nil }
        guard status.isRegularFile else { return .nothing }
        let descriptor = openFile(path, O_RDONLY)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        func bytes(at offset: UInt64, count: UInt64) -> [UInt8]? {
            guard offset <= UInt64(Int64.max), count <= 1 << 20 else { return nil }
            return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
                initialized = max(0, pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)))
            }
        }
        guard let start = bytes(at: 0, count: UInt64(ImageHeaders.usualBytes)),
            let headers = ImageHeaders(
                start, readTable: { bytes(at: $0, count: UInt64($1)) },
                read: { bytes(at: $0.offset, count: $0.fileSize) })
        else { return .nothing }
        if headers.notes.hasLibrary { return .library }
        if headers.notes.records != nil { return .tweaks }
        // Binaries from other languages have no note.
        var hasRecords = false
        try? ELFFile(path: path).forEachObject { (object) throws(ELFError) in
            hasRecords = try !object.recordRanges().isEmpty
        }
        return hasRecords ? .tweaks : .nothing
    }
}
