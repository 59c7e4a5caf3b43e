extension Array {
    /// Puts tweaks of one section into the order in which they are written: file by file as these first come, by line, and as
    /// they come where they share a line or do not say theirs.
    ///
    /// Compilers write most records in this order, but those of inline functions at the end, or not before the function is
    /// used, and GCC writes all backwards if nothing keeps it from that.
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
