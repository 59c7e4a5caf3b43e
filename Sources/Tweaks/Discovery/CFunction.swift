/// A function of C with its context, as numbers. `fbtweak.h` tells on which threads it is called.
struct CFunction: Hashable, Sendable {
    /// The address of its code.
    let code: UInt
    private let contextAddress: UInt

    init(code: UInt, context: UnsafeMutableRawPointer?) {
        self.code = code
        contextAddress = UInt(bitPattern: context)
    }

    var context: UnsafeMutableRawPointer? { UnsafeMutableRawPointer(bitPattern: contextAddress) }
}
