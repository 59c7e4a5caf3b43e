internal import CLibELF
internal import Glibc
internal import TweakSystem

/// An archive that names its members, which are files of their own, and does not hold them.
///
/// The format is known from `ar(1)` and `bfd/archive.c` of GNU binutils: like that of other archives, but only the
/// tables have content behind their headers. A member's name is `/` and its place in the table `//`, where it ends with
/// `/` and a newline; `:` and a number behind the place mean the member of another archive whose header begins there.
enum ThinArchive {
    static let start = "!<thin>\n"
    /// The longest path that the system takes.
    static let longestName = Int(PATH_MAX)
    /// How many archives a member may be inside. More would be a circle.
    static let deepestNesting = 8
    /// How many archives may be open because members are inside them.
    static let mostArchives = 256

    /// The names of what is not a member: of symbols, with 32 and with 64 bits, and of long names.
    static let tables = ["/", "/SYM64/", "//"]

    /// A member, as the archive names it.
    struct Member {
        /// The path of a file, which begins in the archive's folder.
        let name: String
        /// Where its header is in the archive of that path; `nil` if the file is the member.
        let origin: Int?
    }

    /// Whether what is in a file at an offset begins like a thin archive.
    static func begins(_ file: ELFFile, at offset: Int, _ byteCount: Int) -> Bool {
        byteCount >= start.utf8.count
            && file.bytes(at: offset, count: start.utf8.count).elementsEqual(start.utf8)
    }

    /// What stands in a field of a header before its padding.
    static func text(_ field: ArraySlice<UInt8>) -> String {
        String(decoding: field.prefix { $0 != UInt8(ascii: " ") }, as: UTF8.self)
    }
}

extension ELFFile {
    /// Calls `body` with each member of a thin archive, and with what is known of those that have been.
    func forEachThinMember(
        _ body: (ThinArchive.Member, inout ThinMembers) throws(ELFError) -> Void
    ) throws(ELFError) {
        var members = ThinMembers()
        var next = ThinArchive.start.utf8.count
        while next < byteCount {
            if let member = try thinMember(at: &next) { try body(member, &members) }
        }
    }

    /// Reads the header of a member or a table of a thin archive.
    ///
    /// - Parameter offset: Where it begins, and then where the next one does.
    /// - Returns: `nil` for a table.
    func thinMember(at offset: inout Int) throws(ELFError) -> ThinArchive.Member? {
        let header = try thinHeader(at: offset)
        offset = header.next
        guard !ThinArchive.tables.contains(header.name) else { return nil }
        guard header.name.hasPrefix("/") else {
            let name = header.name.hasSuffix("/") ? String(header.name.dropLast()) : header.name
            return ThinArchive.Member(name: name, origin: nil)
        }
        let names = try thinNames()
        let places = header.name.dropFirst().split(separator: ":", omittingEmptySubsequences: false).map {
            Int($0)
        }
        guard let first = places.first, let place = first, names.indices.contains(place), places.count <= 2,
            let origin = places.count > 1 ? places[1] : 0, origin >= 0
        else { throw .broken(path: path, reason: "there is no name \(header.name)") }
        var name = names[place...].prefix(ThinArchive.longestName + 1).prefix { $0 != UInt8(ascii: "\n") }
        if name.last == UInt8(ascii: "/") { name.removeLast() }
        guard !name.isEmpty, name.count < ThinArchive.longestName, !name.contains(0) else {
            throw .broken(path: path, reason: "the name \(header.name) is not a path")
        }
        return ThinArchive.Member(
            name: String(decoding: name, as: UTF8.self), origin: places.count > 1 ? origin : nil)
    }

    /// The table of long names. It is read once, as each member may ask for it.
    private func thinNames() throws(ELFError) -> [UInt8] {
        if let thinNameTable { return thinNameTable }
        var names: [UInt8] = []
        var next = ThinArchive.start.utf8.count
        // The tables come first.
        while next < byteCount {
            let header = try thinHeader(at: next)
            guard ThinArchive.tables.contains(header.name) else { break }
            if header.name == "//" { names = bytes(at: header.content, count: header.next - header.content) }
            next = header.next
        }
        thinNameTable = names
        return names
    }

