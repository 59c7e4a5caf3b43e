// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc
internal import TweakELF
package import TweakRecords

/// The tweaks in an address space, with their current values.
package final class MemoryTweaks {
    package let space: any AddressSpace
    package private(set) var found: MemoryImages
    /// The cached places of records. Setting a tweak looks them up three times.
    private var knownPlaces: [TweakKey: [Place]] = [:]
    /// The remaining limit of string bytes. Many cells may point to one long string.
    private var textBytesLeft = mostBytesOfTexts
    let gates: [MemoryGate]
    let sequences: [(address: UInt64, byteOrder: ByteOrder)]

    /// The place of a record.
    struct Place {
        let image, section: Int
        let range: Range<Int>
        /// The index of the tweak in the record, which is 0 unless it is an element of an array.
        let element: Int
    }

    /// Reads all records.
    ///
    /// - Parameter executable: The path of the executable, whose declarations precede those of libraries.
    package init(in space: any AddressSpace, executable: String?) throws(MemoryError) {
        self.space = space
        let found = try MemoryImages(in: space, executable: executable)
        self.found = found
        (gates, sequences) = (found.gates, found.sequences)
    }

    /// Calls `body` with each valid declaration, the value in its cell, the record, and the tweak's index in that.
    private func forEach(
        in section: MemoryImage.Section, of image: MemoryImage,
        _ body: (TweakDeclaration, TweakValue?, Range<Int>, Int) -> Void
    ) {
        let (bytes, order) = (section.bytes.span.bytes, image.headers.byteOrder)
        var walk = RecordWalk()
        while true {
            do throws(RecordError) {
                guard let range = try walk.next(in: bytes, byteOrder: order) else { return }
                let all = try TweakDeclaration.all(record: bytes, in: range, byteOrder: order)
                for (element, declaration) in all.enumerated() {
                    let value = value(of: declaration, at: range, element: element, in: section, of: image)
                    body(declaration, value, range, element)
                }
            } catch {
                continue
            }
        }
    }

    /// The values in the cells of an image: for each section, by the offsets of the records; of an array each element
    /// has the next offset.
    package func values(in image: MemoryImage) -> [[Int: TweakValue]] {
        image.sections.map { section in
            var values: [Int: TweakValue] = [:]
            forEach(in: section, of: image) { _, value, range, element in
                values[range.lowerBound + element] = value
            }
            return values
        }
    }

    /// The first declaration of each tweak, with the value in its cell.
    package func all() -> [(declaration: TweakDeclaration, value: TweakValue?)] {
        textBytesLeft = mostBytesOfTexts
        var tweaks: [(declaration: TweakDeclaration, value: TweakValue?)] = []
        var seen: Set<TweakKey> = []
        for image in found.images {
            for section in image.sections {
                var written: [(declaration: TweakDeclaration, value: TweakValue?)] = []
                forEach(in: section, of: image) { declaration, value, _, _ in
                    written.append((declaration, value))
                }
                written.sortAsWritten(\.declaration.attributeList)
                tweaks += written.filter { seen.insert($0.declaration.key).inserted }
            }
        }
        return tweaks
    }

    /// The tweak with this name, or `nil`.
    package func tweak(_ key: TweakKey) -> (declaration: TweakDeclaration, value: TweakValue?)? {
        textBytesLeft = mostBytesOfTexts
        return places(of: [key])[key]?.lazy.compactMap { place in
            self.declaration(at: place).map {
                (
                    $0,
                    self.value(
                        of: $0, at: place.range, element: place.element, in: self.section(place),
                        of: self.found.images[place.image])
                )
            }
        }.first
    }

    /// The value of a tweak that waits for a gate, or `nil`.
    ///
    /// - Parameter waiting: The result of ``waiting()``.
    package func pendingValue(
        of declaration: TweakDeclaration, in waiting: [UInt64: [UInt8]]
    ) -> TweakValue? {
        guard !waiting.isEmpty, let place = places(of: [declaration.key])[declaration.key]?.first,
            let address = cellAddress(at: place), let bytes = waiting[address]
        else { return nil }
        let headers = found.images[place.image].headers
        guard declaration.type == .string else {
            return bytes.span.bytes.value(
                at: 0, declaration.type, headers.byteOrder, isOptional: declaration.isOptional)
        }
        guard let address = headers.pointer(in: bytes.span.bytes, at: 0) else { return nil }
        return address == 0 ? declaration.defaultValue : text(at: address).map { .string($0) }
    }

    /// The places of the records of some tweaks, in order.
    private func places(of keys: [TweakKey]) -> [TweakKey: [Place]] {
        let wanted = Set(keys.filter { knownPlaces[$0] == nil })
        let matcher = RecordMatcher(wanted + wanted.compactMap(\.ofArray))
        for key in wanted { knownPlaces[key] = [] }
        for (imageIndex, image) in found.images.enumerated() {
            for (index, section) in image.sections.enumerated() {
                section.bytes.withUnsafeBytes { bytes in
                    matcher.forEachMatch(in: bytes, byteOrder: image.headers.byteOrder) { range, key in
                        var found = [key]
                        if bytes[range.lowerBound + RecordLayout.kindOffset] == RecordLayout.variableKind {
                            let all = try? TweakDeclaration.all(
                                record: bytes.bytes, in: range, byteOrder: image.headers.byteOrder)
                            found = all?.map(\.key) ?? []
                        }
                        for (element, key) in found.enumerated() where wanted.contains(key) {
                            knownPlaces[key, default: []].append(
                                Place(image: imageIndex, section: index, range: range, element: element))
                        }
                    }
                }
            }
        }
        return knownPlaces
    }

    private func section(_ place: Place) -> MemoryImage.Section {
        found.images[place.image].sections[place.section]
    }

    private func declaration(at place: Place) -> TweakDeclaration? {
        let order = found.images[place.image].headers.byteOrder
        let all = try? TweakDeclaration.all(
            record: section(place).bytes.span.bytes, in: place.range, byteOrder: order)
        return all.flatMap { place.element < $0.count ? $0[place.element] : nil }
    }

    /// Returns whether a tweak is a variable with a record, which the program may change.
    package func isVariable(_ key: TweakKey) -> Bool {
        places(of: [key])[key]?.first.map {
            section($0).bytes[$0.range.lowerBound + RecordLayout.kindOffset] == RecordLayout.variableKind
        } ?? false
    }

    /// The object that a record points to; `nil` for other records.
    private func object(
        at range: Range<Int>, in section: MemoryImage.Section, of image: MemoryImage
    ) -> RecordedObject? {
        try? RecordedObject(section.bytes.span.bytes, in: range, byteOrder: image.headers.byteOrder)
    }

    /// The address of an element of an object; `nil` if the object is not in the writable memory of its image.
    private func address(
        of object: RecordedObject, element: Int, in section: MemoryImage.Section, of image: MemoryImage
    ) -> UInt64? {
        let headers = image.headers
        guard
            let address = object.address(
                in: section.bytes.span.bytes, headers.byteOrder, is64Bit: headers.is64Bit)
        else { return nil }
        let start = address &- image.bias
        let (end, overflows) = start.addingReportingOverflow(UInt64(object.byteCount))
        guard !overflows, headers.segments.canBeWritten(start..<end, pageSize: space.pageSize) else {
            return nil
        }
        return address &+ UInt64(object.type.byteCount * element)
    }

    /// The address of the value of a tweak; `nil` for a variable that is not in the writable memory of its image.
    private func cellAddress(at place: Place) -> UInt64? {
        let (section, image) = (section(place), found.images[place.image])
        if let object = object(at: place.range, in: section, of: image) {
            return address(of: object, element: place.element, in: section, of: image)
        }
        return section.address + UInt64(place.range.lowerBound + RecordLayout.cellOffset)
    }

    private func value(
        of declaration: TweakDeclaration, at range: Range<Int>, element: Int,
        in section: MemoryImage.Section, of image: MemoryImage
    ) -> TweakValue? {
        let (bytes, headers) = (section.bytes.span.bytes, image.headers)
        if let object = object(at: range, in: section, of: image) {
            return address(of: object, element: element, in: section, of: image)
                .flatMap { space.bytes(at: $0, count: object.type.byteCount) }
                .flatMap { $0.span.bytes.value(at: 0, object.type, headers.byteOrder) }
        }
        let cell = range.lowerBound + RecordLayout.cellOffset
        switch declaration.type {
        case .action: return .nothing
        case .string:
            guard let address = headers.pointer(in: bytes, at: cell) else { return nil }
            return address == 0 ? declaration.defaultValue : text(at: address).map { .string($0) }
        default:
            return bytes.value(
                at: cell, declaration.type, headers.byteOrder, isOptional: declaration.isOptional)
        }
    }
}

