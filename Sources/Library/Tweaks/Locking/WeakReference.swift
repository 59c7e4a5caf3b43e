// SPDX-License-Identifier: BSD-3-Clause

/// A reference that does not keep its object alive.
///
/// In Embedded Swift, which has no weak references, it does. The only store there is that of the process, which stays, and
/// what refers to objects in this way, such as an observer, is removed when they end.
struct WeakReference<Object: AnyObject & Sendable>: Sendable {
    #if hasFeature(Embedded)
    let object: Object?
    #else
    weak let object: Object?
    #endif

    init(_ object: Object) { self.object = object }
}
