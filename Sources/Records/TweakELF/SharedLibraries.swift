// SPDX-License-Identifier: BSD-3-Clause
internal import CLibELF
internal import Glibc
internal import TweakRecords
internal import TweakSystem

/// An object's entries for the dynamic linker about the libraries it needs.
struct DynamicLinks {
    var needed: [String] = []
    var searchPathInherited: [String] = []
    var searchPath: [String] = []
}

extension ELFObject {
    func dynamicLinks() throws(ELFError) -> DynamicLinks {
        var links = DynamicLinks()
        var found: GElf_Shdr?
        try forEachSection { (section, _) throws(ELFError) in
            // Linkers create one.
            if section.sh_type == UInt32(SHT_DYNAMIC), found == nil { found = section }
        }
        guard let section = found else { return links }
        var header = GElf_Shdr()
        guard gelf_getshdr(elf_getscn(elf, Int(section.sh_link)), &header) != nil else {
            throw broken("dynamic entries: \(ELFFile.lastError())")
        }
        let texts = try strings(of: header, Int(section.sh_link))
        // Entries may share strings, but in total they must not exceed the size of the file.
        var readable = byteCount
        let entries = try bytes(at: section.sh_offset, count: section.sh_size, of: "the dynamic section")
        let size = is64Bit ? 8 : 4
        for entry in stride(from: 0, through: entries.count - 2 * size, by: 2 * size) {
            let tag = number(entries, at: entry)
            let name = number(entries, at: entry + size)
            guard tag != UInt64(DT_NULL) else { break }
            guard [DT_NEEDED, DT_RPATH, DT_RUNPATH].contains(where: { UInt64($0) == tag }) else { continue }
            // Less than a number of bytes, so it fits into an Int.
            guard name < texts.count,
                let length = texts[Int(name)...].prefix(readable).firstIndex(of: 0).map({ $0 - Int(name) })
            else { throw broken("dynamic entry \(entry / (2 * size)): its text is unterminated or too long") }
            // The end is within the readable bytes.
            readable -= length
            let text = String(decoding: texts[Int(name)..<Int(name) + length], as: UTF8.self)
            switch tag {
            case UInt64(DT_NEEDED): links.needed.append(text)
            case UInt64(DT_RPATH): links.searchPathInherited = text.directories
            default: links.searchPath = text.directories
            }
        }
        return links
    }

    /// Returns whether the object was linked with the Tweaks library, which the dynamic linker loads.
    package func usesLibrary() -> Bool {
        (try? dynamicLinks())?.needed.contains { $0.hasPrefix("libtweaks.so") } ?? false
    }

    /// Returns whether the object needs the C library musl, in a program by its dynamic linker, in a library by the names
    /// that musl has by itself and in Alpine.
    package func usesMusl() throws(ELFError) -> Bool {
        if let linker = try dynamicLinker() { return lastComponent(of: linker).hasPrefix("ld-musl-") }
        return try dynamicLinks().needed.contains { $0 == "libc.so" || $0.hasPrefix("libc.musl-") }
    }

    /// A number of the size of an address.
    func number(_ bytes: [UInt8], at offset: Int) -> UInt64 {
        let bytes = bytes.span.bytes
        let number: UInt64? =
            is64Bit
            ? bytes.number(at: offset, byteOrder)
            : bytes.number(at: offset, as: UInt32.self, byteOrder).map { UInt64($0) }
        return number ?? 0
    }
}

extension ELFFile {
    /// The shared libraries that a program would be started with, found as in ld.so(8), without running it.
    ///
    /// The search covers the binaries' own paths (with `$ORIGIN`), `LD_LIBRARY_PATH`, the directories of
    /// `/etc/ld.so.conf` and the system's. Libraries that are missing or for another machine are skipped.
    ///
    /// - Returns: The libraries, nearest first, each once, without the file itself.
    /// - Throws: ``ELFError/broken(path:reason:)`` if a file is inconsistent, or needs a search in too many places.
    package func neededLibraries() throws(ELFError) -> [ELFFile] {
        var found: [ELFFile] = []
        var seen: Set<String> = []
        var files: Set<Identity> = [identity]
        var places = 0
        var queue: [(file: ELFFile, inherited: [String])] = [(self, [])]
        while !queue.isEmpty {
            let (file, inherited) = queue.removeFirst()
            try file.forEachObject(noting: { _ in }) { (object) throws(ELFError) in
                let links = try object.dynamicLinks()
                let origin = containingFolder(of: file.path)
                let own = links.searchPath.map { $0.replacingOrigin(origin) }
                // If a file has both, ld.so ignores RPATH.
                let ownInherited =
                    own.isEmpty ? links.searchPathInherited.map { $0.replacingOrigin(origin) } : []
                let passedOn = ownInherited + inherited
                let directories =
                    (own.isEmpty ? passedOn : []) + Self.environmentDirectories + own + Self.systemDirectories
                for name in links.needed where seen.insert(name).inserted {
                    places += directories.count
                    guard places <= Self.mostPlaces else {
                        throw .broken(
                            path: file.path,
                            reason: "its libraries could be in more than \(Self.mostPlaces) places")
                    }
                    let candidates = name.contains("/") ? [name] : directories.map { "\($0)/\(name)" }
                    if let library = Self.firstUsable(candidates, with: object),
                        files.insert(library.identity).inserted
                    {
                        found.append(library)
                        queue.append((library, passedOn))
                    }
                }
            }
        }
        return found
    }

    /// A limit of some hundred libraries with as many directories each, against files made to waste time.
    private static let mostPlaces = 100_000

    private static func firstUsable(_ candidates: [String], with object: ELFObject) -> ELFFile? {
        for path in candidates {
            guard let file = try? ELFFile(path: path), case .object = file.kind else { continue }
            var isUsable = false
            try? file.forEachObject { isUsable = $0.runs(with: object) }
            if isUsable { return file }
        }
        return nil
    }

    private static var environmentDirectories: [String] {
        getenv("LD_LIBRARY_PATH").map { String(cString: $0).directories } ?? []
    }

    private static let systemDirectories: [String] =
        configuredDirectories("/etc/ld.so.conf", depth: 0) + ["/lib", "/usr/lib", "/lib64", "/usr/lib64"]

    /// The directories in an ld.so.conf(5) file and the files that it includes.
    private static func configuredDirectories(_ path: String, depth: Int) -> [String] {
        guard depth < 8, let file = fopen(path, "re") else { return [] }
        defer { fclose(file) }
        var directories: [String] = []
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, file) >= 0, let text = line {
            let words = String(cString: text).prefix { $0 != "#" }.split { $0.isWhitespace }
            if words.first == "include" {
                for pattern in words.dropFirst() {
                    directories += expand(String(pattern)).flatMap {
                        configuredDirectories($0, depth: depth + 1)
                    }
                }
            } else {
                directories += words.map(String.init)
            }
        }
        return directories
    }

    private static func expand(_ pattern: String) -> [String] {
        var matches = glob_t()
        defer { globfree(&matches) }
        guard glob(pattern, 0, nil, &matches) == 0 else { return [] }
        guard let paths = matches.gl_pathv else { return [] }
        return UnsafeBufferPointer(start: paths, count: Int(clamping: matches.gl_pathc)).compactMap {
            $0.map { String(cString: $0) }
        }
    }
}

extension String {
    fileprivate var directories: [String] { split(separator: ":").map(String.init) }

    fileprivate func replacingOrigin(_ origin: String) -> String {
        for name in ["${ORIGIN}", "$ORIGIN"] where hasPrefix(name) {
            return origin + dropFirst(name.count)
        }
        return self
    }
}
