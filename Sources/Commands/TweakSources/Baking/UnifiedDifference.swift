// SPDX-License-Identifier: BSD-3-Clause
internal import CommandSupport
package import TweakRecords
internal import TweakSystem

extension SourceBaking {
    /// The changes as a difference for `git apply` and `patch -p1`.
    ///
    /// In a repository of git the paths begin at its top, elsewhere at the working directory; see
    /// ``folderOfDifference(in:)``.
    ///
    /// - Parameters:
    ///   - working: The working directory, without symbolic links.
    ///   - tweak: The tweak whose changes are wanted; `nil` for all.
    package func difference(in working: String, of tweak: TweakKey? = nil) -> [UInt8] {
        var text: [UInt8] = []
        for file in changedFiles {
            let changes = file.changes.filter { tweak == nil || $0.tweak == tweak }
            guard !changes.isEmpty else { continue }
            let changed = ChangedFile(path: file.path, source: file.source, changes: changes)
            text += UnifiedDifference(of: changed).text(working: working)
        }
        return text
    }
}

extension SourceBaking {
    /// The folder of the repository where `git apply` takes the whole difference; `nil` if it does so in the working
    /// directory. In a folder of a repository it leaves out the files elsewhere in it, and says nothing.
    ///
    /// - Parameter working: The working directory, without symbolic links.
    package func folderOfDifference(in working: String) -> String? {
        for file in changedFiles where UnifiedDifference.relative(file.path, to: working) == nil {
            if let top = UnifiedDifference.top(of: file.path),
                UnifiedDifference.relative(working + "/", to: top) != nil
            {
                return top
            }
        }
        return nil
    }
}

extension SourceChange {
    /// Where the literal is, `file:line`, with the path as in the difference.
    ///
    /// - Parameter working: The working directory, without symbolic links.
    package func location(in working: String) -> String {
        "\(UnifiedDifference.relative(path, to: working) ?? path):\(line)"
    }
}

/// The difference of a file, by lines.
private struct UnifiedDifference {
    /// The lines around a change that are shown.
    private static let context = 3

    /// Lines that change, and what replaces them.
    private struct Block {
        /// From 1.
        var lines: ClosedRange<Int>
        var text: [UInt8]
    }

    private let file: SourceBaking.ChangedFile
    private var lines: SourceLines { file.source.lines }

    init(of file: SourceBaking.ChangedFile) { self.file = file }

    func text(working: String) -> [UInt8] {
        let (name, isInRepository) = Self.name(of: file.path, working: working)
        var text: [UInt8] = []
        if isInRepository {
            text +=
                Array("diff --git ".utf8) + Self.quoted("a/" + name) + [0x20] + Self.quoted("b/" + name) + [
                    0x0A
                ]
        }
        for (start, prefix) in [("--- ", "a/"), ("+++ ", "b/")] {
            text += Array(start.utf8) + Self.quoted(prefix + name)
            // A tab ends a name with blanks.
            text += name.contains(" ") ? [0x09, 0x0A] : [0x0A]
        }
        var shift = 0
        for blocks in hunks {
            let (hunk, growth) = self.text(of: blocks, shiftedBy: shift)
            text += hunk
            shift += growth
        }
        return text
    }

    /// The changed lines; changes in one line are one block.
    private var blocks: [Block] {
        var blocks: [Block] = []
        var next = 0
        for change in file.changes {
            let first = lines.line(of: change.range.lowerBound)
            let last = lines.line(of: max(change.range.lowerBound, change.range.upperBound - 1))
            if let block = blocks.last, block.lines.upperBound >= first {
                blocks[blocks.count - 1].text +=
                    file.source.bytes[next..<change.range.lowerBound] + change.newText
                blocks[blocks.count - 1].lines = block.lines.lowerBound...max(last, block.lines.upperBound)
            } else {
                close(&blocks, from: next)
                let start = lines.range(of: first).lowerBound
                blocks.append(
                    Block(
                        lines: first...last,
                        text: file.source.bytes[start..<change.range.lowerBound] + change.newText))
            }
            next = change.range.upperBound
        }
        close(&blocks, from: next)
        return blocks
    }

