// SPDX-License-Identifier: BSD-3-Clause
import TweakMemory
import TweakRecords

/// Reads the input as a core, and finds its tweaks and their values.
@_cdecl("LLVMFuzzerTestOneInput")
func fuzzCore(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    guard let start, count > 0 else { return 0 }
    let bytes = Array(UnsafeBufferPointer(start: start, count: count))
    guard let core = try? CoreMemory(bytes: bytes, path: "core"),
        let tweaks = try? MemoryTweaks(in: core, executable: core.executable)
    else { return 0 }
    for image in tweaks.found.images {
        precondition(tweaks.values(in: image).count == image.sections.count)
    }
    for (declaration, _) in tweaks.all() { _ = tweaks.tweak(declaration.key) }
    return 0
}
