// SPDX-License-Identifier: BSD-3-Clause
extension Array {
    /// Sorts the tweaks of one section into source order: by file, in the order of first appearance, then by line. The
    /// sort is stable for tweaks that share a line or have no location.
    ///
    /// Compilers emit most records in this order, but those of inline functions at the end, or when the function is
    /// first used, and GCC emits all in reverse unless told otherwise.
    package mutating func sortAsWritten(_ declaration: (Element) -> TweakDeclaration) {
        var files: [Substring: Int] = [:]
        var name: Substring = ""
        var last = (file: 0, line: 0)
        var isSorted = true
        let places = map { element in
            guard let (file, line) = declaration(element).fileAndLine else { return last }
            let before = last
            if files.isEmpty || file != name {
                name = file
                last.file = files[file] ?? files.count
                files[file] = last.file
            }
            last.line = line
            if last < before { isSorted = false }
            return last
        }
        guard !isSorted else { return }
        self = indices.sorted {
            (places[$0].file, places[$0].line, $0) < (places[$1].file, places[$1].line, $1)
        }
        .map { self[$0] }
    }
}

extension TweakDeclaration {
    /// The two parts of the location.
    fileprivate var fileAndLine: (file: Substring, line: Int)? {
        guard let location, let colon = location.utf8.lastIndex(of: UInt8(ascii: ":")),
            let line = Int(location[location.utf8.index(after: colon)...])
        else { return nil }
        return (location[..<colon], line)
    }
}
