// SPDX-License-Identifier: BSD-3-Clause
internal import CLibDW
internal import Glibc
internal import TweakELF
internal import TweakSystem

/// The limits for reading debug information, in proportion to its files: a small file that takes much memory was made
/// for that.
final class DebugLimits {
    private var fileBytes: UInt64 = 0
    private var expandedBytes: UInt64 = 0
    private let memoryBefore = DebugLimits.residentBytes
    /// For libdwfl, which finds files.
    let check: UnsafeMutablePointer<fbtweak__debug_file_check>

    init() {
        check = .allocate(capacity: 1)
        check.initialize(to: fbtweak__debug_file_check())
        check.pointee.limits = Unmanaged.passUnretained(self).toOpaque()
        check.pointee.admits = { limits, file, link in
            guard let limits, let file else { return true }
            return Unmanaged<DebugLimits>.fromOpaque(limits).takeUnretainedValue()
                .admits(link.map(DebugEntry.text), of: DebugEntry.text(file))
        }
    }

    deinit { check.deallocate() }

    /// The number of bytes for each byte of the files, at least as for four megabytes.
    private func most(_ factor: UInt64) -> UInt64 {
        let (product, overflows) = max(fileBytes, 4 << 20).multipliedReportingOverflow(by: factor)
        return overflows ? .max : product
    }

    // MARK: - Files

    /// Adds a file to those that are read.
    ///
    /// - Throws: ``ELFError`` if its sections would expand to too many bytes.
    func add(_ file: ELFFile) throws(ELFError) {
        var expanded = expandedBytes
        try file.forEachObject { (object) throws(ELFError) in
            let (sum, overflows) = expanded.addingReportingOverflow(try object.expandedBytes())
            expanded = overflows ? .max : sum
        }
        fileBytes += UInt64(file.byteCount)
        let most = ELFObject.mostExpandedBytes(ofFile: fileBytes)
        guard expanded <= most else {
            throw .broken(
                path: file.path,
                reason:
                    "its compressed sections have \(expanded >> 20) MiB; at most \(most >> 20) MiB are read")
        }
        expandedBytes = expanded
    }

    /// The error of a file that was not read.
    private(set) var refusal: ELFError?

    /// Returns whether separate debug information can be read. What lies in the system's folder for it is read in any
    /// case.
    ///
    /// - Parameter link: The name in the file, as in `.gnu_debuglink`.
    private func admits(_ link: String?, of file: String) -> Bool {
        let link = link ?? lastComponent(of: file) + ".debug"
        guard !link.hasPrefix("/") else { return admits(link) }
        let folders = Set([containingFolder(of: file), containingFolder(of: realPath(file) ?? file)])
        return folders.flatMap { ["\($0)/\(link)", "\($0)/.debug/\(link)"] }.allSatisfy(admits)
    }

    /// Returns whether a file can be read; one that does not exist can.
    func admits(_ path: String) -> Bool {
        do throws(ELFError) { try add(ELFFile(path: path)) } catch .cannotOpen { return true } catch {
            refusal = refusal ?? error
            return false
        }
        return true
    }

    // MARK: - Content

    /// The limit of entries: all compilers write more bytes for one.
    var mostEntries: UInt64 { 4_000_000 + max(fileBytes, expandedBytes) / 4 }

    /// The limit of variables, types and other entries that are kept.
    var mostKept: UInt64 { 100_000 + max(fileBytes, expandedBytes) / 16 }

    /// The limit of bytes of names, including those of the scopes around them.
    var mostNameBytes: UInt64 { most(16) }

    /// The limit of parts of variables in a list.
    var mostParts: UInt64 { 50_000 + fileBytes / 64 }

    /// How long to read debug information.
    var mostTime: Duration { .seconds(min(10 + fileBytes >> 22, 60)) }

    /// Whether reading took too much memory, however it did.
    var isOutOfMemory: Bool { Self.residentBytes > memoryBefore &+ most(40) }

    /// The memory of this process, without that of mapped files. Source: proc_pid_statm(5).
    private static var residentBytes: UInt64 {
        let fields = readWhole("/proc/self/statm").map {
            String(decoding: $0, as: UTF8.self).split(separator: " ")
        }
        guard let fields, fields.count > 2, let all = UInt64(fields[1]), let shared = UInt64(fields[2]),
            shared <= all
        else { return 0 }
        return (all - shared) &* UInt64(max(sysconf(Int32(_SC_PAGESIZE)), 4096))
    }
}
