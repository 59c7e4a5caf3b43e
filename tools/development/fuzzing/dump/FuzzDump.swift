// SPDX-License-Identifier: BSD-3-Clause
import ArgumentParser
import CommandSupport
import Glibc
import TweakELF

/// Reads the input as a file, and writes a report of tweak-dump in the format given by the first byte.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzDump(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let start, count > 1, let selection else { return 0 }
    ftruncate(file, 0)
    guard pwrite(file, start + 1, count - 1, 0) == count - 1 else { return 0 }
    let report: any Report =
        switch start[0] % 9 {
        case 0: TableReport()
        case 1: JSONReport()
        case 2: CSVReport()
        case 3: MarkdownReport()
        case 4: OverridesReport()
        case 5: A2LReport()
        case 6: Lint(Findings(.table, ignoring: []))
        case 7: Forbid(Findings(.json, ignoring: []))
        default: DeclaredTweaks()
        }
    var dump = Dump(report, .init(isRecursive: false, hasLibraries: start[0] & 0x80 != 0), selection)
    dump.add("/proc/self/fd/\(file)")
    report.finish()
    if let tweaks = report as? DeclaredTweaks {
        _ = try? write(differences(between: tweaks, and: DeclaredTweaks()), .table)
    }
    precondition([0, EX_DATAERR, EX_NOINPUT].contains(dump.exitCode))
    return 0
}

/// The input as an unnamed file.
private let file: CInt = {
    var path = Array("/tmp/tweaks-fuzz-XXXXXX".utf8CString)
    let file = mkstemp(&path)
    unlink(path)
    return file
}()

private let selection = try? Selection.parse([])
