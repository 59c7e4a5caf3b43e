internal import CTweaks
internal import Glibc
internal import TweakRecords

/// Called by the constructor in `Sources/CTweaks/image_hook.c`, before `main`.
@c(fbtweak__load)
func load(recordsStart: UnsafeRawPointer?, recordsStop: UnsafeRawPointer?) {
    var ownRecords = UnsafeRawBufferPointer(start: nil, count: 0)
    if let recordsStart, let recordsStop, recordsStart < recordsStop {
        ownRecords = UnsafeRawBufferPointer(start: recordsStart, count: recordsStop - recordsStart)
    }
    let images = ProcessImage.all(ownRecords: ownRecords)
    // A program without tweaks pays for nothing else.
    guard !images.isEmpty else { return }
    TweakStore.shared.add(images)
    TweakStore.shared.keepOverrides()
    // Registered before main, so it runs after what the program registers and writes what that sets.
    atexit { TweakStore.shared.flushAtExit() }
}