    private func thinHeader(
        at offset: Int
    ) throws(ELFError) -> (name: String, content: Int, next: Int) {
        // As in ar.h: 16 bytes of name, 32 of no use, 10 of size, 2 that are always the same.
        let header = bytes(at: offset, count: MemoryLayout<ar_hdr>.size)
        guard header.count == MemoryLayout<ar_hdr>.size, header.suffix(2).elementsEqual("`\n".utf8),
            // By now there are 60 bytes.
            let size = Int(ThinArchive.text(header[48..<58])), size >= 0
        else { throw .broken(path: path, reason: "no member begins at \(offset)") }
        let name = ThinArchive.text(header[..<16])
        // The file reaches that far, so there is no overflow.
        let content = offset + header.count
        guard ThinArchive.tables.contains(name) else { return (name, content, content) }
        guard size <= byteCount - content else {
            throw .broken(
                path: path, reason: "table \(name), \(size) bytes, is beyond its end at \(byteCount)")
        }
        return (name, content, content + size + size % 2)
    }
}

/// The members of a thin archive that have been seen, so that each file is read once however often it is named.
struct ThinMembers {
    private struct Place: Hashable {
        let file: ELFFile.Identity
        let origin: Int?
    }

    private var seen: Set<Place> = []
    /// Those in which members are.
    private var archives: [String: ELFFile] = [:]

    /// Calls `body` with the object that a member is; what is none is passed over.
    mutating func visit(
        _ member: ThinArchive.Member, of archive: ELFFile, noting note: (ELFError) -> Void,
        _ body: (ELFObject) throws(ELFError) -> Void
    ) throws(ELFError) {
        let title = "\(archive.path)(\(member.name))"
        let file: ELFFile
        let origin: Int?
        do throws(ELFError) {
            (file, origin) = try find(member, of: archive, depth: 0)
        } catch .notELF {
            return
        } catch .cannotOpen(_, let reason) {
            return note(.cannotOpen(path: title, reason: reason))
        }
        guard seen.insert(Place(file: file.identity, origin: origin)).inserted else {
            return note(.skipped(path: title, reason: "it is there for the second time"))
        }
        switch file.kind {
        case .object(let elf):
            try body(ELFObject(elf: elf, file: file, path: title, start: 0, byteCount: file.byteCount))
        case .archive(let elf):
            guard let origin else {
                return note(.skipped(path: title, reason: "an archive in an archive"))
            }
            try file.withMember(of: elf, at: origin) { (inner) throws(ELFError) in
                let title = "\(archive.path)(\(member.name)(\(inner.name)))"
                try inner.visit(title, noting: note, body)
            }
        case .thinArchive:
            note(.skipped(path: title, reason: "an archive in an archive"))
        }
    }

    /// Finds the file that a member is, or the archive that holds it and where.
    private mutating func find(
        _ member: ThinArchive.Member, of archive: ELFFile, depth: Int
    ) throws(ELFError) -> (file: ELFFile, origin: Int?) {
        guard depth < ThinArchive.deepestNesting else {
            throw .broken(
                path: archive.path,
                reason: "more than \(ThinArchive.deepestNesting) archives are inside each other")
        }
        let path = resolvedPath(member.name, relativeTo: archive.path)
        guard var origin = member.origin else { return (try ELFFile(path: path), nil) }
        let inner = try self.archive(path)
        switch inner.kind {
        case .archive: return (inner, origin)
        case .object: throw .broken(path: archive.path, reason: "\(member.name) is not an archive")
        case .thinArchive:
            guard let innerMember = try inner.thinMember(at: &origin) else {
                throw .broken(path: inner.path, reason: "no member begins at \(origin)")
            }
            return try find(innerMember, of: inner, depth: depth + 1)
        }
    }

    /// An archive in which members are, which stays open for further ones.
    private mutating func archive(_ path: String) throws(ELFError) -> ELFFile {
        if let archive = archives[path] { return archive }
        guard archives.count < ThinArchive.mostArchives else {
            throw .broken(
                path: path, reason: "members of more than \(ThinArchive.mostArchives) archives are named")
        }
        do throws(ELFError) {
            let archive = try ELFFile(path: path)
            archives[path] = archive
            return archive
        } catch .notELF(_, let reason) {
            // A member that is something else is passed over, an archive that members are in is not.
            throw .broken(path: path, reason: reason)
        }
    }
}