extension MemoryTweaks {
    private func text(at address: UInt64) -> String? {
        guard textBytesLeft > 0 else { return nil }
        let text = space.text(at: address)
        textBytesLeft -= text?.utf8.count ?? mostTextBytes
        if textBytesLeft <= 0 {
            let problem = "texts beyond \(mostBytesOfTexts >> 20) MiB are skipped"
            if !found.problems.contains(problem) { found.problems.append(problem) }
        }
        return text
    }
}

extension ImageHeaders {
    /// A pointer of the machine, in the first bytes of a cell.
    func pointer(in bytes: RawSpan, at offset: Int) -> UInt64? {
        is64Bit
            ? bytes.number(at: offset, byteOrder)
            : (bytes.number(at: offset, byteOrder) as UInt32?).map(UInt64.init)
    }
}

// MARK: - Writing

/// An error for a value that cannot be written into a process without the library.
package enum MemoryRefusal: Error, Hashable {
    /// The string does not exist in the process.
    case noSuchText(TweakDeclaration)
    /// The change requires a restart of the program.
    case needsRestart(TweakDeclaration)
    /// The program is emulated, and has another byte order than this machine.
    case otherByteOrder(TweakDeclaration)
    /// The tweak does not exist.
    case unknown(TweakKey)
    /// The values do not fit into the gate together.
    case gateIsTooSmall(GateName, stores: Int, capacity: Int)
}