    /// Adds the rest of its last line to the last block.
    private func close(_ blocks: inout [Block], from next: Int) {
        guard let block = blocks.last else { return }
        blocks[blocks.count - 1].text +=
            file.source.bytes[next..<lines.range(of: block.lines.upperBound).upperBound]
    }

    /// The blocks whose context overlaps, together.
    private var hunks: [[Block]] {
        var hunks: [[Block]] = []
        for block in blocks {
            if let last = hunks.last?.last,
                block.lines.lowerBound - last.lines.upperBound <= 2 * Self.context + 1
            {
                hunks[hunks.count - 1].append(block)
            } else {
                hunks.append([block])
            }
        }
        return hunks
    }

    private func text(of blocks: [Block], shiftedBy shift: Int) -> (text: [UInt8], growth: Int) {
        guard let first = blocks.first, let last = blocks.last else { return ([], 0) }
        let start = max(1, first.lines.lowerBound - Self.context)
        let end = min(lines.starts.count, last.lines.upperBound + Self.context)
        var text: [UInt8] = []
        var line = start
        var growth = 0
        for block in blocks {
            while line < block.lines.lowerBound {
                text += marked(" ", file.source.bytes[lines.range(of: line)])
                line += 1
            }
            for removed in block.lines { text += marked("-", file.source.bytes[lines.range(of: removed)]) }
            let added = Self.lines(of: block.text)
            for addition in added { text += marked("+", addition) }
            growth += added.count - block.lines.count
            line = block.lines.upperBound + 1
        }
        while line <= end {
            text += marked(" ", file.source.bytes[lines.range(of: line)])
            line += 1
        }
        let count = end - start + 1
        let header = "@@ -\(start),\(count) +\(start + shift),\(count + growth) @@\n"
        return (Array(header.utf8) + text, growth)
    }

    private static func lines(of text: [UInt8]) -> [ArraySlice<UInt8>] {
        let lines = SourceLines(of: text)
        return (1...lines.starts.count).map { text[lines.range(of: $0)] }
    }

    private func marked(_ mark: Unicode.Scalar, _ line: ArraySlice<UInt8>) -> [UInt8] {
        let text = [UInt8(ascii: mark)] + line
        return line.last == UInt8(ascii: "\n") ? text : text + Array("\n\\ No newline at end of file\n".utf8)
    }

    // MARK: Names

    /// The name of a file in the difference, and whether it begins at the top of a repository.
    private static func name(of path: String, working: String) -> (name: String, isInRepository: Bool) {
        let below = relative(path, to: working)
        if let top = top(of: path), let name = relative(path, to: top),
            below == nil || relative(working + "/", to: top) != nil
        {
            return (name, true)
        }
        return (below ?? String(path.drop { $0 == "/" }), false)
    }

    /// The folder of the repository with a file.
    static func top(of path: String) -> String? {
        var folder = containingFolder(of: path)
        while folder.count > 1 {
            if isAccessible(folder + "/.git") { return folder }
            folder = containingFolder(of: folder)
        }
        return nil
    }

    static func relative(_ path: String, to folder: String) -> String? {
        let start = folder.hasSuffix("/") ? folder : folder + "/"
        return path.hasPrefix(start) ? String(path.dropFirst(start.count)) : nil
    }

    /// A name as git quotes it.
    private static func quoted(_ name: String) -> [UInt8] {
        let raw = bytes(of: name)
        guard raw.contains(where: { $0 < 0x20 || $0 == 0x7F || "\"\\".utf8.contains($0) }) else { return raw }
        let escaped = raw.flatMap { byte -> [UInt8] in
            switch byte {
            case "\"", "\\": [UInt8(ascii: "\\"), byte]
            case let byte where byte < 0x20 || byte == 0x7F:
                Array(("\\" + byte.digits(3, radix: 8)).utf8)
            default: [byte]
            }
        }
        return [UInt8(ascii: "\"")] + escaped + [UInt8(ascii: "\"")]
    }

    private static func bytes(of name: String) -> [UInt8] {
        withPath(name) { path in
            var bytes: [UInt8] = []
            var next = path
            while next.pointee != 0 {
                bytes.append(UInt8(truncatingIfNeeded: next.pointee))
                next += 1
            }
            return bytes
        }
    }
}
