internal import CLibELF
internal import TweakRecords

/// What the notes of an object say.
struct Notes {
    var buildID: [UInt8]?
    /// The addresses between which the records are.
    var bounds: Range<UInt64>?
}

extension ELFObject {
    func notes() throws(ELFError) -> Notes {
        var notes = Notes()
        try forEachSegment { (segment) throws(ELFError) in
            guard segment.p_type == UInt32(PT_NOTE), segment.p_filesz > 0 else { return }
            let type = segment.p_align == 8 ? ELF_T_NHDR8 : ELF_T_NHDR
            guard
                let data = elf_getdata_rawchunk(
                    elf, Int64(clamping: segment.p_offset), Int(clamping: segment.p_filesz), type),
                let buffer = data.pointee.d_buf
            else { throw broken("program headers: \(ELFFile.lastError())") }
            let bytes = UnsafeRawBufferPointer(start: buffer, count: data.pointee.d_size)
            var note = GElf_Nhdr()
            var name = 0
            var content = 0
            var offset = 0
            while true {
                let next = gelf_getnote(data, offset, &note, &name, &content)
                guard next > offset else { break }
                offset = next
                read(
                    type: note.n_type, name: bytes[name..<name + Int(note.n_namesz)],
                    content: bytes[content..<content + Int(note.n_descsz)],
                    address: segment.p_vaddr &+ UInt64(content), into: &notes)
            }
        }
        return notes
    }

    private func read(
        type: UInt32, name: Slice<UnsafeRawBufferPointer>, content: Slice<UnsafeRawBufferPointer>,
        address: UInt64, into notes: inout Notes
    ) {
        if type == UInt32(NT_GNU_BUILD_ID), name.elementsEqual("GNU\0".utf8) {
            notes.buildID = Array(content)
        } else if type == 1, name.elementsEqual("FBTweak\0".utf8), content.count >= 8 {
            let start = address &+ distance(in: content)
            let stop = address &+ 4 &+ distance(in: content.dropFirst(4))
            if start <= stop { notes.bounds = start..<stop }
        }
    }

    private func distance(in bytes: Slice<UnsafeRawBufferPointer>) -> UInt64 {
        let number = UnsafeRawBufferPointer(rebasing: bytes).loadUnaligned(as: UInt32.self)
        let ordered = byteOrder == .native ? number : number.byteSwapped
        return UInt64(bitPattern: Int64(Int32(bitPattern: ordered)))
    }

    /// Where addresses of the object are in its file; `nil` if they are in no loadable segment.
    func fileRange(_ addresses: Range<UInt64>) throws(ELFError) -> RecordRange? {
        var range: RecordRange?
        try forEachSegment { (segment) throws(ELFError) in
            guard segment.p_type == UInt32(PT_LOAD), addresses.lowerBound >= segment.p_vaddr else { return }
            let start = addresses.lowerBound - segment.p_vaddr
            let size = addresses.upperBound - addresses.lowerBound
            guard start <= segment.p_filesz, size <= segment.p_filesz - start else { return }
            range = RecordRange(
                address: addresses.lowerBound, offset: segment.p_offset &+ start, size: size)
        }
        return range
    }

    private func forEachSegment(_ body: (GElf_Phdr) throws(ELFError) -> Void) throws(ELFError) {
        var count = 0
        guard elf_getphdrnum(elf, &count) == 0 else { throw broken(ELFFile.lastError()) }
        for index in 0..<count {
            var segment = GElf_Phdr()
            guard gelf_getphdr(elf, CInt(clamping: index), &segment) != nil else {
                throw broken("program header \(index): \(ELFFile.lastError())")
            }
            try body(segment)
        }
    }
}