extension MemoryRefusal: CustomStringConvertible {
    package var description: String {
        switch self {
        case .noSuchText(let tweak):
            "\(tweak.key): without the Tweaks library in the process a text can only be its default"
                + (tweak.choices.isEmpty ? "" : " or one of its choices")
                + "; link the program with the library, or start it with tweak exec"
        case .needsRestart(let tweak):
            "\(tweak.key): it takes effect at the next start, and without the Tweaks library in the process nothing is kept"
        case .otherByteOrder(let tweak):
            "\(tweak.key): the program is emulated, and of another byte order than this machine; its values can only be read"
        case .unknown(let key): "\(key): no such tweak"
        case .gateIsTooSmall(let name, let stores, let capacity):
            "\(TweakError.gate("\(name)", stores: stores, capacity: capacity))"
        }
    }
}

extension MemoryTweaks {
    /// A cell and its new content.
    struct Patch {
        let place: Place
        let address: UInt64
        var bytes: [UInt8]
    }

    /// Throws unless a value, which the tweak accepts, can be written.
    package func checkWriting(_ value: TweakValue, to declaration: TweakDeclaration) throws(MemoryRefusal) {
        guard !declaration.needsRestart else { throw .needsRestart(declaration) }
        let places = places(of: [declaration.key])[declaration.key] ?? []
        guard places.allSatisfy({ found.images[$0.image].headers.byteOrder == .native }) else {
            throw .otherByteOrder(declaration)
        }
        guard declaration.type == .string, value != declaration.defaultValue else { return }
        guard declaration.choices.contains(where: { $0.value == value }) else {
            throw .noSuchText(declaration)
        }
    }

    /// Writes accepted values into every cell of their tweaks, in all images, in the representation of their types.
    ///
    /// The records are read again first: if they have changed, the process runs another program or has unloaded a
    /// library, and nothing is written.
    ///
    /// - Returns: Whether other tweaks may have values of a part of an earlier change, whose writer was killed.
    @discardableResult
    package func set(_ values: [TweakKey: TweakValue]) throws(MemoryError) -> Bool {
        guard let process = space as? ProcessMemory else { throw .failed("a core cannot be changed") }
        let patches = patches(for: values)
        guard !patches.isEmpty else { return false }
        try checkRecords(at: patches.map(\.place), in: process)
        var written = patches
        let isTorn = try storing(in: process) { () throws(MemoryError) in
            try process.move(&written, isWritten: true)
        }
        try refresh(patches, in: process)
        return isTorn
    }

    /// Reads the cells of some tweaks again.
    package func refresh(_ keys: [TweakKey]) throws(MemoryError) {
        guard let process = space as? ProcessMemory else { return }
        let places = places(of: keys)
        let patches = keys.flatMap { key in
            (places[key] ?? []).compactMap { place in
                cellAddress(at: place).map { Patch(place: place, address: $0, bytes: []) }
            }
        }
        if !patches.isEmpty { try refresh(patches, in: process) }
    }

    private func refresh(_ patches: [Patch], in process: ProcessMemory) throws(MemoryError) {
        // Variables are read whenever they are asked for.
        var patches = patches.filter {
            object(at: $0.place.range, in: section($0.place), of: found.images[$0.place.image]) == nil
        }
        for index in patches.indices { patches[index].bytes = [UInt8](repeating: 0, count: 8) }
        try process.move(&patches, isWritten: false)
        for patch in patches {
            let start = patch.place.range.lowerBound + RecordLayout.cellOffset
            found.images[patch.place.image].sections[patch.place.section].bytes
                .replaceSubrange(start..<start + 8, with: patch.bytes)
        }
    }

    /// The new contents of all cells of tweaks.
    func patches(for values: [TweakKey: TweakValue]) -> [Patch] {
        let places = places(of: Array(values.keys))
        var patches: [Patch] = []
        for (key, value) in values {
            var type: TweakType?
            for place in places[key] ?? [] {
                // The first declaration determines the tweak.
                guard let declaration = declaration(at: place), type == nil || declaration.type == type,
                    let bytes = cell(for: value, of: declaration, at: place),
                    let address = cellAddress(at: place)
                else { continue }
                type = declaration.type
                patches.append(Patch(place: place, address: address, bytes: bytes))
            }
        }
        return patches
    }

