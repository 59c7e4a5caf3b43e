// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
internal import TweakELF
internal import TweakRecords
internal import TweakSystem

/// The memory of a process in a core, completed from the files that were mapped if they are unchanged. Cores of the
/// kernel and of gdb are supported; nothing in them is trusted: core(5), elf(5).
package final class CoreMemory: AddressSpace {
    package let path: String
    package let regions: [MemoryRegion]
    package private(set) var pageSize: UInt64 = 4096
    /// The path of the process's executable; `nil` if the core does not contain it.
    package private(set) var executable: String?

    private let source: ByteSource
    /// The parts in the core, by address.
    private let parts: [Part]
    private var files: [BackingFile] = []

    /// A part of the memory and its location in the core.
    fileprivate struct Part {
        let addresses: Range<UInt64>
        /// The number of bytes in the core.
        let count: UInt64
        let offset: UInt64
        let flags: UInt32

        var isReadable: Bool { flags & UInt32(PF_R) != 0 }
        var isWritable: Bool { flags & UInt32(PF_W) != 0 }
    }

    /// A file that was loaded.
    private struct BackingFile {
        let file: ELFFile
        let segments: [ImageSegment]
        let bias: UInt64
    }

    /// A limit of more mappings than the kernel allows by default, against files made to waste time.
    private static let mostParts = 1 << 17

    /// Opens a core.
    package convenience init(path: String) throws(MemoryError) {
        guard let status = stat(path: path) else { throw .cannotOpen(path: path, reason: systemMessage()) }
        guard status.isRegularFile else { throw .noCore(path: path, reason: "it is not a regular file") }
        let descriptor = openFile(path, O_RDONLY)
        guard descriptor >= 0 else { throw .cannotOpen(path: path, reason: systemMessage()) }
        try self.init(
            ByteSource(descriptor: descriptor, byteCount: UInt64(max(0, status.st_size))), path: path)
    }

    /// Reads a core from memory.
    package convenience init(bytes: [UInt8], path: String) throws(MemoryError) {
        try self.init(ByteSource(bytes), path: path)
    }

    private init(_ source: ByteSource, path: String) throws(MemoryError) {
        func broken(_ reason: String) -> MemoryError { .noCore(path: path, reason: reason) }
        guard let start = source.bytes(at: 0, count: min(64, source.byteCount)),
            start.starts(with: [0x7F, 0x45, 0x4C, 0x46]), let format = ELFFormat(start),
            let header = format.header(in: start.span.bytes)
        else { throw broken("it does not start like an ELF file") }
        guard Int32(header.type) == ET_CORE else { throw broken("it is another kind of ELF file") }
        guard header.segmentSize == format.segmentSize else {
            throw broken("its program headers have another size")
        }
        let count = try Self.segmentCount(of: header, format, source, path)
        guard count <= Self.mostParts else { throw broken("it has more than \(Self.mostParts) parts") }
        let size = UInt64(count * format.segmentSize)
        guard let table = source.bytes(at: header.segments, count: size) else {
            throw broken("it is cut off")
        }

        var parts: [Part] = []
        var mapped = MappedFiles()
        for index in 0..<count {
            guard let segment = format.segment(in: table.span.bytes, at: index * format.segmentSize) else {
                continue
            }
            if segment.type == UInt32(PT_NOTE) {
                mapped.read(segment, format, source)
            } else if segment.isLoaded {
                let (end, overflows) = segment.address.addingReportingOverflow(segment.memorySize)
                guard !overflows, segment.memorySize > 0 else { continue }
                parts.append(
                    Part(
                        addresses: segment.address..<end, count: min(segment.fileSize, segment.memorySize),
                        offset: segment.offset, flags: segment.flags))
            }
        }
        self.source = source
        self.path = path
        self.parts = parts.sorted { $0.addresses.lowerBound < $1.addresses.lowerBound }
        regions = Self.regions(of: self.parts, mapped)
        guard regions.contains(where: { $0.path != nil }) else {
            throw broken("it lists no mapped files that could contain tweaks, as cores by QEMU do not")
        }
        pageSize = mapped.pageSize
        executable = mapped.programHeaders.flatMap { address in
            regions.first { $0.addresses.contains(address) && $0.path != nil }?.path
        }
    }

    /// Above 65,534 the number is in the first section header.
    private static func segmentCount(
        of header: ELFFormat.Header, _ format: ELFFormat, _ source: ByteSource, _ path: String
    ) throws(MemoryError) -> Int {
        guard header.segmentCount == 0xFFFF else { return header.segmentCount }
        let place = format.is64Bit ? 44 : 28
        guard let section = source.bytes(at: header.sections, count: UInt64(place + 4)),
            let count: UInt32 = section.span.bytes.number(at: place, format.byteOrder)
        else { throw .noCore(path: path, reason: "the number of its parts is missing") }
        return Int(count)
    }

    /// The mappings: by the file note, and elsewhere by the parts.
    private static func regions(of parts: [Part], _ mapped: MappedFiles) -> [MemoryRegion] {
        var regions: [MemoryRegion] = []
        var known: Set<UInt64> = []
        for file in mapped.files {
            let part = parts.containing(file.addresses.lowerBound)
            // gdb omits what is not in the core, and its permissions are unknown.
            regions.append(
                MemoryRegion(
                    addresses: file.addresses, isReadable: part?.isReadable ?? true,
                    isWritable: part?.isWritable ?? true, fileOffset: file.offset,
                    path: file.path.hasPrefix("/") ? file.path : nil, file: ""))
            known.insert(file.addresses.lowerBound)
        }
        for part in parts where !known.contains(part.addresses.lowerBound) {
            regions.append(
                MemoryRegion(
                    addresses: part.addresses, isReadable: part.isReadable, isWritable: part.isWritable,
                    fileOffset: 0,
                    path: nil, file: ""))
        }
        return regions.sorted { $0.addresses.lowerBound < $1.addresses.lowerBound }
    }

    package func openPath(of region: MemoryRegion) -> String? { region.path }

    package func read(_ buffer: UnsafeMutableRawBufferPointer, at address: UInt64) -> Bool {
        var (next, rest) = (address, buffer)
        while !rest.isEmpty {
            let count = readFromCore(rest, at: next) ?? readFromFiles(rest, at: next)
            guard let count, count > 0 else { return false }
            rest = UnsafeMutableRawBufferPointer(rebasing: rest[count...])
            next &+= UInt64(count)
        }
        return true
    }

    /// - Returns: The number of bytes read; `nil` if the core does not contain the first one.
    private func readFromCore(_ buffer: UnsafeMutableRawBufferPointer, at address: UInt64) -> Int? {
        guard let part = parts.containing(address) else { return nil }
        let start = address - part.addresses.lowerBound
        guard start < part.count else { return nil }
        let count = Int(min(UInt64(buffer.count), part.count - start))
        let (offset, overflows) = part.offset.addingReportingOverflow(start)
        guard !overflows else { return nil }
        return source.read(UnsafeMutableRawBufferPointer(rebasing: buffer[..<count]), at: offset)
            ? count : nil
    }

    /// The same for the files, which contain memory that the process has not written.
    private func readFromFiles(_ buffer: UnsafeMutableRawBufferPointer, at address: UInt64) -> Int? {
        for file in files {
            let address = address &- file.bias
            for segment in file.segments where address >= segment.address {
                let start = address - segment.address
                guard start < segment.fileSize else { continue }
                let count = Int(min(UInt64(buffer.count), segment.fileSize - start))
                let bytes = file.file.bytes(at: Int(clamping: segment.offset &+ start), count: count)
                guard !bytes.isEmpty else { continue }
                buffer.copyBytes(from: bytes)
                return bytes.count
            }
        }
        return nil
    }

    /// Adds a loaded file for content that the core lacks.
    func add(_ file: ELFFile, _ headers: ImageHeaders, movedBy bias: UInt64) {
        files.append(BackingFile(file: file, segments: headers.segments.filter(\.isLoaded), bias: bias))
    }
}

