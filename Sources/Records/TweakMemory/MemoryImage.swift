// SPDX-License-Identifier: BSD-3-Clause
internal import TweakELF
internal import TweakRecords

/// An executable or library with records in an address space.
package struct MemoryImage: Sendable {
    /// The path of its file.
    package let path: String
    package let headers: ImageHeaders
    /// The distance from the addresses in the file to those in memory.
    let bias: UInt64
    /// The records, as sections of memory at the time of reading.
    package internal(set) var sections: [Section]

    /// The machine, as named by `uname -m`.
    package var architecture: String {
        architectureName(machine: headers.machine, is64Bit: headers.is64Bit, byteOrder: headers.byteOrder)
    }

    package struct Section: Sendable {
        package let address: UInt64
        package internal(set) var bytes: [UInt8]
    }
}

/// The images of an address space.
package struct MemoryImages: Sendable {
    /// The images with records: the executable first, then the others by address.
    package internal(set) var images: [MemoryImage] = []
    /// The executable, with or without records.
    package private(set) var executable: MemoryImage?
    /// The images that are in memory and have a build id, by it.
    package private(set) var identified: [[UInt8]: LoadedImage] = [:]
    /// The other images that are in memory, with the paths to read their files from.
    private var unmarked: [(image: LoadedImage, path: String)] = []
    /// Whether an image contains the Tweaks library.
    package private(set) var haveLibrary = false
    /// The program's names in the images.
    package private(set) var applications: [String] = []
    /// Messages about images whose records could not be read.
    package internal(set) var problems: [String] = []
    /// Whether no start of a mapped file was readable.
    package private(set) var sawNothing = true

    /// The image with a build id, or without one with the checksum of its file, in hexadecimal digits.
    func image(identifiedBy identity: String) -> LoadedImage? {
        if let image = identified.first(where: { $0.key.hexadecimal == identity })?.value { return image }
        guard identity.utf8.count == 2 * ELFObject.checksumSize else { return nil }
        return unmarked.first { image in
            var isIt = false
            try? ELFFile(path: image.path).forEachObject { (object) throws(ELFError) in
                isIt = try object.identity()?.hexadecimal == identity
            }
            return isIt
        }?.image
    }

    /// The time limit for all images of an address space.
    package static let mostTime: Duration = .seconds(10)

    /// Examines every file that is mapped from its start.
    ///
    /// - Parameters:
    ///   - executable: The path of the executable, which comes first.
    ///   - mostTime: The time limit.
    ///   - mostBytes: The limit of bytes of records.
    package init(
        in space: any AddressSpace, executable: String?, mostTime: Duration = mostTime,
        mostBytes: Int = mostRecordBytes
    ) throws(MemoryError) {
        let end = ContinuousClock.now + mostTime
        var bytesLeft = mostBytes
        var leftOut: [String] = []
        let regions = try space.regions
        // A file may be mapped several times, but only once as an image.
        let candidates = regions.filter { $0.fileOffset == 0 && $0.path != nil }
        for region in candidates.filter({ $0.path == executable })
            + candidates.filter({ $0.path != executable })
        {
            guard bytesLeft > 0, ContinuousClock.now < end else {
                leftOut.append(region.path ?? "")
                continue
            }
            guard let found = FoundImage(at: region, in: space, regions) else {
                if region.path == executable, let path = region.path {
                    problems.append("\(path): it is neither in memory nor a readable file")
                }
                continue
            }
            if found.isInMemory {
                sawNothing = false
                if let loaded = LoadedImage(found.headers, bias: found.bias) {
                    identified[loaded.mark] = identified[loaded.mark] ?? loaded
                } else if let unmarked = found.unmarked {
                    self.unmarked.append(unmarked)
                }
            }
            haveLibrary = haveLibrary || found.headers.notes.hasLibrary
            if let application = found.headers.notes.application { applications.append(application) }
            let (sections, problem, isWhole) = found.sections(upTo: bytesLeft)
            if let problem { problems.append(problem) }
            bytesLeft -= sections.reduce(0) { $0 + $1.bytes.count }
            if !isWhole { leftOut.append(region.path ?? "") }
            let image = MemoryImage(
                path: region.path ?? "", headers: found.headers, bias: found.bias, sections: sections)
            if image.path == executable { self.executable = image }
            guard !sections.isEmpty else { continue }
            if image.path == executable { images.insert(image, at: 0) } else { images.append(image) }
        }
        if let first = leftOut.first {
            let others = leftOut.count > 1 ? " and \(leftOut.count - 1) more mapped files are" : " is"
            problems.append(
                "\(first)\(others) skipped: at most \(mostBytes >> 20) MiB of tweaks are read from a "
                    + "process, for \(mostTime.components.seconds) seconds")
        }
    }
}