    /// The content of a cell for a value; `nil` if it cannot be represented.
    private func cell(for value: TweakValue, of declaration: TweakDeclaration, at place: Place) -> [UInt8]? {
        guard declaration.type == .string else {
            return Array(declaration.slot(of: value).prefix(declaration.type.byteCount))
        }
        var address: UInt64 = 0
        if value != declaration.defaultValue {
            guard case .string(let text) = value,
                let offset = section(place).bytes.span.bytes.offset(ofChoice: text, in: place.range)
            else { return nil }
            address = section(place).address + UInt64(offset)
        }
        return found.images[place.image].headers.is64Bit
            ? withUnsafeBytes(of: address) { Array($0) }
            : withUnsafeBytes(of: UInt32(truncatingIfNeeded: address)) { Array($0) }
    }

    func checkRecords(at places: [Place], in process: ProcessMemory) throws(MemoryError) {
        try process.checkIdentity()
        var records = places.map { place in
            Patch(
                place: place, address: section(place).address + UInt64(place.range.lowerBound),
                bytes: [UInt8](repeating: 0, count: place.range.count))
        }
        try process.move(&records, isWritten: false)
        for record in records {
            let (section, range) = (section(record.place), record.place.range)
            let cell = range.lowerBound + RecordLayout.cellOffset
            let changing =
                object(at: range, in: section, of: found.images[record.place.image])?.noted
                ?? [cell..<cell + 8]
            let isKnown = zip(range, record.bytes).allSatisfy { index, byte in
                byte == section.bytes[index] || changing.contains { $0.contains(index) }
            }
            guard isKnown else { throw .replaced }
        }
    }
}

extension ProcessMemory {
    /// Transfers the bytes of patches.
    fileprivate func move(_ patches: inout [MemoryTweaks.Patch], isWritten: Bool) throws(MemoryError) {
        var pieces = patches.map { (address: $0.address, bytes: $0.bytes) }
        try move(&pieces, isWritten: isWritten)
        for (index, piece) in pieces.enumerated() { patches[index].bytes = piece.bytes }
    }
}

extension RawSpan {
    /// The offset of a choice's text in a record.
    fileprivate func offset(ofChoice text: String, in record: Range<Int>) -> Int? {
        let wanted = Array("choice=".utf8) + Array(text.utf8)
        var next = record.lowerBound + RecordLayout.textOffset
        var index = 0
        while next < record.upperBound {
            let rest = extracting(next..<record.upperBound)
            guard let count = rest.withUnsafeBytes({ $0.firstIndex(of: 0) }) else { return nil }
            // The attributes follow the three names and the default, and end with an empty one.
            if index >= 4 {
                guard count > 0 else { return nil }
                if rest.extracting(0..<count).withUnsafeBytes({ $0.elementsEqual(wanted) }) {
                    return next + "choice=".utf8.count
                }
            }
            next += count + 1
            index += 1
        }
        return nil
    }
}

// MARK: - Sampling

extension MemoryTweaks {
    /// Creates a sampler for some tweaks.
    ///
    /// - Parameter variables: Variables without records, among which some of the tweaks are.
    /// - Returns: `nil` if a tweak does not exist, or the memory is that of a core.
    package func sampler(for keys: [TweakKey], and variables: MemoryVariables? = nil) -> CellSampler? {
        guard let process = space as? ProcessMemory else { return nil }
        let places = places(of: keys)
        var cells: [CellSampler.Cell] = []
        var images: [LoadedImage] = []
        for key in keys {
            guard let place = places[key]?.first else {
                guard let (cell, image) = variables?.cell(of: key) else { return nil }
                cells.append(cell)
                if !images.contains(where: { $0.identity == image.identity }) { images.append(image) }
                continue
            }
            guard let declaration = declaration(at: place) else { return nil }
            let (section, image) = (section(place), found.images[place.image])
            if let object = object(at: place.range, in: section, of: image) {
                guard let address = cellAddress(at: place) else { return nil }
                cells.append(
                    CellSampler.Cell(
                        variable: address, count: object.type.byteCount, declaration: declaration,
                        is64Bit: image.headers.is64Bit))
                if let image = LoadedImage(image.headers, bias: image.bias),
                    !images.contains(where: { $0.identity == image.identity })
                {
                    images.append(image)
                }
                continue
            }
            let header: UInt64? = section.bytes.span.bytes.number(at: place.range.lowerBound, .native)
            cells.append(
                CellSampler.Cell(
                    record: section.address + UInt64(place.range.lowerBound), header: header ?? 0,
                    declaration: declaration, is64Bit: image.headers.is64Bit))
        }
        return CellSampler(process, cells, in: images)
    }
}
