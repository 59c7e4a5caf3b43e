// SPDX-License-Identifier: BSD-3-Clause
internal import CLibDW
internal import Glibc
package import TweakELF
internal import TweakMemory
internal import TweakRecords
internal import TweakSystem

/// An executable or library with its debug information, wherever that is: in the file itself, in a file of the same build
/// id below `/usr/lib/debug`, in the one that `.gnu_debuglink` names, and in the files that those refer to.
///
/// Source of the format: the DWARF standard, versions 2 to 5, and elfutils' libdw, which reads it.
final class DebugFile {
    let path: String
    let buildID: [UInt8]?
    let segments: [ImageSegment]
    let is64Bit: Bool
    private let file: ELFFile
    private let session: OpaquePointer
    let dwarf: OpaquePointer
    let limits: DebugLimits
    /// The folders of the file and of its debug information, which may name others relative to them.
    let folders: [String]

    /// - Parameters:
    ///   - path: The path of the executable or library.
    ///   - asksServers: Whether to ask the servers in `DEBUGINFOD_URLS` for missing debug information.
    init(path: String, asksServers: Bool) throws(DebugFileError) {
        let limits = DebugLimits()
        do throws(ELFError) {
            file = try ELFFile(path: path)
            try limits.add(file)
        } catch { throw .file(error) }
        guard
            let headers = ImageHeaders(
                file.bytes(at: 0, count: 4096),
                readTable: { [file] in file.bytes(at: Int(clamping: $0), count: $1) },
                read: { [file] in
                    file.bytes(at: Int(clamping: $0.offset), count: Int(clamping: $0.fileSize))
                }), headers.byteOrder == .native
        else { throw .noImage(path: path) }
        self.path = path
        (segments, buildID, is64Bit) = (headers.segments, headers.notes.buildID, headers.is64Bit)
        // libdwfl asks them whenever the variable is set.
        if !asksServers { unsetenv("DEBUGINFOD_URLS") }
        guard let session = fbtweak__begin_debug_files() else { throw .unreadable(path: path, Self.reason) }
        guard let module = dwfl_report_offline(session, path, path, -1),
            dwfl_report_end(session, nil, nil) == 0
        else {
            defer { dwfl_end(session) }
            throw .unreadable(path: path, Self.reason)
        }
        var userData: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
        dwfl_module_info(module, &userData, nil, nil, nil, nil, nil, nil)
        userData?.pointee = UnsafeMutableRawPointer(limits.check)
        var bias: Dwarf_Addr = 0
        guard let dwarf = dwfl_module_getdwarf(module, &bias) else {
            defer { dwfl_end(session) }
            if let refusal = limits.refusal { throw .file(refusal) }
            let number = dwfl_errno()
            // By words: libdwfl has no name for the number, which it shares with the message.
            let reason = dwfl_errmsg(number).map { String(cString: $0) } ?? ""
            throw reason == "No DWARF information found" || reason == "no matching ELF file found"
                ? .noInformation(path: path, hasBuildID: buildID != nil)
                : .unreadable(path: path, reason)
        }
        var paths: [UnsafePointer<CChar>?] = [nil, nil]
        paths.withUnsafeMutableBufferPointer {
            guard let start = $0.baseAddress else { return }
            dwfl_module_info(module, nil, nil, nil, nil, nil, start, start + 1)
        }
        folders = paths.compactMap(\.self).map { containingFolder(of: realPath(DebugEntry.text($0)) ?? "") }
        (self.session, self.dwarf, self.limits) = (session, dwarf, limits)
    }

    deinit { dwfl_end(session) }

    private static var reason: String {
        dwfl_errmsg(-1).map { String(cString: $0) } ?? "unknown error"
    }

    /// The initial content of a variable; zeros where the file has no content, as for `.bss`.
    func bytes(at address: UInt64, count: Int) -> [UInt8]? {
        segments.content(at: address, count: count) { file.bytes(at: Int(clamping: $0), count: $1) }
    }

    // MARK: - Symbols

    /// The address after the object that the symbol table has at an address, or around it; `nil` if it has none.
    func end(ofObjectAt address: UInt64) -> UInt64? {
        let objects = objects
        // The first object that begins after the address.
        var (low, high) = (0, objects.count)
        while low < high {
            let middle = (low + high) / 2
            if objects[middle].start > address { high = middle } else { low = middle + 1 }
        }
        guard low > 0 else { return nil }
        let nearest = objects[low - 1]
        return [nearest.end, nearest.lastEnd].first { $0 > address }
    }

    /// The objects of the symbol table that belongs to the debug information, by address: of several at one address the
    /// longest. Each has the last end of all that begin before.
    private lazy var objects: [(start: UInt64, end: UInt64, lastEnd: UInt64)] = {
        let elf = dwarf_getelf(dwarf)
        var section: OpaquePointer?
        var ends: [UInt64: UInt64] = [:]
        while let next = elf_nextscn(elf, section) {
            section = next
            var header = GElf_Shdr()
            guard gelf_getshdr(next, &header) != nil, header.sh_type == UInt32(SHT_SYMTAB),
                header.sh_entsize > 0, let data = elf_getdata(next, nil)
            else { continue }
            for index in 0..<Int(clamping: header.sh_size / header.sh_entsize) {
                var symbol = GElf_Sym()
                guard gelf_getsym(data, CInt(clamping: index), &symbol) != nil else { break }
                let (end, overflows) = symbol.st_value.addingReportingOverflow(symbol.st_size)
                guard Int32(symbol.st_info & 0xF) == STT_OBJECT, symbol.st_size > 0,
                    symbol.st_shndx != UInt16(SHN_UNDEF), !overflows
                else { continue }
                ends[symbol.st_value] = max(ends[symbol.st_value] ?? 0, end)
            }
        }
        var lastEnd: UInt64 = 0
        return ends.sorted { $0.key < $1.key }.map { start, end in
            lastEnd = max(lastEnd, end)
            return (start, end, lastEnd)
        }
    }()
}

/// An error in reading debug information.
package enum DebugFileError: Error, Hashable {
    /// The file cannot be read as ELF.
    case file(ELFError)
    /// The file is no executable or library, or has another byte order.
    case noImage(path: String)
    /// There is no debug information for the file.
    case noInformation(path: String, hasBuildID: Bool)
    /// The debug information has no variables, as with `-g1`.
    case noVariables(path: String)
    /// The debug information cannot be read, with libdw's reason.
    case unreadable(path: String, String)
}

extension DebugFileError: CustomStringConvertible {
    /// The file, the reason and the remedy.
    package var description: String {
        switch self {
        case .file(let error): "\(error)"
        case .noImage(let path): "\(path): it is neither an executable nor a shared library for this machine"
        case .noInformation(let path, let hasBuildID):
            "\(path): no debug information; compile with -g"
                + (hasBuildID
                    ? ", install the package with its debug symbols, or ask the servers in DEBUGINFOD_URLS with "
                        + "--debuginfod" : "")
        case .noVariables(let path):
            "\(path): its debug information describes no variables; compile with -g (-g1 is not enough)"
        case .unreadable(let path, let reason): "\(path): cannot read the debug information: \(reason)"
        }
    }
}
