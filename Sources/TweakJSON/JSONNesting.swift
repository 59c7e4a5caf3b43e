/// How many arrays and objects are at most inside each other in UTF-8 that is JSON, or that a parser would read as
/// JSON up to its first mistake.
package func jsonNesting(of bytes: [UInt8]) -> Int {
    var (depth, deepest) = (0, 0)
    var isInString = false
    var isEscaped = false
    for byte in bytes {
        if isInString {
            if isEscaped {
                isEscaped = false
            } else if byte == UInt8(ascii: "\\") {
                isEscaped = true
            } else if byte == UInt8(ascii: "\"") {
                isInString = false
            }
            continue
        }
        switch byte {
        case UInt8(ascii: "\""): isInString = true
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            depth += 1
            deepest = max(deepest, depth)
        case UInt8(ascii: "}"), UInt8(ascii: "]"): depth -= 1
        default: break
        }
    }
    return deepest
}
