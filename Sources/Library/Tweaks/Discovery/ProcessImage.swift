// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
internal import Glibc
internal import TweakELF
internal import TweakOverrides
internal import TweakRecords
internal import TweakSystem

/// Called by the constructor in `fbtweak.h` of an image loaded after the start, with the dynamic linker's lock held.
@_cdecl("fbtweak__image_opened")
func imageOpened(address: UnsafeRawPointer?) {
    guard let image = ProcessImage.opened(containing: UInt(bitPattern: address)) else { return }
    TweakStore.ofProcess.start()
    TweakStore.ofProcess.withState { $0.open(image) }
}

/// Called by the destructor in `fbtweak.h`: before an image is unloaded, and when the process exits.
@_cdecl("fbtweak__image_closed")
func imageClosed(address: UnsafeRawPointer?) {
    TweakStore.ofProcess.closeImage(containing: UInt(bitPattern: address))
}

extension TweakStore {
    /// Drops an image that is about to be unloaded, and returns when no call into it is running.
    fileprivate func closeImage(containing address: UInt) {
        let closed = withState { state -> ProcessImage? in
            guard let (image, number) = state.images.opened(at: address) else { return nil }
            state.close(image, number)
            return image
        }
        guard let closed else { return }
        state.waitForCalls { $0.code.map(closed.memory.contains) ?? false }
        deliverChanges()
    }
}

/// An ELF object of this process that has tweaks.
///
/// `@unchecked Sendable`: the members are constant, and in the memory only cells change, atomically. It stays mapped
/// until the store has dropped it: an image that is not lasting announces before that it is unloaded.
struct ProcessImage: @unchecked Sendable {
    /// The file it was loaded from.
    let path: String
    /// The image's address range.
    let memory: Range<UInt>
    /// The memory ranges that contain records.
    let records: [UnsafeRawBufferPointer]
    /// Whether it stays until the process exits: the executable, preloaded libraries, and what these need.
    var isLasting = true
    /// The application name declared in the image, or `nil`.
    var application: String?
    /// The checksum of the file of an image without a build id, in hexadecimal digits.
    fileprivate(set) var checksum: String? = nil
    /// The image as the dynamic linker describes it; `nil` in tests.
    var description: fbtweak__image?

    /// Whether the image calls ``imageClosed(address:)`` before it is unloaded, as the code in `fbtweak.h` does. Records
    /// that something else has put into an image can only be used if the image is lasting.
    var announcesItsEnd: Bool { description?.library_slot != nil }
}

extension ProcessImage {
    /// All images, with tweaks or without. The executable comes first.
    ///
    /// - Parameter ownRecords: The bounds that the linker gave the image of this code.
    ///
    /// Only for a constructor, which holds the dynamic linker's lock, because others may be unloaded any time.
    static func all(ownRecords: UnsafeRawBufferPointer) -> [ProcessImage] {
        let lastingCount = fbtweak__count_lasting_images()
        var images = loadedImages().map { ProcessImage($0, ownRecords: ownRecords) }
        for index in images.indices.dropFirst(lastingCount) { images[index].isLasting = false }
        return images
    }

    /// The lasting images of which variables have been adopted.
    static func lasting(in adopted: AdoptedBuilds) -> [ProcessImage] {
        // Checksums take time.
        let haveChecksums = adopted.builds.contains { $0.buildID.utf8.count == 2 * ELFObject.checksumSize }
        return loadedImages().prefix(fbtweak__count_lasting_images()).compactMap { loaded in
            let checksum = haveChecksums && loaded.image.build_id == nil ? loaded.checksum : nil
            guard let identity = loaded.image.buildID ?? checksum, adopted[identity] != nil else {
                return nil
            }
            var image = ProcessImage(loaded, ownRecords: UnsafeRawBufferPointer(start: nil, count: 0))
            image.checksum = checksum
            return image
        }
    }

    /// The image that contains an address and calls this in its constructor, with tweaks or without.
    static func opened(containing address: UInt) -> ProcessImage? {
        guard let loaded = loadedImages().first(where: { $0.memory.contains(address) }) else { return nil }
        var image = ProcessImage(loaded, ownRecords: UnsafeRawBufferPointer(start: nil, count: 0))
        image.isLasting = false
        return image
    }

    /// The application names declared in the images.
    static func declaredApplications() -> [String] { loadedImages().compactMap { $0.application } }

    private init(_ image: LoadedImage, ownRecords: UnsafeRawBufferPointer) {
        let candidates = image.recordsFromFile() ?? image.recordsFromLinker(own: ownRecords)
        path = image.path
        memory = image.memory
        application = image.application
        description = image.image
        records = candidates.filter { !$0.isEmpty && image.canHold($0) }.map {
            UnsafeRawBufferPointer(start: UnsafeRawPointer(bitPattern: $0.lowerBound), count: $0.count)
        }
    }

    private static func loadedImages() -> [LoadedImage] {
        var images: [LoadedImage] = []
        withUnsafeMutablePointer(to: &images) { images in
            fbtweak__each_image(
                { image, images in
                    if let image, let images {
                        images.assumingMemoryBound(to: [LoadedImage].self).pointee.append(
                            LoadedImage(image.pointee))
                    }
                    return true
                }, images)
        }
        return images
    }
}

// MARK: - Variables

extension ProcessImage {
    /// The build id, or the checksum of the file if that was asked for, in hexadecimal digits.
    var identity: String? { description?.buildID ?? checksum }

