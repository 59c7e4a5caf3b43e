import CLoops
import Tweaks

nonisolated(unsafe) var plainInt = 42
nonisolated(unsafe) var plainDouble = 4.5

/// Makes the globals what globals are in a program: memory that others may write.
func escapePlainGlobals() {
    withUnsafeMutablePointer(to: &plainInt) { escape($0) }
    withUnsafeMutablePointer(to: &plainDouble) { escape($0) }
}

// Each in one place, so that the eight reads of a turn are of one record.
@inline(__always)
private func tweakInt() -> Int { #tweak("Benchmark", "Swift", "Int", default: 42, in: 0...100) }
@inline(__always)
private func tweakDouble() -> Double { #tweak("Benchmark", "Swift", "Double", default: 4.5, in: 0...100) }

/// Eight reads a turn, as in C.
@inline(__always)
private func loop(_ turns: Int, _ read: () -> Void) {
    for _ in 0..<turns {
        read()
        read()
        read()
        read()
        read()
        read()
        read()
        read()
    }
}

@inline(never)
func readIntConstant(_ turns: Int) { loop(turns) { use_long(42) } }
@inline(never)
func readIntGlobal(_ turns: Int) { loop(turns) { use_long(plainInt) } }
@inline(never)
func readIntTweak(_ turns: Int) { loop(turns) { use_long(tweakInt()) } }
@inline(never)
func readDoubleConstant(_ turns: Int) { loop(turns) { use_double(4.5) } }
@inline(never)
func readDoubleGlobal(_ turns: Int) { loop(turns) { use_double(plainDouble) } }
@inline(never)
func readDoubleTweak(_ turns: Int) { loop(turns) { use_double(tweakDouble()) } }
