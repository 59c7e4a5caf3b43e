// SPDX-License-Identifier: BSD-3-Clause
internal import Glibc

extension Array {
    /// Sorts the tweaks of one section into source order: by file, in the order of first appearance, then by line. The
    /// sort is stable for tweaks that share a line or have no location.
    ///
    /// Compilers emit most records in this order, but those of inline functions at the end, or when the function is
    /// first used, and GCC emits all in reverse unless told otherwise.
    ///
    /// - Parameter location: Returns the location of a tweak, see ``TweakDeclaration/location``.
    package mutating func sortAsWritten(_ location: (Element) -> String?) {
        var files: [FileName: Int] = [:]
        var name = FileName(location: "", count: 0)
        var places: [WrittenPlace] = []
        places.reserveCapacity(count)
        var last = WrittenPlace(file: 0, line: 0, index: 0)
        var isSorted = true
        for index in indices {
            var place = last
            place.index = index
            if let (file, line) = location(self[index]).flatMap(FileName.withLine) {
                if files.isEmpty || file != name {
                    name = file
                    place.file = files[file] ?? files.count
                    files[file] = place.file
                }
                place.line = line
                if place < last { isSorted = false }
            }
            places.append(place)
            last = place
        }
        guard !isSorted else { return }
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
    let location: String
    /// The number of bytes.
    let count: Int

    /// Splits a location; `nil` if it has another form.
    static func withLine(_ location: String) -> (FileName, line: Int)? {
        guard let colon = location.utf8.lastIndex(of: UInt8(ascii: ":")),
            let line = Int(location[location.utf8.index(after: colon)...])
        else { return nil }
        let count = location.utf8.distance(from: location.startIndex, to: colon)
        return (FileName(location: location, count: count), line)
    }

    private func withBytes<Result>(_ body: (UnsafeRawBufferPointer) -> Result) -> Result {
        location.utf8.span.bytes.extracting(first: count).withUnsafeBytes(body)
    }

    func combine(into hasher: inout StableHasher) { withBytes { hasher.combine($0) } }

    static func == (left: Self, right: Self) -> Bool {
        left.count == right.count
            && left.withBytes { left in
                right.withBytes { right in
                    guard let start = left.baseAddress, let other = right.baseAddress else { return true }
                    return memcmp(start, other, left.count) == 0
                }
            }
    }
}