/// An image to search for records.
private struct FoundImage {
    private let space: any AddressSpace
    private let region: MemoryRegion
    private let regions: [MemoryRegion]
    /// The first bytes of the image in memory; `nil` if they are only in its file.
    private let start: [UInt8]?
    private let file: ELFFile?
    let bias: UInt64
    let headers: ImageHeaders

    /// Whether its first bytes are in memory.
    var isInMemory: Bool { start != nil }

    /// - Returns: `nil` if it is not an image.
    init?(at region: MemoryRegion, in space: any AddressSpace, _ regions: [MemoryRegion]) {
        (self.region, self.space, self.regions) = (region, space, regions)
        let count = Int(min(UInt64(ImageHeaders.usualBytes), region.addresses.size))
        start = space.bytes(at: region.addresses.lowerBound, count: count)
        // Most mapped files are not images.
        if let start, !start.starts(with: [0x7F, 0x45, 0x4C, 0x46]) { return nil }
        // For a core, the file may provide missing content. For a process it only locates the sections.
        file = space.openPath(of: region).flatMap { try? ELFFile(path: $0) }
        let address = region.addresses.lowerBound
        if let start {
            // The load bias is unknown until the headers are read, and so is the place of a part of the file but for the
            // mappings.
            let inFile = { (offset: UInt64, count: Int) in
                regions.address(ofFile: region, at: offset, count: count)
                    .flatMap { space.bytes(at: $0, count: count) }
            }
            let bias = ImageHeaders(start, readTable: inFile) { _ in nil }?.bias(ofStart: address) ?? 0
            guard
                let headers = ImageHeaders(
                    start, readTable: inFile,
                    read: {
                        space.bytes(at: $0.address &+ bias, count: Int(clamping: $0.fileSize))
                    }), headers.bias(ofStart: address) == bias
            else { return nil }
            (self.headers, self.bias) = (headers, bias)
        } else {
            guard let file,
                let headers = ImageHeaders(
                    file.bytes(at: 0, count: ImageHeaders.usualBytes),
                    readTable: { file.bytes(at: Int(clamping: $0), count: $1) },
                    read: { file.bytes(at: Int(clamping: $0.offset), count: Int(clamping: $0.fileSize)) }),
                let bias = headers.bias(ofStart: address)
            else { return nil }
            (self.headers, self.bias) = (headers, bias)
        }
    }

    /// A range of records, and its offset in the file.
    private struct Place {
        let addresses: Range<UInt64>
        let offset: UInt64?
    }

