internal import Glibc
internal import TweakELF
internal import TweakSystem

/// Finds processes with tweaks by what is mapped into them. Each file is looked at once.
package struct ProcessScan {
    /// What a process has.
    package enum Content: Hashable, Sendable {
        /// Tweaks, and nothing that would change them.
        case tweaks
        /// The Tweaks library, with or without tweaks.
        case library
        /// Neither.
        case nothing
    }

    private var known: [String: Content] = [:]

    package init() {}

    /// What a process has, by its files: its memory need not be readable for that.
    ///
    /// - Returns: `nil` if it may not be known, or if there is no such process.
    package mutating func content(of pid: Int32) -> Content? {
        guard let maps = readWhole("/proc/\(pid)/maps") else { return nil }
        var content = Content.nothing
        for region in MemoryRegion.all(inMaps: maps) where region.fileOffset == 0 && region.path != nil {
            switch self.content(of: region, in: pid) {
            case .library: return .library
            case .tweaks: content = .tweaks
            case .nothing: continue
            }
        }
        return content
    }

    private mutating func content(of region: MemoryRegion, in pid: Int32) -> Content {
        if let known = known[region.file] { return known }
        let path = "/proc/\(pid)/root" + (region.path ?? "")
        // A file that has been removed, or replaced by another one, is still that of the process.
        let isExecutable = executablePath(of: "\(pid)") == region.path
        let content = Self.content(ofFile: isExecutable ? "/proc/\(pid)/exe" : path)
        known[region.file] = content
        return content
    }

    /// What a file has.
    package static func content(ofFile path: String) -> Content {
        guard let status = stat(path: path), status.isRegularFile else { return .nothing }
        let descriptor = openFile(path, O_RDONLY)
        guard descriptor >= 0 else { return .nothing }
        defer { close(descriptor) }
        func bytes(at offset: UInt64, count: UInt64) -> [UInt8]? {
            guard offset <= UInt64(Int64.max), count <= 1 << 20 else { return nil }
            return [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
                initialized = max(0, pread(descriptor, buffer.baseAddress, buffer.count, off_t(offset)))
            }
        }
        guard let start = bytes(at: 0, count: UInt64(ImageHeaders.usualBytes)),
            let headers = ImageHeaders(start, read: { bytes(at: $0.offset, count: $0.fileSize) })
        else { return .nothing }
        if headers.notes.hasLibrary { return .library }
        if headers.notes.records != nil { return .tweaks }
        // What other languages write has no note.
        var hasRecords = false
        try? ELFFile(path: path).forEachObject { (object) throws(ELFError) in
            hasRecords = try !object.recordRanges().isEmpty
        }
        return hasRecords ? .tweaks : .nothing
    }
}
