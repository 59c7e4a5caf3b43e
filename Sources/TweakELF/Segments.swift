internal import CLibELF
internal import TweakRecords

/// What the notes of an object say.
struct Notes {
    var buildID: [UInt8]?
    /// The addresses between which the records are.
    var bounds: Range<UInt64>?
}

extension ELFObject {
    /// More notes are those of a core file, or made to take our time.
    private static let mostNotes: UInt64 = 1 << 20

    /// About as many as the kernel takes.
    private static let mostSegments = 1024

    func notes() throws(ELFError) -> Notes {
        var notes = Notes()
        var total: UInt64 = 0
        try forEachSegment { (segment) throws(ELFError) in
            guard segment.p_type == UInt32(PT_NOTE), segment.p_filesz <= Self.mostNotes - total else {
                return
            }
            // The condition keeps it below the most.
            total += segment.p_filesz
            let bytes = try bytes(at: segment.p_offset, count: segment.p_filesz, of: "a segment with notes")
            notes.read(bytes.span.bytes, of: segment, byteOrder)
        }
        return notes
    }

    /// Where addresses of the object are in its file; `nil` if they are in no loadable segment that can be written.
    func fileRange(_ addresses: Range<UInt64>) throws(ELFError) -> RecordRange? {
        let size = addresses.upperBound - addresses.lowerBound
        for segment in try loadedSegments() where addresses.lowerBound >= segment.p_vaddr {
            let start = addresses.lowerBound - segment.p_vaddr
            guard segment.isWritable, start <= segment.p_filesz, size <= segment.p_filesz - start else {
                continue
            }
            return RecordRange(address: addresses.lowerBound, offset: segment.p_offset &+ start, size: size)
        }
        return nil
    }

    /// The segments that are in memory when the object is loaded.
    func loadedSegments() throws(ELFError) -> [GElf_Phdr] {
        var segments: [GElf_Phdr] = []
        try forEachSegment { (segment) throws(ELFError) in
            guard segment.p_type == UInt32(PT_LOAD) else { return }
            guard segments.count < Self.mostSegments else {
                throw broken("more than \(Self.mostSegments) segments are loaded")
            }
            segments.append(segment)
        }
        return segments
    }

    private func forEachSegment(_ body: (GElf_Phdr) throws(ELFError) -> Void) throws(ELFError) {
        var count = 0
        guard elf_getphdrnum(elf, &count) == 0 else { throw broken(ELFFile.lastError()) }
        for index in 0..<max(0, count) {
            var segment = GElf_Phdr()
            guard gelf_getphdr(elf, CInt(clamping: index), &segment) != nil else {
                throw broken("program header \(index): \(ELFFile.lastError())")
            }
            try body(segment)
        }
    }
}

extension GElf_Phdr {
    var isWritable: Bool { p_flags & UInt32(PF_W) != 0 }
}

extension Notes {
    /// Reads the notes of a segment, each of which is the sizes of its name and its content, its type, the name and the
    /// content, padded to 4 bytes, that of properties in a segment aligned to 8 to 8: gABI and the x86 psABI. mold puts others
    /// behind it into the same segment, which keep their 4. What does not fit ends them.
    fileprivate mutating func read(_ bytes: RawSpan, of segment: GElf_Phdr, _ order: ByteOrder) {
        var offset = 0
        while let nameSize: UInt32 = bytes.number(at: offset, order),
            let contentSize: UInt32 = bytes.number(at: offset + 4, order),
            let type: UInt32 = bytes.number(at: offset + 8, order)
        {
            let isOfProperties = type == UInt32(NT_GNU_PROPERTY_TYPE_0) && nameSize == 4
            let alignment = segment.p_align == 8 && isOfProperties ? 8 : 4
            // Three times 32 bits more than an offset, so there is no overflow.
            let name = offset + 12
            let content = (name + Int(nameSize) + alignment - 1) & -alignment
            let end = content + Int(contentSize)
            guard end <= bytes.byteCount else { return }
            let names = bytes.extracting(name..<name + Int(nameSize))
            if type == UInt32(NT_GNU_BUILD_ID), names.elementsEqual("GNU\0") {
                buildID = bytes.extracting(content..<end).withUnsafeBytes { Array($0) }
            } else if type == 1, names.elementsEqual("FBTweak\0"), contentSize >= 8,
                let start: Int32 = bytes.number(at: content, order),
                let stop: Int32 = bytes.number(at: content + 4, order)
            {
                // The distances are from the fields themselves.
                let address = segment.p_vaddr &+ UInt64(content)
                let first = address &+ UInt64(bitPattern: Int64(start))
                let last = address &+ 4 &+ UInt64(bitPattern: Int64(stop))
                if first <= last { bounds = first..<last }
            }
            offset = (end + alignment - 1) & -alignment
        }
    }
}

extension RawSpan {
    fileprivate func elementsEqual(_ text: String) -> Bool { withUnsafeBytes { $0.elementsEqual(text.utf8) } }
}