    /// Reads the records from memory, or for a core that lacks them from the file if it is the one that was loaded.
    ///
    /// - Parameter most: The maximum number of bytes to read.
    /// - Returns: The sections, a problem, and whether all records were read.
    func sections(upTo most: Int) -> (sections: [MemoryImage.Section], problem: String?, isWhole: Bool) {
        let isSame = isLoadedFromFile
        var places = isSame || start == nil ? placesInFile : nil
        if places == nil, let records = headers.notes.records {
            places = [Place(addresses: records, offset: headers.fileOffset(of: records))]
        }
        var sections: [MemoryImage.Section] = []
        var problem: String?
        var (left, isWhole) = (most, true)
        if isSame { useFile() }
        lazy var inFile = recordsInFile
        for place in places ?? [] where !place.addresses.isEmpty {
            guard headers.segments.canHoldRecords(place.addresses, pageSize: space.pageSize),
                let addresses = place.addresses.moved(by: bias),
                regions.cover(addresses, where: { $0.isWritable && $0.isReadable })
            else { continue }
            guard addresses.size <= UInt64(left) else {
                isWhole = false
                continue
            }
            // At most the remaining number of bytes.
            let count = Int(addresses.size)
            left -= count
            guard var bytes = space.bytes(at: addresses.lowerBound, count: count) else {
                problem =
                    "\(region.path ?? ""): its tweaks are not in the core, and there is no file with the same build id"
                continue
            }
            if start == nil {
                // Then the records themselves prove that the file is the right one.
                let inFile = place.offset.flatMap { file?.bytes(at: Int(clamping: $0), count: count) }
                guard inFile.map({ areSame($0, bytes) }) ?? false else {
                    problem = "\(region.path ?? ""): the file is not the one that was loaded"
                    continue
                }
                useFile()
            }
            let objects = RecordSection.objects(in: bytes.span.bytes, byteOrder: headers.byteOrder)
            if !objects.isEmpty, isSame || start == nil,
                let file = inFile.first(where: { $0.address == place.addresses.lowerBound })?.bytes,
                file.count == count
            {
                for part in objects.flatMap(\.noted) { bytes.replaceSubrange(part, with: file[part]) }
            }
            sections.append(MemoryImage.Section(address: addresses.lowerBound, bytes: bytes))
        }
        return (sections, problem, isWhole)
    }

    /// Lets a core use the file for missing content of the image.
    private func useFile() {
        if let file { (space as? CoreMemory)?.add(file, headers, movedBy: bias) }
    }

    /// The places by the section headers of the file; `nil` if it has none.
    private var placesInFile: [Place]? {
        var places: [Place]?
        try? file?.forEachObject { (object) throws(ELFError) in
            guard object.hasSectionHeaders else { return }
            places = try object.recordRanges().compactMap { range in
                let (end, overflows) = range.address.addingReportingOverflow(range.size)
                return overflows ? nil : Place(addresses: range.address..<end, offset: range.offset)
            }
        }
        return places
    }

    /// The records in the file, with the initial values of variables.
    private var recordsInFile: [(address: UInt64, bytes: [UInt8])] {
        var records: [(address: UInt64, bytes: [UInt8])] = []
        try? file?.forEachObject { (object) throws(ELFError) in
            for range in try object.recordRanges() {
                records.append((range.address, try object.bytesWithInitialValues(of: range)))
            }
        }
        return records
    }

    /// The image in memory, and the path of the file that it was loaded from; `nil` if that file is gone.
    var unmarked: (image: LoadedImage, path: String)? {
        guard let start, isLoadedFromFile, let path = space.openPath(of: region) else { return nil }
        return (LoadedImage(headers, bias: bias, start, at: region.addresses.lowerBound), path)
    }

    /// Whether the file is the one that was loaded, and not a later one at the same path.
    private var isLoadedFromFile: Bool {
        guard let file, let start else { return false }
        var isSource = false
        try? file.forEachObject { (object) throws(ELFError) in
            isSource = try object.isSource(in: file, of: headers.notes.buildID, header: start.span.bytes)
        }
        return isSource
    }

    /// Whether two sections hold the same records, regardless of the cells.
    private func areSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        guard one.count == other.count else { return false }
        var masked = (one, other)
        var walk = RecordWalk()
        while true {
            let next: RecordWalk.Record?
            do throws(RecordError) {
                next = try walk.nextOfAnyKind(in: one.span.bytes, byteOrder: headers.byteOrder)
            } catch {
                continue
            }
            guard let record = next else { break }
            guard record.isUnderstood else { continue }
            var changing = Array(record.range.dropFirst(RecordLayout.cellOffset).prefix(8))
            if let object = try? RecordedObject(
                one.span.bytes, in: record.range, byteOrder: headers.byteOrder)
            {
                changing += object.noted.joined()
            }
            if record.isGate,
                let gate = try? Gate(
                    record: one.span.bytes, in: record.range, byteOrder: headers.byteOrder)
            {
                changing += record.range.dropFirst(RecordLayout.entriesOffset + 4)
                    .prefix(RecordLayout.textOffset - RecordLayout.entriesOffset - 4)
                changing += record.range.dropFirst(gate.entriesOffset)
            }
            for index in changing { (masked.0[index], masked.1[index]) = (0, 0) }
        }
        return masked.0 == masked.1
    }
}