extension [CoreMemory.Part] {
    /// The part that contains an address.
    fileprivate func containing(_ address: UInt64) -> CoreMemory.Part? {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].addresses.upperBound > address { high = middle } else { low = middle + 1 }
        }
        return low < count && self[low].addresses.contains(address) ? self[low] : nil
    }
}

/// The bytes of a core, which may be larger than memory.
private final class ByteSource {
    let byteCount: UInt64
    private let descriptor: CInt?
    private let held: [UInt8]

    /// Takes ownership of the descriptor.
    init(descriptor: CInt, byteCount: UInt64) {
        (self.descriptor, self.byteCount, held) = (descriptor, byteCount, [])
    }

    init(_ bytes: [UInt8]) { (descriptor, byteCount, held) = (nil, UInt64(bytes.count), bytes) }

    deinit { if let descriptor { close(descriptor) } }

    /// Returns whether all of the bytes were read.
    func read(_ buffer: UnsafeMutableRawBufferPointer, at offset: UInt64) -> Bool {
        guard offset <= byteCount, UInt64(buffer.count) <= byteCount - offset else { return false }
        guard let descriptor else {
            held.withUnsafeBytes { buffer.copyBytes(from: $0[Int(offset)..<Int(offset) + buffer.count]) }
            return true
        }
        var count = 0
        while count < buffer.count {
            let result = pread(
                descriptor, buffer.baseAddress.map { $0 + count }, buffer.count - count,
                off_t(offset) + off_t(count))
            if result < 0, errno == EINTR { continue }
            guard result > 0 else { return false }
            count += result
        }
        return true
    }

