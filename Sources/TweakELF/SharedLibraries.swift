internal import CLibELF
internal import Glibc

/// What an object tells the dynamic linker about the libraries that it needs.
struct DynamicLinks {
    var needed: [String] = []
    var searchPathInherited: [String] = []
    var searchPath: [String] = []
}

extension ELFObject {
    func dynamicLinks() throws(ELFError) -> DynamicLinks {
        var links = DynamicLinks()
        try forEachSection { (section, index) throws(ELFError) in
            guard section.sh_type == UInt32(SHT_DYNAMIC), section.sh_entsize > 0,
                let data = elf_getdata(elf_getscn(elf, index), nil)
            else { return }
            let count = min(section.sh_size, UInt64(byteCount)) / section.sh_entsize
            for entry in 0..<Int(count) {
                var value = GElf_Dyn()
                guard gelf_getdyn(data, CInt(clamping: entry), &value) != nil, value.d_tag != DT_NULL else {
                    return
                }
                guard [Int64(DT_NEEDED), Int64(DT_RPATH), Int64(DT_RUNPATH)].contains(value.d_tag) else {
                    continue
                }
                guard let text = elf_strptr(elf, Int(section.sh_link), Int(clamping: value.d_un.d_val)) else {
                    throw broken("dynamic entry \(entry): \(ELFFile.lastError())")
                }
                switch value.d_tag {
                case Int64(DT_NEEDED): links.needed.append(String(cString: text))
                case Int64(DT_RPATH): links.searchPathInherited = String(cString: text).directories
                default: links.searchPath = String(cString: text).directories
                }
            }
        }
        return links
    }
}

extension ELFFile {
    /// The shared libraries that a program would be started with, found as ld.so(8) does, without running it.
    ///
    /// Searched are the binaries' own paths (with `$ORIGIN`), `LD_LIBRARY_PATH`, the directories of
    /// `/etc/ld.so.conf` and the system's. A library that is not found or is for another machine is left out.
    ///
    /// - Returns: The libraries, nearest first; the file itself is not among them.
    public func neededLibraries() throws(ELFError) -> [ELFFile] {
        var found: [ELFFile] = []
        var seen: Set<String> = []
        var queue: [(file: ELFFile, inherited: [String])] = [(self, [])]
        while !queue.isEmpty {
            let (file, inherited) = queue.removeFirst()
            try file.forEachObject { (object) throws(ELFError) in
                let links = try object.dynamicLinks()
                let origin = file.path.directory
                let own = links.searchPath.map { $0.replacingOrigin(origin) }
                // Of a file with both, ld.so ignores RPATH.
                let ownInherited =
                    own.isEmpty ? links.searchPathInherited.map { $0.replacingOrigin(origin) } : []
                let passedOn = ownInherited + inherited
                let directories =
                    (own.isEmpty ? passedOn : []) + Self.environmentDirectories + own + Self.systemDirectories
                for name in links.needed where seen.insert(name).inserted {
                    let candidates = name.contains("/") ? [name] : directories.map { "\($0)/\(name)" }
                    if let library = Self.firstUsable(candidates, with: object) {
                        found.append(library)
                        queue.append((library, passedOn))
                    }
                }
            }
        }
        return found
    }

    private static func firstUsable(_ candidates: [String], with object: ELFObject) -> ELFFile? {
        for path in candidates {
            guard let file = try? ELFFile(path: path) else { continue }
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

    /// Directories of an ld.so.conf(5) file, with the files that it includes.
    private static func configuredDirectories(_ path: String, depth: Int) -> [String] {
        guard depth < 8, let file = fopen(path, "re") else { return [] }
        defer { fclose(file) }
        var directories: [String] = []
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        defer { free(line) }
        while getline(&line, &capacity, file) >= 0, let text = line {
            let words = String(cString: text).prefix { $0 != "#" }.split(whereSeparator: \.isWhitespace)
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
        return (0..<Int(matches.gl_pathc)).compactMap { matches.gl_pathv[$0].map { String(cString: $0) } }
    }
}

extension String {
    fileprivate var directories: [String] { split(separator: ":").map(String.init) }

    fileprivate var directory: String {
        guard let slash = lastIndex(of: "/") else { return "." }
        return slash == startIndex ? "/" : String(self[..<slash])
    }

    fileprivate func replacingOrigin(_ origin: String) -> String {
        for name in ["${ORIGIN}", "$ORIGIN"] where hasPrefix(name) {
            return origin + dropFirst(name.count)
        }
        return self
    }
}
