// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
internal import TweakELF
internal import TweakRecords

// The tweaks that no code of the process reads, which is said once somebody has set them.

/// The path of a loaded image, and what identifies its file. It stays valid when the image is unloaded.
private typealias ImageFile = (path: String, buildID: [UInt8]?, header: [UInt8])

/// The files of all images that have one.
private func imageFiles() -> [ImageFile] {
    var files: [ImageFile] = []
    withUnsafeMutablePointer(to: &files) { files in
        fbtweak__each_image(
            { image, files in
                guard let image = image?.pointee, let files else { return true }
                guard let path = image.openPath else { return true }
                let header = Array(UnsafeRawBufferPointer(start: image.header, count: image.header_size))
                files.assumingMemoryBound(to: [ImageFile].self).pointee.append(
                    (path, image.buildIDBytes, header))
                return true
            }, files)
    }
    return files
}

extension TweakStore {
    /// Reports which of some tweaks no code reads, as the files of the process say. It takes time in proportion to them, a
    /// second or so at most.
    private func reportUnread(among keys: Set<TweakKey>) {
        let records = UnreadRecords(of: keys)
        for image in imageFiles() {
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