    func bytes(at offset: UInt64, count: UInt64) -> [UInt8]? {
        guard offset <= byteCount, count <= byteCount - offset else { return nil }
        var isRead = false
        // At most the size of the file.
        let bytes = [UInt8](unsafeUninitializedCapacity: Int(count)) { buffer, initialized in
            isRead = read(
                UnsafeMutableRawBufferPointer(rebasing: UnsafeMutableRawBufferPointer(buffer)[..<Int(count)]),
                at: offset)
            initialized = isRead ? Int(count) : 0
        }
        return isRead ? bytes : nil
    }
}

/// The mapped files in the notes of a core.
private struct MappedFiles {
    struct File {
        let addresses: Range<UInt64>
        let offset: UInt64
        let path: String
    }

    private(set) var files: [File] = []
    private(set) var pageSize: UInt64 = 4096
    /// The address of the executable's program headers.
    private(set) var programHeaders: UInt64?

    /// A process with 10,000 threads has several notes for each.
    private static let mostNotes = 200_000
    private static let mostBytes: UInt64 = 32 << 20
    private static let mostFiles = 1 << 17
    /// `NT_FILE`.
    private static let typeOfFiles: UInt32 = 0x4649_4C45

    mutating func read(_ segment: ImageSegment, _ format: ELFFormat, _ source: ByteSource) {
        var offset = segment.offset
        let (end, overflows) = segment.offset.addingReportingOverflow(segment.fileSize)
        guard !overflows else { return }
        for _ in 0..<Self.mostNotes {
            guard offset < end, let header = source.bytes(at: offset, count: 20),
                let nameSize: UInt32 = header.span.bytes.number(at: 0, format.byteOrder),
                let contentSize: UInt32 = header.span.bytes.number(at: 4, format.byteOrder),
                let type: UInt32 = header.span.bytes.number(at: 8, format.byteOrder)
            else { return }
            // The offset is inside the file, and adding 32 bits does not overflow.
            let content = offset + 12 + (UInt64(nameSize) + 3) & ~3
            if header[12...].starts(with: Array("CORE\0".utf8)), nameSize == 5,
                UInt64(contentSize) <= Self.mostBytes
            {
                if type == Self.typeOfFiles, files.isEmpty {
                    if let bytes = source.bytes(at: content, count: UInt64(contentSize)) {
                        readFiles(bytes, format)
                    }
                } else if type == UInt32(NT_AUXV) {
                    if let bytes = source.bytes(at: content, count: UInt64(contentSize)) {
                        readVector(bytes, format)
                    }
                }
            }
            offset = content + (UInt64(contentSize) + 3) & ~3
        }
    }

    /// The format: the number of files and the page size; for each file start, end and page offset; then the names.
    private mutating func readFiles(_ content: [UInt8], _ format: ELFFormat) {
        let (bytes, word) = (content.span.bytes, format.wordSize)
        guard let count = format.word(in: bytes, at: 0), let size = format.word(in: bytes, at: word),
            count <= Self.mostFiles, size > 0
        else { return }
        let names = (2 + 3 * Int(count)) * word
        guard names <= content.count else { return }
        var rest = content[names...]
        for index in 0..<Int(count) {
            let place = (2 + 3 * index) * word
            guard let start = format.word(in: bytes, at: place),
                let end = format.word(in: bytes, at: place + word),
                let page = format.word(in: bytes, at: place + 2 * word), let nameEnd = rest.firstIndex(of: 0)
            else { return }
            var name = String(decoding: rest[..<nameEnd], as: UTF8.self)
            rest = rest[(nameEnd + 1)...]
            let (offset, overflows) = page.multipliedReportingOverflow(by: size)
            guard start < end, !overflows else { continue }
            name = withoutDeletionMark(name) { isAccessible($0) }
            files.append(File(addresses: start..<end, offset: offset, path: name))
        }
    }

    private mutating func readVector(_ content: [UInt8], _ format: ELFFormat) {
        for place in stride(from: 0, to: content.count, by: 2 * format.wordSize) {
            guard let type = format.word(in: content.span.bytes, at: place),
                let value = format.word(in: content.span.bytes, at: place + format.wordSize)
            else { return }
            switch type {
            case UInt64(AT_PHDR): programHeaders = value
            case UInt64(AT_PAGESZ) where 4096...(1 << 20) ~= value: pageSize = value
            default: continue
            }
        }
    }
}
