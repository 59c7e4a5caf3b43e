// SPDX-License-Identifier: BSD-3-Clause
internal import CTweaks
internal import FBTweak
internal import TweakRecords

/// The error of a call from C: a code for the program and a message for people.
enum CFailure: Error {
    case unknown(String)
    case refused(String)

    static let noMemory = Self.refused("the process has no memory left")
    static let noHandle = Self.unknown("there is no tweak: the handle is NULL")

    init(_ error: TweakError) {
        self =
            switch error {
            case .unknown, .encrypted, .noTweaks, .notMade: .unknown("\(error)")
            case .refused, .noAction, .otherType, .exists, .order, .notMutable, .notKept, .invalid, .gate:
                .refused("\(error)")
            }
    }

    /// Stores the message for `fbtweak_error`, escaped because it may contain arbitrary names and values.
    ///
    /// - Returns: The code.
    func report() -> CInt {
        switch self {
        case .unknown(let message):
            fbtweak__set_error(message.printable)
            return CInt(FBTWEAK_UNKNOWN)
        case .refused(let message):
            fbtweak__set_error(message.printable)
            return CInt(FBTWEAK_REFUSED)
        }
    }
}

/// Converts errors of the store inside ``returningCode(_:)``.
func orFailure(_ body: () throws(TweakError) -> Void) throws(CFailure) -> CInt {
    do throws(TweakError) { try body() } catch { throw CFailure(error) }
    return CInt(FBTWEAK_OK)
}

/// Runs the body of a function that C calls.
///
/// - Returns: What the body returns, or the code of its failure.
func returningCode(_ body: () throws(CFailure) -> CInt) -> CInt {
    do throws(CFailure) {
        guard fbtweak__has_memory() else { throw .noMemory }
        return try body()
    } catch { return error.report() }
}

/// The same for a function that returns a pointer or NULL.
func returningPointer<Pointee>(_ body: () throws(CFailure) -> UnsafePointer<Pointee>?) -> UnsafePointer<
    Pointee
>? {
    do throws(CFailure) {
        guard fbtweak__has_memory() else { throw .noMemory }
        return try body()
    } catch {
        _ = error.report()
        return nil
    }
}
