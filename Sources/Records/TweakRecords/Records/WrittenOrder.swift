// SPDX-License-Identifier: BSD-3-Clause
extension Array {
    /// Sorts the tweaks of one section into source order: by file, in the order of first appearance, then by line. The
    /// sort is stable for tweaks that share a line or have no location.
    ///
    /// Compilers emit most records in this order, but those of inline functions at the end, or when the function is
    /// first used, and GCC emits all in reverse unless told otherwise.
    ///
    /// - Parameter attributes: Returns the attributes of a tweak, of which one is the location.
    package mutating func sortAsWritten(_ attributes: (Element) -> AttributeList) {
        var places = places(attributes)
        guard zip(places, places.dropFirst()).contains(where: { $0 > $1 }) else { return }
        places.sort()
        // Along each cycle of the permutation, because moving an element is cheaper than copying it with all its texts.
        withUnsafeMutableBufferPointer { elements in
            for start in places.indices {
                var index = start
                while places[index].index != start {
                    let next = places[index].index
                    elements.swapAt(index, next)
                    places[index].index = index
                    index = next
                }
                places[index].index = index
            }
        }
    }

    /// The places of the tweaks. One without a location is beside the one before.
    private func places(_ attributes: (Element) -> AttributeList) -> [WrittenPlace] {
        var files: [FileName: Int] = [:]
        var name = FileName(bytes: [])
        var places: [WrittenPlace] = []
        places.reserveCapacity(count)
        var place = WrittenPlace(file: 0, line: 0, index: 0)
        // Embedded Swift's empty array may be aligned too little for a span.
        guard !isEmpty else { return [] }
        // An iterator would copy each tweak.
        let elements = span
        for index in indices {
            place.index = index
            if let (file, line) = attributes(elements[index]).value(of: "at").flatMap(FileName.withLine) {
                if files.isEmpty || file != name {
                    name = file
                    if let known = files[file] {
                        place.file = known
                    } else {
                        place.file = files.count
                        files[file] = place.file
                    }
                }
                place.line = line
            }
            places.append(place)
        }
        return places
    }
}

/// The place of a tweak in the sources: the number of the file, the line, and the index among all tweaks.
private struct WrittenPlace: Comparable {
    var file, line, index: Int

    static func < (left: Self, right: Self) -> Bool {
        if left.file != right.file { return left.file < right.file }
        return left.line != right.line ? left.line < right.line : left.index < right.index
    }
}

/// The file in a location `file:line`, compared by its bytes.
private struct FileName: StableHashable {
    let bytes: ArraySlice<UInt8>

    /// Splits a location; `nil` if it has another form.
    static func withLine(_ location: ArraySlice<UInt8>) -> (FileName, line: Int)? {
        guard let colon = location.lastIndex(of: UInt8(ascii: ":")),
            let line = Int(String(decoding: location[(colon + 1)...], as: UTF8.self))
        else { return nil }
        return (FileName(bytes: location[..<colon]), line)
    }

    func combine(into hasher: inout StableHasher) { bytes.withUnsafeBytes { hasher.combine($0) } }

    static func == (left: Self, right: Self) -> Bool {
        left.bytes.withUnsafeBytes { left in
            right.bytes.withUnsafeBytes { right in left.hasSameBytes(as: right) }
        }
    }
}
