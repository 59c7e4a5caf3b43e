// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
internal import TweakELF
internal import TweakRecords

// The tweaks that no code of the process reads, which is said once somebody has set them.

/// What it takes to read the file of an image later, when the image may be gone.
private struct ImageFile {
    let path: String
    let buildID: [UInt8]?
    /// The first bytes in memory.
    let header: [UInt8]

    init(_ image: fbtweak__image) {
        let name = image.path.map { String(cString: $0) } ?? ""
        path = name.isEmpty ? "/proc/self/exe" : name
        buildID = image.build_id.map { Array(UnsafeBufferPointer(start: $0, count: image.build_id_size)) }
        header = Array(UnsafeRawBufferPointer(start: image.header, count: image.header_size))
    }

    /// Those of all images with a path, which the vDSO has not.
    static func all() -> [ImageFile] {
        var files: [ImageFile] = []
        withUnsafeMutablePointer(to: &files) { files in
            fbtweak__each_image(
                { image, files in
                    if let image, let files {
                        files.assumingMemoryBound(to: [ImageFile].self).pointee.append(
                            ImageFile(image.pointee))
                    }
                    return true
                }, files)
        }
        return files.filter { $0.path.utf8.contains(UInt8(ascii: "/")) }
    }
}

extension TweakStore {
    /// Reports which of some tweaks no code reads, as the files of the process say. It takes time in proportion to them, a
    /// second or so at most.
    private func reportUnread(among keys: Set<TweakKey>) {
        var records = UnreadRecords(of: keys)
        for image in ImageFile.all() {
            records.search(image.path) { (file, object) throws(ELFError) in
                try object.isSource(in: file, of: image.buildID, header: image.header.span.bytes)
            }
        }
        for warning in records.warnings { diagnostics.warn(warning.message) }
    }

    /// Has a library thread look for code that reads some tweaks, after somebody outside of the program has set them for
    /// the first time.
    func lookForReaders(of keys: Set<TweakKey>) {
        guard isShared else { return }
        _ = EventLoop.current.withLock { $0?.worker }?.add { self.reportUnread(among: keys) }
    }
}
