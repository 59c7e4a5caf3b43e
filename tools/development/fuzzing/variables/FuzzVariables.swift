// SPDX-License-Identifier: BSD-3-Clause
import Glibc
import TweakDWARF
import TweakRecords

/// Reads the input as a program with debug information: lists its variables, and finds each of them again by its name.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzVariables(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let start, count > 0 else { return 0 }
    ftruncate(file, 0)
    guard pwrite(file, start, count, 0) == count,
        let program = try? ProgramVariables(path: "/proc/self/fd/\(file)", mostTime: .seconds(1))
    else { return 0 }
    for variable in program.variables.prefix(1000) {
        _ = variable.declaredAt
        for part in program.values(of: variable).prefix(1000) {
            guard case .address(let address, let size) = program.place(of: part) else { continue }
            precondition(size >= 0 && address <= .max - UInt64(size))
            _ = program.obstacleToWriting(part)
            _ = program.initialValue(of: part)
        }
        _ = try? program.part(named: variable.shownName)
    }
    return 0
}

/// The input as an unnamed file.
private let file: CInt = {
    var path = Array("/tmp/tweaks-fuzz-XXXXXX".utf8CString)
    let file = mkstemp(&path)
    unlink(path)
    return file
}()
