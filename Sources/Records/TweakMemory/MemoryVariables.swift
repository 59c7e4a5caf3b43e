// SPDX-License-Identifier: BSD-3-Clause
internal import TweakELF
package import TweakRecords

/// A variable without a record that is treated as a tweak, at an address of an executable or library.
package struct ImageVariable: Hashable, Sendable {
    package let declaration: TweakDeclaration
    /// The address before relocation.
    package let address: UInt64
    /// The build id of the image, or the checksum of its file, in hexadecimal digits. In others the address is not that of
    /// the variable.
    package let buildID: String

    package init(_ declaration: TweakDeclaration, address: UInt64, buildID: String) {
        (self.declaration, self.address, self.buildID) = (declaration, address, buildID)
    }
}

/// Variables without records in a process, each read when it is asked for.
package struct MemoryVariables {
    private let process: ProcessMemory
    private var places: [Place] = []
    private var indices: [TweakKey: Int] = [:]

    private struct Place {
        let declaration: TweakDeclaration
        let address: UInt64
        let image: LoadedImage
        let canBeWritten: Bool
    }

    /// - Parameters:
    ///   - variables: The variables; those of images that are not in the process are left out, also those that are
    ///     outside of the memory of their image.
    ///   - images: The images of the process.
    package init(_ variables: [ImageVariable], in process: ProcessMemory, _ images: MemoryImages) {
        self.process = process
        guard !variables.isEmpty else { return }
        var identified: [String: LoadedImage?] = [:]
        for variable in variables where identified[variable.buildID] == nil {
            identified[variable.buildID] = .some(images.image(identifiedBy: variable.buildID))
        }
        for variable in variables {
            let declaration = variable.declaration
            guard case let image?? = identified[variable.buildID], indices[declaration.key] == nil,
                let place = image.place(
                    of: variable.address,
                    size: declaration.type == .string ? image.pointerSize : declaration.type.byteCount)
            else { continue }
            indices[declaration.key] = places.count
            places.append(
                Place(
                    declaration: declaration, address: place.address, image: image,
                    canBeWritten: image.headers.segments.canBeWritten(place.range, pageSize: process.pageSize)
                ))
        }
    }

    package var isEmpty: Bool { places.isEmpty }

    package func contains(_ key: TweakKey) -> Bool { indices[key] != nil }

    /// The declarations, with the current values; `nil` for one that cannot be read.
    package func all() -> [(declaration: TweakDeclaration, value: TweakValue?)] {
        places.map { ($0.declaration, value(at: $0)) }
    }

    /// The variable with this name, or `nil`.
    package func tweak(_ key: TweakKey) -> (declaration: TweakDeclaration, value: TweakValue?)? {
        indices[key].map { (places[$0].declaration, value(at: places[$0])) }
    }

    private func value(at place: Place) -> TweakValue? {
        let type = place.declaration.type
        guard place.image.isIn(process) else { return nil }
        guard type == .string else {
            return process.bytes(at: place.address, count: type.byteCount)
                .flatMap { $0.span.bytes.value(at: 0, type, place.image.headers.byteOrder) }
        }
        guard let bytes = process.bytes(at: place.address, count: place.image.pointerSize),
            let address = place.image.headers.pointer(in: bytes.span.bytes, at: 0), address != 0
        else { return nil }
        return process.text(at: address).map { .string($0) }
    }

    /// Writes accepted values.
    ///
    /// - Throws: ``MemoryError/replaced`` if another program runs in the process; then nothing is written.
    package func set(_ values: [TweakKey: TweakValue]) throws(MemoryError) {
        let written = values.compactMap { key, value in indices[key].map { (places[$0], value) } }
        guard !written.isEmpty else { return }
        try process.checkIdentity()
        for (place, _) in written where !place.image.isIn(process) { throw .replaced }
        var pieces: [(address: UInt64, bytes: [UInt8])] = []
        for (place, value) in written {
            guard place.canBeWritten else {
                throw .failed("\(place.declaration.key): it is in read-only memory")
            }
            let count = place.declaration.type.byteCount
            let bytes = Array(place.declaration.slot(of: value).prefix(count))
            // A text would need memory of its own.
            guard place.declaration.type != .string, bytes.count == count, count > 0 else { continue }
            pieces.append((place.address, bytes))
        }
        try process.move(&pieces, isWritten: true)
    }

    /// The cell of a variable for a sampler, and the image that it is in.
    func cell(of key: TweakKey) -> (cell: CellSampler.Cell, image: LoadedImage)? {
        guard let index = indices[key] else { return nil }
        let (place, type) = (places[index], places[index].declaration.type)
        let cell = CellSampler.Cell(
            variable: place.address, count: type == .string ? place.image.pointerSize : type.byteCount,
            declaration: place.declaration, is64Bit: place.image.headers.is64Bit)
        return (cell, place.image)
    }
}

/// An executable or library in an address space, which is known by bytes in it.
package struct LoadedImage: Sendable {
    let headers: ImageHeaders
    /// The build id, or without one the ELF header.
    let mark: [UInt8]
    /// The address of these bytes.
    let identity: UInt64
    private let bias: UInt64

    /// An image with a build id.
    init?(_ headers: ImageHeaders, bias: UInt64) {
        guard let id = headers.notes.buildID, !id.isEmpty, let address = headers.notes.buildIDAddress else {
            return nil
        }
        (self.headers, self.bias, mark, identity) = (headers, bias, id, address &+ bias)
    }

    /// An image without one.
    ///
    /// - Parameter start: Its first bytes, which are at `address`.
    init(_ headers: ImageHeaders, bias: UInt64, _ start: [UInt8], at address: UInt64) {
        (self.headers, self.bias, identity) = (headers, bias, address)
        mark = Array(start.prefix(headers.is64Bit ? 64 : 52))
    }

    /// Returns whether the image is still where it was.
    func isIn(_ process: ProcessMemory) -> Bool {
        process.bytes(at: identity, count: mark.count) == mark
    }

    var pointerSize: Int { headers.is64Bit ? 8 : 4 }

    /// The address of a variable in memory; `nil` if it is not in the image.
    func place(of address: UInt64, size: Int) -> (address: UInt64, range: Range<UInt64>)? {
        let (end, overflows) = address.addingReportingOverflow(UInt64(size))
        guard !overflows, size > 0,
            headers.segments.contains(where: {
                $0.isLoaded && $0.address <= address && end - $0.address <= $0.memorySize
            })
        else { return nil }
        return (address &+ bias, address..<end)
    }
}