    /// The cell at the address of a variable before relocation; `nil` if the program cannot write all of it, or part of
    /// it belongs to a record or to the library.
    func cell(at address: UInt64, _ type: TweakType) -> Cell? {
        let size = type.byteCount
        guard let description, size > 0, let address = UInt(exactly: address),
            // A program that contains the library has variables, too.
            description.library == nil || description.path.pointee == 0
        else { return nil }
        return cells(at: description.bias &+ address, type, count: 1)
    }

    /// The first of some neighbouring cells; `nil` as ``cell(at:_:)``.
    private func cells(at start: UInt, _ type: TweakType, count: Int) -> Cell? {
        let size = count * type.byteCount
        guard size > 0, start % UInt(type.byteCount) == 0, canWrite(start, size),
            !records.contains(where: { records in
                let first = UInt(bitPattern: records.baseAddress)
                return start < first + UInt(records.count) && first < start + UInt(size)
            }), let pointer = UnsafeMutableRawPointer(bitPattern: start)
        else { return nil }
        return Cell(address: pointer, type: type)
    }

    private func canWrite(_ start: UInt, _ size: Int) -> Bool {
        guard let description else {
            return memory.contains(start) && UInt(size) <= memory.upperBound - start
        }
        return withUnsafePointer(to: description) { fbtweak__image_can_write($0, start, size) }
    }

    /// Notes the values of the objects that records point to, before anything else is stored there. A record whose object
    /// is not in the image keeps none.
    ///
    /// - Returns: Whether there are such records.
    func noteInitialValues() -> Bool {
        // Without a look at the records, which may be many: an image with notes has one for variables.
        if let description, description.records_start != 0, !description.has_variables { return false }
        var areThere = false
        for records in records {
            let bytes = UnsafeMutableRawBufferPointer(mutating: records)
            for object in RecordSection.objects(in: records.bytes, byteOrder: .native) {
                areThere = true
                let flags = object.offset + RecordLayout.flagsOffset
                if bytes[flags] & RecordLayout.knowsDefault != 0 {
                    bytes[flags] &= ~RecordLayout.knowsDefault
                }
                let address = object.address(in: records.bytes)
                guard let first = cells(at: address, object.type, count: object.count) else { continue }
                // Nothing else runs yet that could store there.
                object.note(
                    Array(UnsafeRawBufferPointer(start: first.address, count: object.byteCount)), in: bytes)
            }
        }
        return areThere
    }
}

extension fbtweak__image {
    /// The build id in hexadecimal digits; `nil` if the image has none.
    fileprivate var buildID: String? {
        build_id.map { UnsafeBufferPointer(start: $0, count: build_id_size).hexadecimal }
    }

    /// The bytes of the build id; `nil` if the image has none.
    var buildIDBytes: [UInt8]? {
        build_id.map { Array(UnsafeBufferPointer(start: $0, count: build_id_size)) }
    }

    /// The name that the dynamic linker has; empty for the executable.
    fileprivate var name: String { path.map { String(cString: $0) } ?? "" }

    /// A path that opens the file originally loaded, even if it was replaced since; `nil` for the vDSO, which has no file.
    var openPath: String? {
        guard let path, path.pointee != 0 else { return "/proc/self/exe" }
        return strchr(path, CInt(UInt8(ascii: "/"))) != nil ? name : nil
    }
}

/// An image as the dynamic linker describes it. Created with the dynamic linker's lock held: later, what the description
/// points to may be gone, unless the image is lasting or calls from its constructor.
private struct LoadedImage {
    let image: fbtweak__image
    let application: String?

    init(_ image: fbtweak__image) {
        self.image = image
        application = image.application.map { String(cString: $0) }
    }

    var path: String {
        let name = image.name
        return name.isEmpty ? executablePath() ?? "" : name
    }

    var memory: Range<UInt> { image.memory_start..<max(image.memory_start, image.memory_stop) }

    /// Returns whether the addresses belong to the image and can hold cells.
    func canHold(_ records: Range<UInt>) -> Bool {
        withUnsafePointer(to: image) {
            fbtweak__image_can_hold_records(
                $0, records.lowerBound, Int(clamping: records.upperBound - records.lowerBound))
        }
    }

    /// The addresses of the records by the section headers of the file; `nil` if those cannot be used.
    func recordsFromFile() -> [Range<UInt>]? {
        guard let path = image.openPath, let file = LoadedFile(path: path),
            file.isSource(of: image.buildIDBytes, header: header.bytes)
        else { return nil }
        return file.recordRanges()?.compactMap { range in
            let start = image.bias &+ range.lowerBound
            let (end, overflows) = start.addingReportingOverflow(UInt(range.count))
            return overflows ? nil : start..<end
        }
    }

    /// The checksum of the file, in hexadecimal digits, if it is the one that was loaded and can be read.
    var checksum: String? {
        guard let path = image.openPath, let file = try? ELFFile(path: path) else { return nil }
        var checksum: String?
        try? file.forEachObject { (object) throws(ELFError) in
            guard object.hasSectionHeaders,
                try object.isSource(in: file, of: image.buildIDBytes, header: header.bytes)
            else { return }
            checksum = try object.identity()?.hexadecimal
        }
        return checksum
    }

    /// The first bytes in memory.
    private var header: UnsafeRawBufferPointer {
        UnsafeRawBufferPointer(start: image.header, count: image.header_size)
    }

    /// The addresses of the records by the bounds that the linker wrote into the image.
    func recordsFromLinker(own: UnsafeRawBufferPointer) -> [Range<UInt>] {
        if let start = own.baseAddress {
            let own = UInt(bitPattern: start)..<UInt(bitPattern: start + own.count)
            if !own.isEmpty, canHold(own) { return [own] }
        }
        return image.records_start < image.records_stop ? [image.records_start..<image.records_stop] : []
    }
}
